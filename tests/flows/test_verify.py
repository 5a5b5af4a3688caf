"""`python -m flows.verify`: what it prints and how it ends."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from flows import verify
from tasks.adapters import private_folders, provenance
from tasks.adapters.manifest import Manifest, Place, files_in
from tasks.adapters.private_folders import Kept
from tasks.adapters.provenance import Provenance, RowsRead
from tasks.adapters.wordnet import WordNet
from tasks.core.records import AttributeSets
from tasks.core.taxonomy import Taxonomy
from tasks.core.verification.clauses import promised
from tasks.phases import verify as verify_phase
from tasks.phases.prove import UNCHANGED
from tests.adapters.test_verifier import write_parquet, write_tsv
from tests.core.release_cases import CLAUSES, NAME, PAPER, STRICT, TAXONOMY, Case, find_identifiers
from tests.helpers.stores import prepared_store

ROOT = Path(verify.__file__).parent.parent


def provenance_of(case: Case) -> Provenance:
    """Of a log of one file, of which the published rows came first."""
    promise, count = case.promise, len(case.rows)
    accepted = count + promise.withheld
    people, users = np.unique([*case.users, *([0] * promise.withheld)], return_inverse=True)
    reason_of = np.repeat([0, 1, 2], [count, promise.withheld, promise.rejected])
    read = RowsRead(
        files=("log.tsv",),
        digests=("ab",),
        origins=np.zeros(accepted + promise.rejected, dtype=np.int32),
        rows=np.arange(accepted + promise.rejected) + 2,
        users=users.astype(np.int32),
        people=people,
        reasons=("", "too few", "no text"),
        reason_of=reason_of.astype(np.int32),
    )
    _, units, sets, mentions, mentioned = case.behind
    return Provenance(read, sets, units, mentions, mentioned, "mini", promise)


def numbered_by(taxonomy: Taxonomy, table: Provenance) -> Provenance:
    """The same, with the numbers that another taxonomy gives to the concepts."""
    number = {name: number for number, name in enumerate(taxonomy.names.tolist())}
    names = TAXONOMY.names[table.mentioned.concepts].tolist()
    concepts = np.array([number[name] for name in names], dtype=np.int32)
    mentioned = AttributeSets(table.mentioned.offsets, concepts)
    return replace(table, mentioned=mentioned, wordnet=taxonomy.version)


def publish(
    vault: Path, folder: Path, case: Case = STRICT, table: Provenance | None = None
) -> Path:
    """Put a release in its place as a run does: side table first, then the folder."""
    folder.mkdir(exist_ok=True)
    path = folder / "release.tsv"
    write_tsv(path, case)
    settle(vault, folder, table or provenance_of(case))
    return path


def settle(vault: Path, folder: Path, table: Provenance) -> Kept:
    """Let the store know a release as it lies in its folder."""
    (folder / "manifest.json").unlink(missing_ok=True)
    place = None
    if folder.name.startswith("release-"):
        place = Place(int(folder.parent.name[-4:]), int(folder.name[-4:]))
    promises = promised(table.promise)
    told = {"guarantee": table.promise.guarantee, "k": table.promise.k}
    manifest = Manifest(files_in(folder), place, "people", told, {}, promises).as_json()
    private = private_folders.open_private(vault)
    provenance.save(vault, private, table)
    kept = private_folders.settle(vault, private, folder, manifest)
    (folder / "manifest.json").write_bytes(manifest)
    private_folders.register(vault, kept)
    return kept


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    known, finder = SimpleNamespace(taxonomy=TAXONOMY), SimpleNamespace(find=find_identifiers)
    monkeypatch.setattr(verify_phase, "wordnet", lambda store: known)
    monkeypatch.setattr(verify_phase, "load_identifier_finder", lambda store: finder)
    return tmp_path / "store"


@pytest.fixture
def folder(tmp_path: Path, vault: Path) -> Path:
    """A published, honest release."""
    publish(vault, tmp_path / "release")
    return tmp_path / "release"


def run(folder: Path, vault: Path, *options: str) -> int:
    return verify.main([str(folder), "--store", str(vault), *options])


def test_an_honest_release_is_proven_clause_by_clause(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, vault) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"proven  {UNCHANGED}"
    assert f"proven  release.tsv: {CLAUSES['shared']}" in lines
    assert lines[-1] == "verified: all 23 clauses hold"


def test_a_release_moved_elsewhere_is_still_proven(
    folder: Path, vault: Path, tmp_path: Path
) -> None:
    assert run(folder.rename(tmp_path / "elsewhere"), vault) == 0


def test_a_broken_promise_exits_5_and_is_named(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(vault, tmp_path / "release", STRICT.with_cell(0, 0, f"cancer {NAME}").sorted())
    assert run(tmp_path / "release", vault) == 5
    printed = capsys.readouterr().out
    assert f"BROKEN  release.tsv: {CLAUSES['identifier']}: broken by 1 row" in printed
    assert "verification failed, 3 broken" in printed
    assert "proven" not in printed
    assert NAME not in printed


def test_a_file_changed_in_place_exits_5_and_is_judged_by_its_table(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tsv(folder / "release.tsv", STRICT.with_cell(0, 0, f"cancer help {NAME}"))
    assert run(folder, vault) == 5
    printed = capsys.readouterr().out
    assert "BROKEN  release.tsv: changed: it is not the file that was released" in printed
    assert CLAUSES["shared"] in printed
    assert NAME not in printed


def test_a_change_that_breaks_no_other_clause_is_caught(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every row of a month moved to another one: still k people each, but not what was released."""
    write_tsv(folder / "release.tsv", STRICT.with_column(2, lambda t: t.replace("-03", "-04", 1)))
    assert run(folder, vault, "--json") == 5
    assert json.loads(capsys.readouterr().out)["faults"] == [
        "release.tsv: changed: it is not the file that was released"
    ]


