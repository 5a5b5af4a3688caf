"""Columns past memory: files without a name, room for which is taken at once."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path

import numpy as np
import pytest

from tasks.core.columns import column, columns_in
from tasks.errors import InputError
from tasks.runtime.columns import LEAST_BYTES, ColumnFiles

MANY = LEAST_BYTES  # of four bytes each


def test_large_columns_lie_in_files_without_a_name(tmp_path: Path) -> None:
    room = ColumnFiles(tmp_path / "columns", most_in_memory=0)
    with columns_in(room):
        small, large = column(8, np.int32), column((2, MANY), np.int32)
        large[1] = np.arange(MANY)
        room.rest()
        assert small.shape == (8,)
        assert large[1].tolist() == list(range(MANY))
    assert room.on_disk == large.nbytes == room.most_on_disk
    assert list((tmp_path / "columns").iterdir()) == []
    assert (tmp_path / "columns").stat().st_mode & 0o777 == 0o700


def test_the_disk_is_given_back_with_the_last_view(tmp_path: Path) -> None:
    room = ColumnFiles(tmp_path, most_in_memory=0)
    with columns_in(room):
        view = column(MANY, np.int32)[5:7]
    gc.collect()
    assert room.on_disk == 4 * MANY
    del view
    gc.collect()
    assert room.on_disk == 0


def test_memory_is_used_up_to_the_limit_and_again(tmp_path: Path) -> None:
    room = ColumnFiles(tmp_path, most_in_memory=6 * MANY)
    with columns_in(room):
        first = column(MANY, np.int32)
        second = column(MANY, np.int32)
        assert room.on_disk == second.nbytes
        del first
        gc.collect()
        third = column(MANY, np.int32)
    assert room.on_disk == second.nbytes
    assert third.shape == (MANY,)


def test_a_full_disk_says_how_much_is_needed_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with columns_in(ColumnFiles(tmp_path, 0)), pytest.raises(InputError) as fault:
        column(10**9, np.int64)
    assert "8.00 GB" in str(fault.value)
    assert "--temp" in str(fault.value)
    assert list(tmp_path.iterdir()) == []
