"""`python -m flows.verify`: what it prints and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from flows import verify
from tasks.adapters import provenance
from tasks.adapters.provenance import Provenance, register
from tasks.phases import verify as verify_phase
from tests.adapters.test_verifier import TAXONOMY, Finder, write_parquet, write_tsv
from tests.core.release_cases import CLAUSES, NAME, STRICT, Case
from tests.helpers.stores import prepared_store

ROOT = Path(verify.__file__).parent.parent


def publish(vault: Path, folder: Path, case: Case = STRICT) -> Path:
    """Put a release in its place as a run does: side table first, then the folder."""
    folder.mkdir(exist_ok=True)
    path = folder / "release.tsv"
    write_tsv(path, case)
    users, sets = np.array(case.users, np.int64), np.array(case.sets, np.int32)
    provenance.save(vault, path, Provenance(users, sets, np.arange(len(users)), case.promise))
    (folder / "rejects.tsv").touch()
    register(vault, folder, path, "made")
    return path


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    known = SimpleNamespace(taxonomy=TAXONOMY)
    monkeypatch.setattr(verify_phase, "wordnet", lambda store: known)
    monkeypatch.setattr(verify_phase, "load_identifier_finder", lambda store: Finder())
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
    assert lines[0] == "proven  release.tsv: the file in this folder is the one that was released"
    assert f"proven  release.tsv: {CLAUSES['shared']}" in lines
    assert lines[-1] == "verified: all 20 clauses hold"


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
    assert "verification failed, 2 broken" in printed
    assert "proven" not in printed
    assert NAME not in printed


def test_a_file_changed_in_place_exits_5_and_is_judged_by_its_table(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tsv(folder / "release.tsv", STRICT.with_cell(0, 0, f"cancer help {NAME}"))
    assert run(folder, vault) == 5
    printed = capsys.readouterr().out
    assert "the one that was released: broken, its content has changed" in printed
    assert CLAUSES["shared"] in printed
    assert NAME not in printed


def test_a_change_that_breaks_no_other_clause_is_caught(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every row of a month moved to another one: still k people each, but not what was released."""
    write_tsv(folder / "release.tsv", STRICT.with_column(2, lambda t: t.replace("-03", "-04", 1)))
    assert run(folder, vault, "--json") == 5
    assert json.loads(capsys.readouterr().out)["faults"] == [
        "release.tsv: the file in this folder is the one that was released: "
        "broken, its content has changed"
    ]


def test_a_second_file_put_beside_the_release_is_caught(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(folder / "release.parquet")
    assert run(folder, vault, "--json") == 5
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault.startswith("release.parquet: the file in this folder is the one")


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
    assert "holds no release.tsv or release.parquet" in printed.err
    assert "made with another --store?" in printed.err


def test_a_damaged_side_table_exits_3(
    folder: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    next(vault.glob("releases/*.npz")).write_bytes(b"damaged")
    assert run(folder, vault) == 3
    assert "is damaged: run flows.run again" in capsys.readouterr().err


def test_an_interrupt_exits_130(folder: Path, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(vault: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verify_phase, "wordnet", interrupt)
    assert run(folder, vault) == 130


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
    tmp_path: Path, store: Path
) -> None:
    vault, folder = tmp_path / "store", tmp_path / "release"
    path = publish(vault, folder)
    prepared_store(vault, store)
    proven = command(str(folder), "--store", str(vault), "--json")
    assert (proven.returncode, proven.stdout, proven.stderr) == (
        0,
        '{"verified": true, "faults": []}\n',
        "",
    )
    path.write_text(path.read_text().replace("weather", "weather 212-555-0187"))
    refuted = command(str(folder), "--store", str(vault))
    assert refuted.returncode == 5
    assert CLAUSES["identifier"] in refuted.stdout
    assert "0187" not in refuted.stdout + refuted.stderr
