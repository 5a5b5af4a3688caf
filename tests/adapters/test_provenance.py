"""Provenance, the private side table: under the store's secret, never half, never wrong."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.adapters.private_folders import open_private
from tasks.adapters.provenance import Provenance, RowsRead, load, save
from tasks.core.records import AttributeSets
from tasks.core.verification.evidence import Promise
from tasks.errors import InputError
from tasks.runtime.codec import pack, sealed, signed, unsigned

PEOPLE = np.array([4, 0, -4, 2**63 - 1, 17], dtype=np.int64)
USERS = np.array([0, 1, 1, 3], dtype=np.int32)
SETS = np.array([7, -1, 8, 7], dtype=np.int32)
PROMISE = Promise("terms", k=5, l=2, time="day", read=6, rejected=1, withheld=1, published=4)
READ = RowsRead(
    files=("a.tsv", "b.tsv"),
    digests=("ab", "cd"),
    origins=np.array([0, 1, 1, 0, 0, 1], dtype=np.int8),
    rows=np.array([2, 2, 3, 4, 5, 9], dtype=np.int32),
    users=np.array([*USERS, 4], dtype=np.int32),
    people=PEOPLE,
    reasons=("", "too few", "no text"),
    reason_of=np.array([0, 0, 0, 0, 1, 2], dtype=np.int8),
)
PROVENANCE = Provenance(
    READ,
    SETS,
    units=np.array([5, 6, 5, 2**62], dtype=np.int64),
    mentions=np.array([0, 1, 0, 0], dtype=np.int32),
    mentioned=AttributeSets(np.array([0, 2, 2]), np.array([3, 5], dtype=np.int32)),
    wordnet="3.0",
    promise=PROMISE,
)
TABLE = "provenance.npz"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "store"


@pytest.fixture
def saved(vault: Path) -> Path:
    """Where the side table lies."""
    private = open_private(vault)
    save(vault, private, PROVENANCE)
    return private / TABLE


def test_what_is_saved_is_loaded(vault: Path, saved: Path) -> None:
    found = load(vault, saved.parent)
    assert found.users.tolist() == USERS.tolist()
    assert found.sets.tolist() == SETS.tolist()
    assert found.people.tolist() == [4, 0, 0, 2**63 - 1]
    assert [array.dtype.name for array in (found.people, found.sets)] == ["int64", "int32"]
    assert found.promise == PROMISE
    assert pack(found) == pack(PROVENANCE)


@pytest.mark.parametrize("place", [0, 200, -1])
def test_a_flipped_bit_is_noticed(vault: Path, saved: Path, place: int) -> None:
    content = bytearray(saved.read_bytes())
    content[place] ^= 1
    saved.write_bytes(content)
    with pytest.raises(InputError, match="damaged, or not of this store"):
        load(vault, saved.parent)


@pytest.mark.parametrize("length", [0, 10, 32, 500])
def test_half_a_table_is_noticed(vault: Path, saved: Path, length: int) -> None:
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(InputError, match="damaged"):
        load(vault, saved.parent)


def test_a_table_that_somebody_else_made_is_refused(vault: Path, saved: Path) -> None:
    """With a checksum as version 0.1 had it, or with another store's secret."""
    forged = pack(replace(PROVENANCE, sets=USERS))
    for whole in (sealed(TABLE, forged), signed(b"x" * 32, TABLE, forged), forged):
        saved.write_bytes(whole)
        with pytest.raises(InputError, match="not of this store"):
            load(vault, saved.parent)


def test_a_table_is_never_in_memory_a_second_time(vault: Path, saved: Path) -> None:
    """Saved a column at a time; loaded as the columns alone, which have 22 bytes a row."""
    rows = 200_000
    read = replace(
        READ,
        origins=np.zeros(rows, dtype=np.int8),
        rows=np.arange(rows, dtype=np.int32),
        users=np.zeros(rows, dtype=np.int32),
        reason_of=np.zeros(rows, dtype=np.int8),
    )
    longs, ints = np.arange(rows), np.zeros(rows, dtype=np.int32)
    large = replace(PROVENANCE, read=read, sets=ints, units=longs, mentions=ints)
    tracemalloc.start()
    try:
        save(vault, saved.parent, large)
        of_saving = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        loaded = load(vault, saved.parent)
        of_loading = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(loaded.sets) == rows
    assert of_saving < 20 * rows
    assert of_loading < 40 * rows


def test_nothing_is_pickled(vault: Path, saved: Path) -> None:
    content = unsigned((vault / "secret").read_bytes(), TABLE, saved.read_bytes())
    assert content is not None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert {array.dtype.kind for array in arrays.values()} == {"i", "u"}
        own = {"sets", "units", "mentions", "mentioned offsets", "mentioned concepts"}
        read = {"origins", "rows", "users", "people", "reason_of"}
        assert len(arrays) == len({"tree"} | own | read)


def test_another_value_in_its_place_is_noticed(vault: Path, saved: Path) -> None:
    secret = (vault / "secret").read_bytes()
    saved.write_bytes(signed(secret, TABLE, pack({"users": USERS})))
    with pytest.raises(InputError, match="damaged"):
        load(vault, saved.parent)


def test_a_table_of_another_version_is_refused(vault: Path, saved: Path) -> None:
    """It was written by the same codec, but holds less."""
    tree = {"object": "tasks.adapters.provenance:Provenance", "fields": [1, 2]}
    older = io.BytesIO()
    np.savez(older, tree=np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8))
    saved.write_bytes(signed((vault / "secret").read_bytes(), TABLE, older.getvalue()))
    with pytest.raises(InputError, match="written by another version of this program"):
        load(vault, saved.parent)


def test_a_write_that_fails_leaves_the_old_table_and_nothing_else(
    vault: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        save(vault, saved.parent, replace(PROVENANCE, sets=USERS))
    assert list(saved.parent.iterdir()) == [saved]
    assert load(vault, saved.parent).users.tolist() == USERS.tolist()
