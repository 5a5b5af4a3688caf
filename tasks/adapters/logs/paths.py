"""Which files a path stands for. Imports nothing that takes long, for a run begins with it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from tasks.errors import InputError
from tasks.runtime.sources import STANDARD_INPUT, is_file, is_own, source_size, sources_at


def find_files(paths: Iterable[str | Path]) -> list[str]:
    """The sources that paths, folders, globs, URLs and - stand for, sorted, each of them once.

    A folder stands for the files directly in it, a glob for the files it matches; hidden files
    and folders inside are passed over. - is standard input.

    Raises:
        InputError: if one of the paths leads to no file.
    """
    names = sorted({name for path in paths for name in _files_behind(str(path))})
    first_name_of: dict[str, str] = {}
    for name in names:
        first_name_of.setdefault(os.path.realpath(name) if is_file(name) else name, name)
    return list(first_name_of.values())


def total_size(paths: Iterable[str | Path]) -> int:
    """Bytes of the files behind some paths, as they lie on the disk."""
    return sum(map(_size, find_files(paths)))


def _size(name: str) -> int:
    """Of a file that is gone: none; whoever reads it says so."""
    try:
        return source_size(name)
    except OSError:
        return 0


def _files_behind(path: str) -> list[str]:
    if path == "-" or is_own(path):
        return [STANDARD_INPUT if path == "-" else path]
    if "://" in path:
        return sources_at(path)
    if os.path.isdir(path):
        return _files_in_folder(path)
    if os.path.lexists(path) or not glob.has_magic(path):
        return [_regular_file(path)]
    matches = [name for name in glob.glob(path, recursive=True) if os.path.isfile(name)]
    if not matches:
        raise InputError(f"no file matches {path}: check the pattern, and the folder it is used in")
    return matches


def _files_in_folder(folder: str) -> list[str]:
    try:
        children = os.listdir(folder)
    except OSError:
        complaint = f"cannot list the folder {folder}: check who may read it"
        raise InputError(complaint) from None
    paths = (os.path.join(folder, child) for child in children if not child.startswith("."))
    files = [path for path in paths if os.path.isfile(path)]
    if not files:
        raise InputError(f"the folder {folder} holds no files: name the folder the logs lie in")
    return files


def _regular_file(path: str) -> str:
    if not os.path.exists(path):
        raise InputError(f"{path} does not exist: check the path")
    if not os.path.isfile(path):
        raise InputError(
            f"{path} is not a regular file: pipe it into logveil run -, or save it to a file first"
        )
    return path
