"""The store: private, without pickles, checked, and never needed."""

from __future__ import annotations

import os
import pickle
import resource
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import Clusters
from tasks.errors import InputError
from tasks.phases.cluster import Clustering
from tasks.runtime.codec import pack, sealed
from tasks.runtime.files import store_secret
from tasks.runtime.store import BytesDisk, Store

ROOMY = 10**9
LARGE = "x" * 100_000
"""More than diskcache puts into its database: it lies in a file of its own."""


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", ROOMY)


def files(folder: Path) -> list[Path]:
    return list((folder / "cache").rglob("*.val"))


@contextmanager
def database_of(folder: Path) -> Iterator[sqlite3.Connection]:
    with sqlite3.connect(folder / "cache" / "cache.db") as database:
        yield database


# Values


@pytest.mark.parametrize("value", ["", "few", LARGE, [1, ("two", 3.0)], {"records": 4}])
def test_what_is_saved_is_loaded(kept: Store, tmp_path: Path, value: Any) -> None:
    assert kept.load("key", type(value)) is None
    assert "key" not in kept
    kept.save("key", value)
    kept.close()
    again = Store(tmp_path / "store", ROOMY)
    assert "key" in again
    assert again.load("key", type(value)) == value
    again.drop("key")
    assert "key" not in again
    assert again.load("key", type(value)) is None


def test_arrays_come_back_as_they_were(kept: Store) -> None:
    arrays = {"a": np.arange(5, dtype=np.int32), "b": np.array([[1.5]], dtype=np.float32)}
    kept.save("key", arrays)
    found = kept.load("key", dict)
    assert found is not None
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert kept.load("other", dict) is None


def test_results_of_phases_come_back_as_they_were(kept: Store) -> None:
    labels, centroids = np.array([0, 0, -1], np.int32), np.array([1], np.int32)
    classes = np.array([0, -1, 0])
    clusters = Clusters(labels, labels < 0, centroids)
    kept.save("key", Clustering(classes, classes < 0, clusters))
    found = kept.load("key", Clustering)
    assert found is not None
    assert found.clusters is not None
    assert found.classes.tolist() == [0, -1, 0]
    assert found.clusters.labels.tolist() == [0, 0, -1]
    assert found.clusters.suppressed.tolist() == [False, False, True]
    assert found.clusters.centroids.tolist() == [1]


def test_a_value_of_another_kind_is_not_loaded(kept: Store) -> None:
    kept.save("key", {"records": 4})
    assert kept.load("key", Clustering) is None
    assert kept.load("key", dict) == {"records": 4}


def test_what_is_known_is_not_made_again(kept: Store) -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(len(made))
        return [*made]

    assert kept.remember("key", list, make) == [0]
    assert kept.remember("key", list, make) == [0]
    kept.drop("key")
    assert kept.remember("key", list, make) == [0, 1]


