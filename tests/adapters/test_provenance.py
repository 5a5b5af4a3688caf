"""Provenance, the private side table: found by content, private, never half, never wrong."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.adapters.provenance import (
    Provenance,
    RowsRead,
    is_in_place,
    knows,
    load,
    load_registered,
    register,
    release_key,
    save,
)
from tasks.core.records import AttributeSets
from tasks.core.verification.evidence import Promise
from tasks.errors import InputError
from tasks.runtime.codec import pack, sealed, unsealed

USERS = np.array([4, 0, -4, 2**63 - 1], dtype=np.int64)
SETS = np.array([7, -1, 8, 7], dtype=np.int32)
RECORDS = np.array([9, 8, 7, -6], dtype=np.int64)
PROMISE = Promise("terms", k=5, l=2, time="day", read=6, rejected=1, withheld=1, published=4)
READ = RowsRead(
    files=("a.tsv", "b.tsv"),
    digests=("ab", "cd"),
    origins=np.array([0, 1, 1, 0, 0, 1], dtype=np.int32),
    rows=np.array([2, 2, 3, 4, 5, 9], dtype=np.int64),
    people=np.array([*USERS, 17], dtype=np.int64),
    reasons=("", "too few", "no text"),
    reason_of=np.array([0, 0, 0, 0, 1, 2], dtype=np.int32),
)
PROVENANCE = Provenance(
    READ,
    SETS,
    RECORDS,
    mentions=np.array([0, 1, 0, 0], dtype=np.int32),
    mentioned=AttributeSets(np.array([0, 2, 2]), np.array([3, 5], dtype=np.int32)),
    wordnet="3.0",
    promise=PROMISE,
)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "store"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    path = folder / "release.tsv"
    path.write_text("query\tconcepts\ttime\tcluster\n")
    (folder / "rejects.tsv").write_text("file\trow\treason\n")
    return path


@pytest.fixture
def saved(vault: Path, release: Path) -> Path:
    """Where the side table of `release` lies."""
    save(vault, release, PROVENANCE)
    return vault / "releases" / f"{release_key(release)}.npz"


def test_a_release_is_in_place_until_anything_changes(vault: Path, release: Path) -> None:
    folder = release.parent
    save(vault, release, PROVENANCE)
    assert not is_in_place(vault, folder, release, "made")
    register(vault, folder, release, "made")
    assert is_in_place(vault, folder, release, "made")
    assert not is_in_place(vault, folder, release, "made otherwise")
    for path in (release, folder / "rejects.tsv", *(vault / "releases").iterdir()):
        content = path.read_bytes()
        path.unlink()
        assert not is_in_place(vault, folder, release, "made")
        path.write_bytes(content)
        assert is_in_place(vault, folder, release, "made")
    release.write_text("changed")
    assert not is_in_place(vault, folder, release, "made")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("saved")
def test_what_is_saved_is_loaded(vault: Path, release: Path) -> None:
    found = load(vault, release)
    assert found.users.tolist() == USERS.tolist()
    assert found.sets.tolist() == SETS.tolist()
    assert found.records.tolist() == RECORDS.tolist()
    assert [array.dtype.name for array in (found.users, found.sets)] == ["int64", "int32"]
    assert found.promise == PROMISE
    assert pack(found) == pack(PROVENANCE)


@pytest.mark.usefixtures("saved")
def test_a_copy_of_the_release_elsewhere_is_known(
    vault: Path, release: Path, tmp_path: Path
) -> None:
    copy = shutil.copy(release, tmp_path / "copy.tsv")
    assert knows(vault, Path(copy))
    assert load(vault, Path(copy)).promise == PROMISE


def test_only_the_owner_may_look(vault: Path, release: Path) -> None:
    previous = os.umask(0)
    try:
        save(vault, release, PROVENANCE)
        register(vault, release.parent, release, "made")
    finally:
        os.umask(previous)
    assert mode(vault) == 0o700
    assert mode(vault / "releases") == 0o700
    files = list((vault / "releases").iterdir())
    assert {mode(path) for path in files} == {0o600}
    assert len(files) == 2


def test_a_folder_open_to_others_is_closed(vault: Path, release: Path) -> None:
    (vault / "releases").mkdir(parents=True, mode=0o755)
    register(vault, release.parent, release, "made")
    assert mode(vault / "releases") == 0o700


def test_an_unknown_release_tells_what_may_have_happened(
    vault: Path, saved: Path, release: Path
) -> None:
    release.write_text("changed\n")
    assert not knows(vault, release)
    with pytest.raises(InputError, match="changed, or made with another --store"):
        load(vault, release)


def test_a_missing_store_is_not_made_by_looking_into_it(vault: Path, release: Path) -> None:
    with pytest.raises(InputError, match="does not know that release"):
        load(vault, release)
    assert not vault.exists()


def test_a_missing_release_file_is_an_input_error(vault: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load(vault, tmp_path / "release.tsv")


@pytest.mark.parametrize("place", [0, 200, -1])
def test_a_flipped_bit_is_noticed(vault: Path, release: Path, saved: Path, place: int) -> None:
    content = bytearray(saved.read_bytes())
    content[place] ^= 1
    saved.write_bytes(content)
    with pytest.raises(InputError, match="is damaged: run flows"):
        load(vault, release)


@pytest.mark.parametrize("length", [0, 10, 32, 500])
def test_half_a_table_is_noticed(vault: Path, release: Path, saved: Path, length: int) -> None:
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(InputError, match="is damaged"):
        load(vault, release)


def test_a_table_under_the_name_of_another_release_is_noticed(
    vault: Path, release: Path, saved: Path
) -> None:
    release.write_text("another\n")
    saved.rename(saved.with_name(f"{release_key(release)}.npz"))
    with pytest.raises(InputError, match="is damaged"):
        load(vault, release)


def test_nothing_is_pickled(release: Path, saved: Path) -> None:
    content = unsealed(release_key(release), saved.read_bytes())
    assert content is not None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert {array.dtype.kind for array in arrays.values()} == {"i", "u"}
        own = {"sets", "records", "mentions", "mentioned offsets", "mentioned concepts"}
        assert len(arrays) == len({"tree"} | own | {"origins", "rows", "people", "reason_of"})


def test_another_value_in_its_place_is_noticed(vault: Path, release: Path, saved: Path) -> None:
    saved.write_bytes(sealed(release_key(release), pack({"users": USERS})))
    with pytest.raises(InputError, match="is damaged"):
        load(vault, release)


def test_a_table_of_another_version_is_called_damaged(
    vault: Path, release: Path, saved: Path
) -> None:
    """It was written by the same codec, but holds less."""
    tree = {"object": "tasks.adapters.provenance:Provenance", "fields": [1, 2]}
    older = io.BytesIO()
    np.savez(older, tree=np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8))
    saved.write_bytes(sealed(release_key(release), older.getvalue()))
    with pytest.raises(InputError, match="is damaged"):
        load(vault, release)


def test_a_write_that_fails_leaves_the_old_table_and_nothing_else(
    vault: Path, release: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        save(vault, release, replace(PROVENANCE, records=USERS))
    assert list(saved.parent.iterdir()) == [saved]
    assert load(vault, release).users.tolist() == USERS.tolist()


def test_a_store_that_cannot_be_made_is_an_input_error(tmp_path: Path, release: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InputError, match="cannot write to --store"):
        register(blocked, release.parent, release, "made")


def test_a_changed_file_is_still_held_against_what_was_published_there(
    vault: Path, release: Path, saved: Path
) -> None:
    register(vault, release.parent, release, "made")
    release.write_text("changed\n")
    assert load_registered(vault, release.parent).promise == PROMISE


def test_the_last_release_of_a_folder_counts(vault: Path, release: Path, saved: Path) -> None:
    register(vault, release.parent, release, "made")
    release.write_text("second\n")
    later = Promise("strict", k=2, l=1, time="month", read=4, rejected=0, withheld=0, published=4)
    save(vault, release, replace(PROVENANCE, promise=later))
    register(vault, release.parent, release, "made")
    assert load_registered(vault, release.parent).promise == later


def test_a_folder_is_known_by_any_of_its_names(
    vault: Path, release: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(vault, release.parent, release, "made")
    (tmp_path / "link").symlink_to(release.parent)
    monkeypatch.chdir(tmp_path)
    assert load_registered(vault, Path("link")).promise == PROMISE
    assert load_registered(vault, Path("release/../release")).promise == PROMISE


def test_a_folder_nothing_was_published_in_is_unknown(
    vault: Path, saved: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="does not know that release"):
        load_registered(vault, tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"\xff", json.dumps({"release": "../../etc"}).encode()]
)
def test_a_damaged_registration_is_noticed(
    vault: Path, release: Path, saved: Path, content: bytes
) -> None:
    register(vault, release.parent, release, "made")
    next(saved.parent.glob("*.json")).write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        load_registered(vault, release.parent)
