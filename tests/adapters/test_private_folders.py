"""Private folders: one per release, found by the folder it was published in, never forged."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tasks.adapters.private_folders import (
    Kept,
    all_kept,
    expect,
    forget,
    open_private,
    private_folder_of,
    register,
    registered,
    registered_below,
    settle,
)
from tasks.errors import InputError
from tasks.runtime.codec import mac, signed

MANIFEST = b'{"any": "manifest"}\n'


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "store"


def keep(vault: Path, home: Path, table: bytes = b"t" * 20, manifest: bytes = MANIFEST) -> Kept:
    private = open_private(vault)
    (private / "provenance.npz").write_bytes(table)
    return settle(vault, private, home, manifest)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_releases_of_the_same_files_have_private_folders_of_their_own(
    vault: Path, tmp_path: Path
) -> None:
    """The same bytes, of other people or elsewhere; the very same release has one."""
    one, other = keep(vault, tmp_path / "a"), keep(vault, tmp_path / "a", table=b"u" * 20)
    elsewhere, again = keep(vault, tmp_path / "b"), keep(vault, tmp_path / "a")
    assert len({one.private, other.private, elsewhere.private}) == 3
    assert again == one
    assert {kept.private for kept in all_kept(vault)} == {
        one.private,
        other.private,
        elsewhere.private,
    }


def test_only_the_owner_may_look(vault: Path, tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        kept = keep(vault, tmp_path / "out")
        register(vault, kept)
    finally:
        os.umask(previous)
    assert {mode(path) for path in (vault, vault / "releases", kept.private)} == {0o700}
    files = [kept.private / "record", *vault.glob("releases/*.json")]
    assert [mode(path) for path in files] == [0o600, 0o600]


def test_a_folder_is_known_by_any_of_its_names(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "release").mkdir()
    kept = keep(vault, tmp_path / "release")
    register(vault, kept)
    (tmp_path / "link").symlink_to(tmp_path / "release")
    monkeypatch.chdir(tmp_path)
    assert private_folder_of(vault, Path("link")) == kept.private
    assert registered(vault, Path("release/../release")) == [kept]


def test_between_two_releases_either_may_lie_there(vault: Path, tmp_path: Path) -> None:
    old, new = (keep(vault, tmp_path / "out", manifest=m) for m in (b"old", b"new"))
    register(vault, old)
    expect(vault, new)
    assert registered(vault, tmp_path / "out") == [old, new]
    register(vault, new)
    assert registered(vault, tmp_path / "out") == [new]


def test_the_releases_of_an_edition_are_known(vault: Path, tmp_path: Path) -> None:
    edition = tmp_path / "edition-0001"
    kept = [keep(vault, edition / name) for name in ("release-0001", "release-0002")]
    for each in kept:
        register(vault, each)
    register(vault, keep(vault, tmp_path / "other"))
    assert {each.private for each in registered_below(vault, edition)} == {
        each.private for each in kept
    }


def test_what_is_forgotten_is_gone_and_nothing_else(vault: Path, tmp_path: Path) -> None:
    one, other = keep(vault, tmp_path / "a"), keep(vault, tmp_path / "b")
    register(vault, one)
    register(vault, other)
    forget(vault, tmp_path / "a")
    forget(vault, tmp_path / "never")
    assert registered(vault, tmp_path / "a") == []
    assert list(all_kept(vault)) == [other]


@pytest.mark.parametrize("change", ["flip", "cut", "swap", "gone"])
def test_a_record_that_was_tampered_with_is_noticed(
    change: str, vault: Path, tmp_path: Path
) -> None:
    kept, other = keep(vault, tmp_path / "a"), keep(vault, tmp_path / "b")
    register(vault, kept)
    record = kept.private / "record"
    content = record.read_bytes()
    if change == "gone":
        record.unlink()
    elif change == "swap":
        shutil.copy(other.private / "record", record)
    else:
        record.write_bytes(content[:-1] if change == "cut" else content[:-1] + b"\0")
    with pytest.raises(InputError, match="not of this store"):
        registered(vault, tmp_path / "a")
    assert list(all_kept(vault)) == [other]


@pytest.mark.parametrize("content", [b"", b"{}", b"x" * 16 + b'{"releases": ["../../etc"]}'])
def test_a_forged_registration_is_noticed(vault: Path, tmp_path: Path, content: bytes) -> None:
    register(vault, keep(vault, tmp_path / "a"))
    next(vault.glob("releases/*.json")).write_bytes(content)
    with pytest.raises(InputError, match="not of this store"):
        registered(vault, tmp_path / "a")


def test_a_registration_of_another_folder_is_noticed(vault: Path, tmp_path: Path) -> None:
    register(vault, keep(vault, tmp_path / "a"))
    first = next(vault.glob("releases/*.json"))
    register(vault, keep(vault, tmp_path / "b"))
    (second,) = set(vault.glob("releases/*.json")) - {first}
    shutil.copy(first, second)
    with pytest.raises(InputError, match="not of this store"):
        registered(vault, tmp_path / "b")


def test_a_record_of_another_version_is_called_damaged(vault: Path, tmp_path: Path) -> None:
    kept = keep(vault, tmp_path / "a")
    secret = (vault / "secret").read_bytes()
    content = b'{"home": "2f61"}'
    older = kept.private.with_name(mac(secret, "record", content).hex())
    kept.private.rename(older)
    (older / "record").write_bytes(signed(secret, "record", content))
    assert list(all_kept(vault)) == []


def test_a_missing_store_is_not_made_by_looking_into_it(vault: Path, tmp_path: Path) -> None:
    assert registered(vault, tmp_path) == []
    with pytest.raises(InputError, match="does not know that release"):
        list(all_kept(vault))
    assert not vault.exists()


def test_drafts_of_dead_runs_go_those_of_living_ones_stay(vault: Path) -> None:
    (vault / "releases" / ".draft-999999999").mkdir(parents=True)
    (vault / "releases" / ".draft-1").mkdir()
    own = open_private(vault)
    assert {path.name for path in own.parent.iterdir()} == {own.name, ".draft-1"}


def test_a_store_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot use --store"):
        open_private(tmp_path / "file")
