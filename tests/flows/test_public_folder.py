"""The public folder as an attacker meets it: everything is tampered with, then verified again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flows.inbox import main as inbox
from flows.run import main as run
from flows.verify import main as verify
from tests.flows.test_audit import write_log
from tests.helpers.stores import prepared_store

K = "4"
Tampering = Callable[["Site"], object]


@dataclass(frozen=True)
class Site:
    """Two releases, of which `alike` has the bytes of `release`, and an edition of three."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def release(self) -> Path:
        return self.folder / "release"

    @property
    def other(self) -> Path:
        return self.folder / "other"

    @property
    def edition(self) -> Path:
        return self.folder / "published" / "edition-0001"

    def part(self, number: int) -> Path:
        return self.edition / f"release-{number:04d}"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory, store: Path) -> Site:
    site = Site(tmp_path_factory.mktemp("site"))
    prepared_store(site.store, store)
    common = ["--bare", "--quiet", "--k", K, "--store", str(site.store)]
    for seed, out in ((1, site.release), (2, site.other)):
        log = write_log(site.folder / f"{seed}.tsv", seed)
        assert run([str(log), "--out", str(out), *common]) == 0
    (site.folder / "in").mkdir()
    for seed in (3, 4, 5):
        write_log(site.folder / "in" / f"{seed}.tsv", seed, rows=150)
    where = ["--inbox", str(site.folder / "in"), "--out", str(site.edition.parent)]
    assert inbox([*where, "--settle", "0", *common]) == 0
    shutil.copytree(site.folder, site.folder.with_name("backup"))
    return site


@pytest.fixture
def site(pristine: Site) -> Iterator[Site]:
    yield pristine
    for name in ("release", "other", "published", "store/releases"):
        shutil.rmtree(pristine.folder / name)
        shutil.copytree(pristine.folder.with_name("backup") / name, pristine.folder / name)


def verdict(
    folder: Path, site: Site, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, list[str]]:
    capsys.readouterr()
    code = verify([str(folder), "--store", str(site.store), "--json", *options])
    printed = capsys.readouterr()
    return code, json.loads(printed.out)["faults"] if printed.out else [printed.err]


