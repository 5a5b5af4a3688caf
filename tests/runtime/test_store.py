"""The cache: private, without pickles, checked, and never needed."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tasks.runtime.cache import BlobCache

from tasks.core.errors import InputError
from tasks.runtime.files import SECRET_BYTES, store_secret

ROOMY = 10**9
LARGE = b"x" * 100_000
"""More than diskcache puts into its database: it lies in a file of its own."""


@pytest.fixture
def cache(tmp_path: Path) -> BlobCache:
    return BlobCache(tmp_path / "store", ROOMY)


def files(store: Path) -> list[Path]:
    return list((store / "cache").rglob("*.val"))


@pytest.mark.parametrize("content", [b"", b"few", LARGE])
def test_what_is_put_is_got(cache: BlobCache, tmp_path: Path, content: bytes) -> None:
    assert cache.get("key") is None
    assert "key" not in cache
    cache.put("key", content)
    cache.close()
    again = BlobCache(tmp_path / "store", ROOMY)
    assert "key" in again
    assert again.get("key") == content
    again.drop("key")
    assert again.get("key") is None


def test_arrays_come_back_as_they_were(cache: BlobCache) -> None:
    arrays = {"a": np.arange(5, dtype=np.int32), "b": np.array([[1.5]], dtype=np.float32)}
    cache.put_arrays("key", arrays)
    found = cache.get_arrays("key")
    assert found is not None
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert cache.get_arrays("other") is None


def test_only_the_owner_may_look(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        cache = BlobCache(tmp_path / "store", ROOMY)
        cache.put("small", b"few")
        cache.put("large", LARGE)
        store_secret(tmp_path / "store")
    finally:
        os.umask(previous)
    for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_damaged_file_is_dropped(cache: BlobCache, tmp_path: Path, damage: str) -> None:
    cache.put("key", LARGE)
    (path,) = files(tmp_path / "store")
    content = bytearray(path.read_bytes())
    content[50_000] ^= 1
    damaged = {"flip": bytes(content), "cut": LARGE[:500], "empty": b"", "gone": None}[damage]
    path.unlink() if damaged is None else path.write_bytes(damaged)
    assert cache.get("key") is None
    cache.put("key", LARGE)
    assert cache.get("key") == LARGE


def test_a_blob_under_another_name_is_noticed(cache: BlobCache, tmp_path: Path) -> None:
    cache.put("one", b"few")
    cache.put("other", b"more")
    with sqlite3.connect(tmp_path / "store" / "cache" / "cache.db") as database:
        database.execute("update Cache set key = 'third' where key = 'one'")
    assert cache.get("third") is None
    assert cache.get("other") == b"more"


class Trap:
    """Pickled, it leaves a mark when it is read."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.mark,)


@pytest.mark.parametrize("in_file", [False, True])
def test_a_planted_pickle_is_not_read(cache: BlobCache, tmp_path: Path, in_file: bool) -> None:
    mark, planted = tmp_path / "mark", tmp_path / "store" / "cache" / "planted.val"
    cache.put("key", b"few")
    trap = pickle.dumps(Trap(str(mark)))
    planted.write_bytes(trap)
    value, name = (None, "planted.val") if in_file else (trap, None)
    with sqlite3.connect(tmp_path / "store" / "cache" / "cache.db") as database:
        database.execute("update Cache set mode = 4, filename = ?, value = ?", (name, value))
    assert cache.get("key") is None
    assert not mark.exists()
    pickle.loads(trap)
    assert mark.exists(), "the trap does not work, so this proves nothing"


@pytest.mark.parametrize("value", [1, "text", None, [b"list"]])
def test_nothing_but_bytes_is_put(cache: BlobCache, value: object) -> None:
    with pytest.raises(TypeError):
        cache.put("key", value)  # type: ignore[arg-type]


def test_the_limit_evicts_and_does_no_harm(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path / "store", 5 * len(LARGE))
    for number in range(40):
        cache.put(f"key{number}", LARGE + bytes([number]))
    kept = [number for number in range(40) if cache.get(f"key{number}") is not None]
    assert 0 < len(kept) < 20
    assert 39 in kept
    assert all(cache.get(f"key{number}") == LARGE + bytes([number]) for number in kept)


def test_a_damaged_database_is_replaced(cache: BlobCache, tmp_path: Path) -> None:
    cache.put("key", b"few")
    cache.close()
    for path in (tmp_path / "store" / "cache").glob("cache.db*"):
        path.write_bytes(b"no database at all" * 1000)
    again = BlobCache(tmp_path / "store", ROOMY)
    assert again.get("key") is None
    again.put("key", b"few")
    assert again.get("key") == b"few"


def test_a_cache_deleted_while_in_use_does_no_harm(cache: BlobCache, tmp_path: Path) -> None:
    cache.put("key", LARGE)
    for path in sorted((tmp_path / "store" / "cache").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert cache.get("key") is None
    cache.put("key", LARGE)
    assert cache.get("key") in (None, LARGE)


def test_lists_keep_their_order(cache: BlobCache) -> None:
    assert cache.listed("list") == []
    for key in ("b", "a", "c", "a"):
        cache.put(key, key.encode())
        cache.enlist("list", key)
    assert cache.listed("list") == ["b", "c", "a"]
    cache.relist("list", ["d"], ["b", "c"])
    assert cache.listed("list") == ["a", "d"]
    assert cache.get("b") is None
    assert cache.get("a") == b"a"


def test_an_unusable_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot use --store"):
        BlobCache(tmp_path / "file" / "store", ROOMY)
    with pytest.raises(InputError, match="cannot use --store"):
        store_secret(tmp_path / "file" / "store")


def test_one_secret_per_store_also_for_many_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from tasks.runtime.files import store_secret;"
        "sys.stdout.write(store_secret(Path(sys.argv[1])).hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(6)]
    secrets = {run.communicate()[0] for run in runs}
    assert secrets == {store_secret(tmp_path / "store").hex().encode()}
    assert len(store_secret(tmp_path / "store")) == SECRET_BYTES
    assert store_secret(tmp_path / "other") != store_secret(tmp_path / "store")


def test_a_damaged_secret_is_an_error(tmp_path: Path) -> None:
    store_secret(tmp_path)
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        store_secret(tmp_path)
