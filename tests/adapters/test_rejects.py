"""Rejects: where rows that were set aside are listed, and that no name of a file forges a line."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from tasks.adapters.rejects import write_rejects
from tasks.core.records import QueryLog
from tasks.core.texts import TextColumn


def log_of(*names: str) -> QueryLog:
    """Of which the 17th row of the last file was set aside."""
    return QueryLog(
        texts=TextColumn.of([]),
        users=np.zeros(0, dtype=np.int32),
        times=np.zeros(0, dtype=np.int64),
        people=np.arange(0, dtype=np.int64),
        origins=np.zeros(0, dtype=np.int32),
        rows=np.arange(1, 0 + 1, dtype=np.int64),
        sources=names,
        reject_sources=np.array([len(names) - 1], dtype=np.int32),
        reject_rows=np.array([17]),
        reject_reasons=np.array(["blank line"], dtype=object),
        has_times=True,
    )


def test_rejects_name_file_row_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "private" / "rejects.tsv"
    write_rejects(path, log_of("a.tsv", "b.tsv"))
    assert path.read_text().splitlines() == ["file\trow\treason", "b.tsv\t17\tblank line"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["a\tb", "a\nb.tsv\t1\tx", "a\rb", os.fsdecode(b"\xff.tsv"), "é"])
def test_whatever_a_file_is_called_it_has_one_line(tmp_path: Path, name: str) -> None:
    write_rejects(tmp_path / "rejects.tsv", log_of(name))
    lines = (tmp_path / "rejects.tsv").read_text(encoding="utf-8").split("\n")
    assert [line.count("\t") for line in lines] == [2, 2, 0]