def test_a_second_file_put_beside_the_release_is_caught(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(folder / "release.parquet")
    assert run(folder, vault, "--json") == 5
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault.startswith("release.parquet: added")


@pytest.mark.parametrize("content", [b"", b"\xff\n", b"query\n"])
def test_a_ruined_file_exits_5(folder: Path, vault: Path, content: bytes) -> None:
    (folder / "release.tsv").write_bytes(content)
    assert run(folder, vault) == 5


def test_json_is_all_that_stands_on_standard_output(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, vault, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"verified": True, "faults": []}


def test_what_cannot_be_read_exits_3_and_says_why(
    folder: Path, vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "nowhere", vault, "--json") == 3
    assert run(vault, vault) == 3
    assert run(folder, tmp_path / "other_store") == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "is no folder" in printed.err
    assert "holds no release.tsv or release.csv or release.parquet" in printed.err
    assert "made with another --store?" in printed.err
    assert not (tmp_path / "other_store").exists()


def test_a_damaged_side_table_exits_3(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    next(vault.glob("releases/*/*.npz")).write_bytes(b"damaged")
    assert run(folder, vault) == 3
    assert "damaged, or not of this store: restore" in capsys.readouterr().err


def test_an_interrupt_exits_130(folder: Path, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(vault: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verify_phase, "wordnet", interrupt)
    assert run(folder, vault) == 130


def test_paper_says_what_it_does_not_promise(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(vault, tmp_path / "paper", PAPER)
    publish(vault, tmp_path / "strict")
    assert run(tmp_path / "paper", vault) == 0
    assert "note    truth is not promised under guarantee paper" in capsys.readouterr().out
    assert run(tmp_path / "strict", vault) == 0
    assert "note" not in capsys.readouterr().out


@pytest.mark.parametrize("other", ["respiratory_disease.n.01", "lymphoma.n.01", "treatment.n.01"])
def test_an_untrue_concept_in_an_edition_is_caught(
    other: str, vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sibling, a child or a stranger in the whole cluster, released as such."""
    edition = tmp_path / "edition-0001"
    edition.mkdir()
    publish(vault, edition / "release-0001")
    users, units = (tuple(n + 10**6 for n in own) for own in (STRICT.users, STRICT.units))
    again = replace(STRICT, users=users, units=units)
    renamed = again.with_column(2, lambda time: time.replace("-03", "-04", 1)).sorted()
    publish(vault, edition / "release-0002", renamed)
    assert run(edition, vault) == 0
    says = f"proven  each of 2 releases, and all together: {CLAUSES['true']}"
    assert says in capsys.readouterr().out.splitlines()
    untrue = renamed.with_column(1, lambda cell: cell.replace("cancer.n.01", other))
    publish(vault, edition / "release-0002", untrue.with_column(3, lambda n: n.replace("2", "3")))
    assert run(edition, vault, "--json") == 5
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault.startswith(f"release 2: {CLAUSES['true']}: broken by 4 rows")


def test_concepts_numbered_by_another_wordnet_are_not_judged(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = replace(provenance_of(STRICT), wordnet="3.1")
    publish(vault, tmp_path / "release", table=table)
    assert run(tmp_path / "release", vault) == 3
    assert "made with another WordNet" in capsys.readouterr().err


def audited(folder: Path, vault: Path, file: Path, *options: str) -> list[dict[str, object]]:
    assert run(folder, vault, "--audit", str(file), *options) == 0
    rows: list[dict[str, object]] = pq.read_table(file).to_pylist()
    return rows


def test_an_audit_tells_what_became_of_every_row_read(
    folder: Path, vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = audited(folder, vault, tmp_path / "audit.parquet")
    assert "audit: 23 rows read" in capsys.readouterr().out
    assert [line["row"] for line in lines] == list(range(2, 25))
    assert list(lines[0]) == ["file", "row", "person", "release_row", "reason"]
    first = {"file": "log.tsv", "row": 2, "person": 1, "release_row": 1, "reason": None}
    assert lines[0] == first
    assert lines[15] == {**first, "row": 17, "person": STRICT.users[15], "release_row": 16}
    withheld = {"person": 0, "release_row": None, "reason": "too few"}
    assert lines[16] == {**first, "row": 18, **withheld}
    rejected = {"person": None, "release_row": None, "reason": "no text"}
    assert lines[-1] == {**first, "row": 24, **rejected}


def test_an_audit_is_for_its_owner_alone(folder: Path, vault: Path, tmp_path: Path) -> None:
    """Also while it is written, and if a file lies there that others may read."""
    file = tmp_path / "audit.parquet"
    file.write_text("old")
    file.chmod(0o644)
    mode, previous = tmp_path.stat().st_mode, os.umask(0)
    try:
        audited(folder, vault, file, "--json")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tmp_path.stat().st_mode == mode, "the folder is the user's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.parquet", "release", "store"]


def test_an_audit_is_never_put_where_the_release_is_published(
    folder: Path, vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(folder)
    (folder / "deep").mkdir()
    before = sorted(folder.rglob("*"))
    for file in (folder / "a.parquet", folder / "deep" / "a.parquet", tmp_path / "link" / "a"):
        assert run(folder, vault, "--audit", str(file)) == 2
        assert run(tmp_path / "link", vault, "--audit", str(file)) == 2
    printed = capsys.readouterr()
    assert "which is published" in printed.err
    assert printed.out == ""
    assert sorted(folder.rglob("*")) == before


def test_nor_in_the_edition_of_a_release(vault: Path, tmp_path: Path) -> None:
    release = tmp_path / "edition-0001" / "release-0001"
    release.mkdir(parents=True)
    publish(vault, release)
    assert run(release, vault, "--audit", str(tmp_path / "edition-0001" / "audit")) == 2
    assert run(release, vault, "--audit", str(tmp_path / "audit")) == 0


def test_an_audit_that_cannot_be_written_exits_3(
    folder: Path, vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, vault, "--audit", str(tmp_path / "nowhere" / "audit")) == 3
    assert "cannot write" in capsys.readouterr().err


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "flows.verify", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True)


def test_wrong_usage_exits_2() -> None:
    assert command().returncode == 2


def test_help_answers_without_loading_anything_heavy() -> None:
    script = "import sys, flows.verify; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True
    )
    assert "flows.verify" in loaded.stdout
    heavy = {"numpy", "pyarrow", "nltk", "spacy", "presidio_analyzer", "prefect"}
    assert heavy.isdisjoint(loaded.stdout.split())
    assert "RELEASE_DIR" in command("--help").stdout


def test_the_command_proves_and_refutes_with_the_real_wordnet_and_recognisers(
    tmp_path: Path, store: Path, wordnet: WordNet
) -> None:
    vault, folder = tmp_path / "store", tmp_path / "release"
    table = numbered_by(wordnet.taxonomy, provenance_of(STRICT))
    path = publish(vault, folder, table=table)
    prepared_store(vault, store)
    proven = command(str(folder), "--store", str(vault), "--json")
    assert (proven.returncode, proven.stdout, proven.stderr) == (
        0,
        '{"verified": true, "faults": []}\n',
        "",
    )
    assert "is true of every record" in command(str(folder), "--store", str(vault)).stdout
    released = path.read_text()
    for other in ("sarcoma.n.01", "lymphoma.n.01", "treatment.n.01"):  # sibling, child, stranger
        path.write_text(released.replace("cancer.n.01", other))
        refuted = command(str(folder), "--store", str(vault))
        assert refuted.returncode == 5
        assert f"{CLAUSES['true']}: broken by 4 rows (1, 2, 3, ...)" in refuted.stdout
    path.write_text(released.replace("weather", "weather 212-555-0187"))
    refuted = command(str(folder), "--store", str(vault))
    assert refuted.returncode == 5
    assert CLAUSES["identifier"] in refuted.stdout
    assert "0187" not in refuted.stdout + refuted.stderr
