"""What decides a result is in its name: log files by their content, code by what it imports."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.adapters.logs.reader import read_logs
from tasks.core.errors import InputError, StillChanging
from tasks.phases.cluster import cluster_fingerprint
from tasks.phases.compare import comparison_fingerprint
from tests.adapters.test_inbox import grow, replace_by_another

HEAD = "AnonID\tQuery\tQueryTime\n"


@pytest.mark.parametrize("change", [grow, os.utime, replace_by_another, Path.unlink])
def test_a_file_that_changed_is_refused(change: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("content")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    files = fingerprints([path])
    refuse_changed(files)
    change(path)
    with pytest.raises(StillChanging, match=r"a\.tsv changed while it was read"):
        refuse_changed(files)


def test_the_digest_is_that_of_all_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("x" * 3_000_000)
    assert content_digest(path) == hashlib.sha256(b"x" * 3_000_000).hexdigest()
    with pytest.raises(InputError, match="cannot read"):
        content_digest(tmp_path / "missing")


def test_records_are_named_by_content_and_row(tmp_path: Path) -> None:
    """Not by where their file lies, nor by what is read beside it."""
    rows = "".join(f"{n}\tflu {n}\t2006-03-01 10:00:00\n" for n in range(50))
    for name, text in {"a": rows, "moved/b": rows, "c": rows + "9\tx\t\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(HEAD + text)
    found = {}
    for name in ("a", "moved/b", "c"):
        found[name] = record_ids(fingerprints([tmp_path / name]), read_logs([tmp_path / name]))
    assert np.array_equal(found["a"], found["moved/b"])
    both = [tmp_path / "a", tmp_path / "c"]
    together = record_ids(fingerprints(both), read_logs(both))
    assert np.array_equal(together, np.concatenate([found["a"], found["c"]]))
    assert len(np.unique(together)) == len(together)


def test_the_order_of_files_is_that_of_their_names(tmp_path: Path) -> None:
    for name in "ba":
        (tmp_path / name).write_text(name)
    first, second = fingerprints([tmp_path / "b", tmp_path / "a"])
    assert [Path(file.name).name for file in (first, second)] == ["a", "b"]
    assert replace(first, digest=second.digest) != first
