"""Bits that flip in what a store can make again: it is made again, and the bytes are the same."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tasks.runtime.store import Store
from tests.helpers.commands import command
from tests.helpers.generated import write_parts


def flip(path: Path, chance: random.Random, bits: int = 1) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(bits if content else 0):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def compiled_files(store: Path) -> list[Path]:
    """Where the cache has WordNet, names and terms."""
    opened = Store(store)
    keys = [key for key in opened._cache.iterkeys() if key.startswith("compiled:")]
    rows = opened._cache._sql(
        f"select filename from Cache where key in ({','.join('?' * len(keys))})", keys
    ).fetchall()
    opened.close()
    assert len(rows) >= 2
    return [store / "cache" / name for (name,) in rows if name]


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))]
)
def test_flipped_bits_change_nothing(
    seed: int, new_store: Callable[[], Path], tmp_path: Path
) -> None:
    """In every file of the cache at once; with the first seed in compiled data alone."""
    (log,) = write_parts(tmp_path / "logs", 1, queries=300, users=60, seed=5)
    store, chance = new_store(), random.Random(seed)
    given = ["flows.run", str(log), "--bare", "--quiet", "--store", str(store), "--out"]
    assert command([*given, "before"], tmp_path).returncode == 0
    if seed == 1:
        for path in compiled_files(store):
            flip(path, chance)
    else:
        for path in sorted(p for p in store.rglob("*") if p.is_file() and is_cache(p, store)):
            flip(path, chance, bits=seed)
    done = command([*given, "after"], tmp_path)
    assert done.returncode == 0, done.stderr
    released = ((tmp_path / out / "release.tsv").read_bytes() for out in ("before", "after"))
    assert len(set(released)) == 1
    if seed % 3 == 0:
        # Whatever was made anew is there now: the copy of WordNet's files, too, may be hurt.
        for path in sorted((store / "wordnet").rglob("*.noun")):
            flip(path, chance, bits=9)
        assert command([*given, "last"], tmp_path).returncode == 0
        assert (tmp_path / "last" / "release.tsv").read_bytes() == (
            tmp_path / "before" / "release.tsv"
        ).read_bytes()


def test_entries_planted_in_the_cache_take_no_file_from_elsewhere(
    new_store: Callable[[], Path], tmp_path: Path
) -> None:
    """Each names a file that is not the store's, to be read, and deleted once it is no value."""
    (log,) = write_parts(tmp_path / "logs", 1, queries=300, users=60, seed=5)
    store, victim = new_store(), tmp_path / "victim"
    victim.write_text("dear")
    given = ["flows.run", str(log), "--bare", "--quiet", "--store", str(store), "--out"]
    assert command([*given, "before"], tmp_path).returncode == 0
    with closing(sqlite3.connect(store / "cache" / "cache.db")) as database:
        database.execute("update Cache set filename = '../../victim', mode = 2, value = null")
        database.commit()
    for out, more in (("after", ()), ("last", ("--store-limit", "0.000001"))):
        assert command([*given, out, *more], tmp_path).returncode == 0
    assert victim.read_text() == "dear"
    before, after = ((tmp_path / out / "release.tsv").read_bytes() for out in ("before", "after"))
    assert before == after


def is_cache(path: Path, store: Path) -> bool:
    return path.relative_to(store).parts[0] in ("cache", "wordnet")