@pytest.mark.parametrize("damage", [False, True])
def test_a_very_large_value_is_kept_some_at_a_time(
    kept: Store, tmp_path: Path, damage: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = {"rows": np.arange(100_000, dtype=np.int32)}
    kept.save("key", value)
    (path,) = files(tmp_path / "store")
    content = path.read_bytes()
    kept.drop("key")
    monkeypatch.setattr("tasks.runtime.store.LARGE", 1000)
    monkeypatch.setattr("tasks.runtime.codec.READ_AT_ONCE", 1000)
    kept.save("key", value)
    (path,) = files(tmp_path / "store")
    assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    if damage:
        path.write_bytes(content[:-1000] + b"?" + content[-999:])
    found = kept.load("key", dict)
    assert (found is None) == damage
    assert found is None or np.array_equal(found["rows"], value["rows"])
    assert ("key" in kept) != damage


def test_of_a_very_large_value_that_finds_no_room_nothing_is_left(
    kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tasks.runtime.store.LARGE", 1000)
    monkeypatch.setattr("tasks.runtime.codec.np.savez", full)
    kept.save("key", np.arange(100_000))
    assert kept.unwritten == 1
    assert "key" not in kept
    assert not files(tmp_path / "store")


# Privacy


def test_only_the_owner_may_look(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        kept = Store(tmp_path / "store", ROOMY)
        kept.save("small", "few")
        kept.save("large", LARGE)
        assert kept.secret == store_secret(tmp_path / "store")
    finally:
        os.umask(previous)
    assert files(tmp_path / "store")
    for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


class Trap:
    """Pickled, it leaves a mark when it is read."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.mark,)


@pytest.mark.parametrize("in_file", [False, True])
def test_a_planted_pickle_is_not_read(kept: Store, tmp_path: Path, in_file: bool) -> None:
    mark, planted = tmp_path / "mark", tmp_path / "store" / "cache" / "planted.val"
    kept.save("key", "few")
    trap = pickle.dumps(Trap(str(mark)))
    planted.write_bytes(trap)
    value, name = (None, "planted.val") if in_file else (trap, None)
    with database_of(tmp_path / "store") as database:
        database.execute("update Cache set mode = 4, filename = ?, value = ?", (name, value))
    assert kept.load("key", str) is None
    assert not mark.exists()
    pickle.loads(trap)
    assert mark.exists(), "the trap does not work, so this proves nothing"


def test_a_planted_pickle_behind_a_right_checksum_is_not_read(kept: Store, tmp_path: Path) -> None:
    """Whoever can write to the store can also make checksums."""
    mark = tmp_path / "mark"
    kept.save("key", "few")
    planted = np.array([Trap(str(mark))], dtype=object)
    with (tmp_path / "planted").open("wb") as stream:
        np.savez(stream, tree=planted)
    content = sealed("key", (tmp_path / "planted").read_bytes())
    with database_of(tmp_path / "store") as database:
        database.execute("update Cache set value = ?", (content,))
    with pytest.raises(ValueError, match="allow_pickle"):
        kept.load("key", str)
    assert not mark.exists()


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), Path("/"), lambda: None])
def test_what_the_codec_refuses_is_not_saved(kept: Store, value: object) -> None:
    with pytest.raises(TypeError):
        kept.save("key", value)
    assert "key" not in kept


@pytest.mark.parametrize("value", [1, "text", None, [b"list"]])
def test_nothing_but_bytes_goes_to_the_disk(tmp_path: Path, value: object) -> None:
    disk = BytesDisk(str(tmp_path))
    with pytest.raises(TypeError, match="values of the store are bytes"):
        disk.store(value, False)
    with pytest.raises(TypeError, match="keys of the store are strings"):
        disk.put(b"key")
    with pytest.raises(TypeError, match="never pickled"):
        disk.get("key", False)


# Damage


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_damaged_file_is_dropped(kept: Store, tmp_path: Path, damage: str) -> None:
    kept.save("key", LARGE)
    (path,) = files(tmp_path / "store")
    content = bytearray(path.read_bytes())
    cut = bytes(content[:500])
    content[50_000] ^= 1
    damaged = {"flip": bytes(content), "cut": cut, "empty": b"", "gone": None}[damage]
    path.unlink() if damaged is None else path.write_bytes(damaged)
    assert kept.load("key", str) is None
    assert "key" not in kept or damage == "gone"
    kept.save("key", LARGE)
    assert kept.load("key", str) == LARGE


def test_a_value_under_another_name_is_noticed(kept: Store, tmp_path: Path) -> None:
    kept.save("one", "few")
    kept.save("other", "more")
    with database_of(tmp_path / "store") as database:
        database.execute("update Cache set key = 'third' where key = 'one'")
    assert kept.load("third", str) is None
    assert "third" not in kept
    assert kept.load("other", str) == "more"


def test_a_damaged_database_is_replaced(kept: Store, tmp_path: Path) -> None:
    kept.save("key", "few")
    kept.close()
    for path in (tmp_path / "store" / "cache").glob("cache.db*"):
        path.write_bytes(b"no database at all" * 1000)
    again = Store(tmp_path / "store", ROOMY)
    assert again.load("key", str) is None
    again.save("key", "few")
    assert again.load("key", str) == "few"


def test_a_store_deleted_while_in_use_does_no_harm(kept: Store, tmp_path: Path) -> None:
    kept.save("key", LARGE)
    for path in sorted((tmp_path / "store" / "cache").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert kept.load("key", str) is None
    kept.save("key", LARGE)
    assert kept.load("key", str) in (None, LARGE)


def test_an_unusable_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot use --store"):
        Store(tmp_path / "file" / "store", ROOMY)


# Room


def test_the_limit_evicts_and_does_no_harm(tmp_path: Path) -> None:
    kept = Store(tmp_path / "store", 5 * len(LARGE))
    for number in range(40):
        kept.save(f"key{number}", f"{LARGE}{number}")
    left = [number for number in range(40) if f"key{number}" in kept]
    assert 0 < len(left) < 20
    assert 39 in left
    assert all(kept.load(f"key{number}", str) == f"{LARGE}{number}" for number in left)


def test_who_only_reads_evicts_nothing(tmp_path: Path) -> None:
    kept = Store(tmp_path / "store")
    for number in range(40):
        kept.save(f"key{number}", f"{LARGE}{number}")
    assert all(f"key{number}" in kept for number in range(40))


@contextmanager
def full_disk(most_bytes: int) -> Iterator[None]:
    """Let no file grow beyond some bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_finds_no_room_is_counted_and_does_no_harm(kept: Store) -> None:
    kept.save("before", "few")
    assert kept.unwritten == 0
    with full_disk(len(LARGE) // 2):
        kept.save("key", LARGE)
        assert kept.remember("other", str, lambda: LARGE) == LARGE
    assert kept.unwritten == 2
    assert kept.load("key", str) is None
    assert kept.load("before", str) == "few"
    kept.save("key", LARGE)
    assert (kept.load("key", str), kept.unwritten) == (LARGE, 2)


# Lists


def test_lists_keep_their_order(kept: Store) -> None:
    assert kept.listed("list") == []
    for key in ("b", "a", "c", "a"):
        kept.save(key, key)
        kept.enlist("list", key)
    assert kept.listed("list") == ["b", "c", "a"]
    kept.relist("list", ["d"], ["b", "c"])
    assert kept.listed("list") == ["a", "d"]
    assert kept.load("b", str) is None
    assert kept.load("a", str) == "a"


def test_a_damaged_list_is_an_empty_one(kept: Store, tmp_path: Path) -> None:
    kept.enlist("list", "a")
    with database_of(tmp_path / "store") as database:
        database.execute("update Cache set value = ?", (sealed("other", pack(["a"])),))
    assert kept.listed("list") == []
    kept.enlist("list", "b")
    assert kept.listed("list") == ["b"]


# Planted entries


@pytest.mark.parametrize("value", [b"planted", None])
@pytest.mark.parametrize("deed", ["drop", "load", "save", "evict"])
def test_a_planted_entry_deletes_nothing_outside(
    kept: Store, tmp_path: Path, deed: str, value: bytes | None
) -> None:
    """A row of the database names the file that goes with it: any file, if somebody planted it."""
    victims = [tmp_path / "victim", tmp_path / "store" / "secret", tmp_path / "linked" / "victim"]
    for victim in victims:
        victim.parent.mkdir(exist_ok=True)
        victim.write_bytes(b"s" * 32)
    (tmp_path / "store" / "cache" / "aa").symlink_to(tmp_path / "linked")
    names = [str(victims[0]), "../secret", "aa/victim", "../../victim", "aa/../../../victim"]
    for number in range(len(names)):
        kept.save(f"key{number}", LARGE)
    with database_of(tmp_path / "store") as database:
        for number, name in enumerate(names):
            database.execute(
                "update Cache set filename = ?, value = ? where key = ?",
                (name, value, f"key{number}"),
            )
    for number in range(len(names)):
        if deed == "drop":
            kept.drop(f"key{number}")
        elif deed == "load":
            assert kept.load(f"key{number}", str) is None
        elif deed == "save":
            kept.save(f"key{number}", "few")
    if deed == "evict":
        small = Store(tmp_path / "store", 1000)
        for number in range(20):
            small.save(f"more{number}", LARGE)
    assert all(victim.read_bytes() == b"s" * 32 for victim in victims)


def test_what_a_planted_entry_names_is_not_read(kept: Store, tmp_path: Path) -> None:
    """Behind a right checksum it would be taken for a value of the store."""
    kept.save("key", LARGE)
    outside = tmp_path / "outside"
    outside.write_bytes(sealed("key", pack("planted")))
    with database_of(tmp_path / "store") as database:
        database.execute("update Cache set filename = ?", (str(outside),))
    assert kept.load("key", str) is None
    assert outside.exists()


@given(flips=st.lists(st.tuples(st.integers(0), st.integers(0, 7)), min_size=1, max_size=20))
@settings(max_examples=25)
def test_a_damaged_database_never_gives_a_wrong_value(flips: list[tuple[int, int]]) -> None:
    values = {f"key{number}": "x" * (10 + 400 * number) for number in range(8)}
    with TemporaryDirectory() as folder:
        kept = Store(folder, ROOMY)
        for key, value in values.items():
            kept.save(key, value)
        kept.close()
        path = Path(folder) / "cache" / "cache.db"
        content = bytearray(path.read_bytes())
        for place, bit in flips:
            content[place % len(content)] ^= 1 << bit
        path.write_bytes(content)
        again = Store(folder, ROOMY)
        for key, value in values.items():
            assert again.load(key, str) in (None, value)
            assert again.remember(key, str, lambda value=value: value) == value  # type: ignore[misc]
        again.enlist("list", "key1")
        again.drop("key1")
        again.close()