def test_what_was_released_is_proven(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (site.release, site.other, site.edition, site.part(2)):
        assert verdict(folder, site, capsys) == (0, [])


def append(path: Path, text: str = " ") -> None:
    path.write_text(path.read_text() + text)


def swap_release(site: Site) -> None:
    shutil.rmtree(site.release)
    shutil.copytree(site.other, site.release)


def hide_behind_a_valid_one(site: Site) -> None:
    append(site.release / "release.tsv", "x\t\t\t\n")
    shutil.copytree(site.other, site.release / "release-0001")


def forge_manifest(site: Site) -> None:
    """The rows are changed, and the manifest says that they are right."""
    rows, manifest = site.release / "release.tsv", site.release / "manifest.json"
    rows.write_text(rows.read_text().replace("london", "texas"))
    told = json.loads(manifest.read_text())
    content = rows.read_bytes()
    told["files"]["release.tsv"] = {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    manifest.write_text(json.dumps(told))


def link_elsewhere(site: Site) -> None:
    moved = site.folder / "elsewhere.tsv"
    os.replace(site.release / "release.tsv", moved)
    (site.release / "release.tsv").symlink_to(moved)


def exchange_for_a_pipe(path: Path) -> None:
    """Whoever reads it waits for ever."""
    path.unlink()
    os.mkfifo(path)


CHANGED = "changed: it is not the file that was released"
RELEASE_CASES: dict[str, tuple[Tampering, str]] = {
    "another release of the store": (swap_release, "holds another release of this store"),
    "hidden by a valid one": (hide_behind_a_valid_one, "release-0001: added"),
    "hidden by a valid one, rows": (hide_behind_a_valid_one, f"release.tsv: {CHANGED}"),
    "measures edited": (lambda s: append(s.release / "measures.json"), f"measures.json: {CHANGED}"),
    "report edited": (lambda s: append(s.release / "report.html"), f"report.html: {CHANGED}"),
    "card edited": (lambda s: append(s.release / "README.md"), f"README.md: {CHANGED}"),
    "manifest edited": (lambda s: append(s.release / "manifest.json"), f"manifest.json: {CHANGED}"),
    "manifest forged": (forge_manifest, f"release.tsv: {CHANGED}"),
    "rows edited": (lambda s: append(s.release / "release.tsv", "x\t\t\t\n"), "every whole row"),
    "measures gone": (lambda s: (s.release / "measures.json").unlink(), "measures.json: missing"),
    "report gone": (lambda s: (s.release / "report.html").unlink(), "report.html: missing"),
    "manifest gone": (lambda s: (s.release / "manifest.json").unlink(), "manifest.json: missing"),
    "rows gone": (lambda s: (s.release / "release.tsv").unlink(), "release.tsv: missing"),
    "a file beside": (lambda s: (s.release / "users.csv").touch(), "users.csv: added"),
    "a hidden file beside": (lambda s: (s.release / ".users").touch(), ".users: added"),
    "a lock that holds text": (
        lambda s: (s.release / ".logveil.lock").write_text("u1"),
        ".logveil.lock: added",
    ),
    "a folder beside": (lambda s: (s.release / "deep").mkdir(), "deep: added"),
    "a link": (link_elsewhere, "release.tsv: not a plain file"),
    "rows of a pipe": (
        lambda s: exchange_for_a_pipe(s.release / "release.tsv"),
        "release.tsv: not a plain file",
    ),
    "manifest of a pipe": (
        lambda s: exchange_for_a_pipe(s.release / "manifest.json"),
        "manifest.json: not a plain file",
    ),
    "a name of two lines": (
        lambda s: (s.release / "a\nproven  all").touch(),
        "a\\nproven  all: added",
    ),
}


@pytest.mark.parametrize("case", RELEASE_CASES)
def test_a_release_that_was_tampered_with_is_named(
    case: str, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tamper, says = RELEASE_CASES[case]
    tamper(site)
    code, faults = verdict(site.release, site, capsys)
    assert code == 5
    assert any(says in fault for fault in faults), faults


def test_the_lock_of_a_killed_run_is_nothing_foreign(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.release / ".logveil.lock").touch()
    assert verdict(site.release, site, capsys) == (0, [])


def rename(site: Site) -> None:
    site.part(2).rename(site.part(7))


def exchange(site: Site) -> None:
    aside = site.edition.parent / "aside"
    site.part(1).rename(aside)
    site.part(2).rename(site.part(1))
    aside.rename(site.part(2))


EDITION_CASES: dict[str, tuple[Tampering, str]] = {
    "the last dropped": (lambda s: shutil.rmtree(s.part(3)), "release-0003: missing"),
    "the first dropped": (lambda s: shutil.rmtree(s.part(1)), "release-0001: missing"),
    "renamed": (rename, "release-0007: renamed, or copied in: it is release-0002 of this edition"),
    "renamed, and missed": (rename, "release-0002: missing"),
    "copied in twice": (
        lambda s: _copy(s.part(2), s.part(4)),
        "release-0004: renamed, or copied in: it is release-0002",
    ),
    "exchanged": (exchange, "release-0001: holds another release of this store"),
    "added from elsewhere": (lambda s: _copy(s.release, s.part(4)), "release-0004: renamed, or"),
    "added by somebody": (lambda s: s.part(4).mkdir(), "release-0004: added"),
    "a file beside": (lambda s: (s.edition / "users.csv").touch(), "users.csv: added"),
    "a draft left": (lambda s: (s.edition / ".logveil-1").mkdir(), ".logveil-1: added"),
    "edited": (
        lambda s: append(s.part(2) / "report.html"),
        f"release-0002: report.html: {CHANGED}",
    ),
    "hidden": (lambda s: _copy(s.part(1), s.part(1) / "release-0001"), "release-0001: added"),
}


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)


@pytest.mark.parametrize("case", EDITION_CASES)
def test_an_edition_that_was_tampered_with_is_named(
    case: str, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tamper, says = EDITION_CASES[case]
    tamper(site)
    code, faults = verdict(site.edition, site, capsys)
    assert code == 5
    assert any(says in fault for fault in faults), faults


def test_a_copy_is_proven_and_said_to_be_one(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, folder in enumerate((site.release, site.edition, site.part(3))):
        copy = shutil.copytree(folder, tmp_path / f"copy{number}")
        assert verify([str(copy), "--store", str(site.store)]) == 0
        assert f"note    this is a copy: the release was published in {site.folder}" in (
            capsys.readouterr().out
        )


@pytest.mark.parametrize("case", ["the last dropped", "renamed", "copied in twice", "edited"])
def test_an_edition_is_judged_elsewhere_as_well(
    case: str, site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tamper, says = EDITION_CASES[case]
    tamper(site)
    site.edition.rename(tmp_path / "moved")
    code, faults = verdict(tmp_path / "moved", site, capsys)
    assert code == 5
    assert any(says in fault for fault in faults), faults


def test_a_copy_whose_manifest_was_changed_is_known_by_its_rows(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(site.release, tmp_path / "copy")
    append(copy / "manifest.json")
    assert verdict(copy, site, capsys) == (5, [f"manifest.json: {CHANGED}"])


def private_of(site: Site, folder: Path) -> Path:
    """Found as an attacker would: by what the public manifest says."""
    (found,) = (
        path.parent
        for path in site.store.glob("releases/*/record")
        if json.dumps((folder / "manifest.json").read_text()).encode() in path.read_bytes()
    )
    return found


def test_a_forged_side_table_is_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """As version 0.1 had it: content behind a checksum that anybody can make."""
    table = private_of(site, site.release) / "provenance.npz"
    content = table.read_bytes()[16:]
    table.write_bytes(hashlib.blake2b(content, digest_size=16).digest() + content)
    code, (message,) = verdict(site.release, site, capsys)
    assert code == 3
    assert "not of this store" in message


def test_the_side_table_of_another_release_is_refused(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    own, other = (private_of(site, folder) for folder in (site.release, site.other))
    shutil.copy(other / "provenance.npz", own / "provenance.npz")
    code, (message,) = verdict(site.release, site, capsys)
    assert code == 3
    assert "not of this store" in message


def test_releases_of_the_same_bytes_have_each_their_own_people(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who asked is swapped in the second log; what is published is the same."""
    renamed = tmp_path / "renamed.tsv"
    header, *rows = (site.folder / "1.tsv").read_text().splitlines(keepends=True)
    renamed.write_text(header + "".join(f"9{row}" if row[0].isdigit() else row for row in rows))
    common = ["--bare", "--quiet", "--k", K, "--store", str(site.store)]
    assert run([str(renamed), "--out", str(tmp_path / "twin"), *common]) == 0
    twin = (tmp_path / "twin" / "release.tsv").read_bytes()
    assert twin == (site.release / "release.tsv").read_bytes()
    audits = []
    for folder in (tmp_path / "twin", site.release):
        file = tmp_path / f"{folder.name}.parquet"
        assert verdict(folder, site, capsys, "--audit", str(file)) == (0, [])
        audits.append(file.read_bytes())
    assert audits[0] != audits[1]


# What somebody can check who has no store


def checked(folder: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    capsys.readouterr()
    code = verify(["--public", str(folder), "--store", str(store), "--json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out)["faults"] if printed.out else [printed.err]


@pytest.fixture(scope="module")
def no_store(tmp_path_factory: pytest.TempPathFactory, store: Path) -> Path:
    """What a recipient has: compiled public data, and nothing of the publisher's."""
    return prepared_store(tmp_path_factory.mktemp("recipient"), store)


def with_rows(site: Site, change: Callable[[list[list[str]]], list[list[str]]]) -> None:
    """Rows are changed by somebody who also makes a manifest that fits."""
    path = site.release / "release.tsv"
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    changed = [header, *change(rows)]
    path.write_text("".join("\t".join(row) + "\n" for row in changed))
    refit(site.release)


def refit(folder: Path, **settings: object) -> None:
    """Make the manifest fit the files, and promise something else."""
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text())
    told["settings"].update(settings)
    for name in told["files"]:
        content = (folder / name).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        told["files"][name] = {"bytes": len(content), "sha256": digest}
    manifest.write_text(json.dumps(told))


def cell(column: int, text: str) -> Callable[[list[list[str]]], list[list[str]]]:
    """One kind of rows says something else: still k of them, and in order."""

    def change(rows: list[list[str]]) -> list[list[str]]:
        kind = next(row for row in rows if row[1])
        for row in [row for row in rows if row == kind]:
            row[column] = text.format(*kind)
        return sorted(rows)

    return change


def of_every_row(column: int, text: str) -> Callable[[list[list[str]]], list[list[str]]]:
    return lambda rows: sorted([*row[:column], text, *row[column + 1 :]] for row in rows)


def with_user_key(rows: list[list[str]]) -> list[list[str]]:
    return [[*row, "17"] for row in rows]


PUBLIC_ROWS: dict[str, tuple[Callable[[list[list[str]]], list[list[str]]], str]] = {
    "a row once": (lambda rows: sorted([*rows, ["texas weather", "", "", ""]]), "at least 4 times"),
    "a row fewer": (lambda rows: rows[1:], "at least 4 times"),
    "out of order": (lambda rows: rows[::-1], "rows are ordered"),
    "a fifth cell": (with_user_key, "every row has four fields"),
    "an identifier": (cell(0, "{0} 212-555-0187"), "no query holds a direct identifier"),
    "a concept that is none": (cell(1, "asthmatics.n.77"), "exists in WordNet"),
    "a name of something else": (cell(1, "syphilis.n.01;tibet.n.01"), "by a word for it"),
    "a day": (of_every_row(2, "2006-03-11"), "no time is finer than the month"),
    "a moment": (of_every_row(2, "2006-03-11 10:00:00"), "never full timestamps"),
    "fillers alone": (of_every_row(0, "how to"), "named in its query"),
    "a cluster in letters": (cell(3, "one"), "positive whole numbers"),
}


@pytest.mark.parametrize("case", PUBLIC_ROWS)
def test_a_recipient_sees_rows_that_break_the_promise(
    case: str, site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, says = PUBLIC_ROWS[case]
    with_rows(site, change)
    code, faults = checked(site.release, no_store, capsys)
    assert code == 5
    assert any(says in fault for fault in faults), faults
    assert "0187" not in "".join(faults)


def test_rows_of_fillers_alone_are_seen(
    site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rows(site, lambda rows: sorted([*rows, *[["how to", "", "", ""]] * 9]))
    code, faults = checked(site.release, no_store, capsys)
    assert code == 5
    assert any("filler words alone" in fault for fault in faults)


def test_a_recipient_needs_no_store(
    site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (site.release, site.other, site.edition, site.part(2)):
        assert checked(folder, no_store, capsys) == (0, [])
    assert not (no_store / "secret").exists()
    assert not (no_store / "releases").exists()
    assert verify(["--public", str(site.release), "--store", str(no_store)]) == 0
    printed = capsys.readouterr().out
    assert "not checked, because only the publisher's store knows it: who stands behind" in printed
    digest = hashlib.sha256((site.release / "manifest.json").read_bytes()).hexdigest()
    assert digest in printed


SEEN_BY_A_RECIPIENT = sorted(
    set(RELEASE_CASES)
    - {"another release of the store", "manifest edited", "manifest forged", "rows edited"}
)


@pytest.mark.parametrize("case", SEEN_BY_A_RECIPIENT)
def test_a_recipient_sees_what_is_missing_changed_or_added(
    case: str, site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tamper, says = RELEASE_CASES[case]
    tamper(site)
    code, faults = checked(site.release, no_store, capsys)
    assert code == 5
    assert any(says in fault for fault in faults), faults


@pytest.mark.parametrize(
    "case",
    ["the first dropped", "renamed", "copied in twice"]
    + ["added from elsewhere", "a file beside", "a draft left", "edited", "hidden"],
)
def test_a_recipient_sees_an_edition_that_was_tampered_with(
    case: str, site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tamper, says = EDITION_CASES[case]
    tamper(site)
    code, faults = checked(site.edition, no_store, capsys)
    assert code == 5
    said = says.split(" it is ")[0]
    assert any(said in fault for fault in faults), faults


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"files": {}}'),
        b'{"edition": {"number": 1e999, "release": 1}}',
    ],
)
def test_a_manifest_that_is_none_is_a_broken_release(
    content: bytes, site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.release / "manifest.json").write_bytes(content)
    assert checked(site.release, no_store, capsys) == (
        5,
        ["manifest.json: not a manifest of a release"],
    )


def test_a_number_that_no_release_has_is_no_long_list(
    site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = site.part(3) / "manifest.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "edition": {"number": 1, "release": 10**15}}))
    code, faults = checked(site.edition, no_store, capsys)
    assert code == 5
    assert "release-0003 to 999999999999999: missing" in faults


@pytest.mark.parametrize("settings", [{"k": "5"}, {"guarantee": None}, {"time": 3}, {"k": 1}])
def test_a_manifest_that_promises_nothing_is_a_broken_release(
    settings: dict[str, object], site: Site, no_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refit(site.release, **settings)
    assert checked(site.release, no_store, capsys)[0] == 5


def test_a_folder_without_a_release_cannot_be_checked(
    site: Site, no_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path, tmp_path / "nowhere", site.edition.parent):
        assert checked(folder, no_store, capsys)[0] == 3


def test_an_audit_needs_the_store(site: Site, no_store: Path, tmp_path: Path) -> None:
    options = ["--public", str(site.release), "--store", str(no_store)]
    assert verify([*options, "--audit", str(tmp_path / "audit")]) == 2
