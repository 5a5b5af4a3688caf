"""What decides a result is in its name: log files by their content, code by what it imports."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.adapters.logs.reader import read_logs
from tasks.core.records import Longs
from tasks.errors import InputError, StillChanging
from tasks.phases import analyse, cluster, compare, measure, read, redact, verify, write
from tasks.phases.job import Job
from tasks.runtime.executor import LocalExecutor
from tasks.runtime.fingerprint import (
    ROOT,
    LogFile,
    code_fingerprint,
    code_of,
    content_digest,
    log_file,
    program_fingerprint,
    record_ids,
    refuse_changed,
)
from tasks.settings import Settings
from tests.editions.test_inbox import grow, replace_by_another

HEAD = "AnonID\tQuery\tQueryTime\n"


# Log files


@pytest.mark.parametrize("change", [grow, os.utime, replace_by_another, Path.unlink])
def test_a_file_that_changed_is_refused(change: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("content")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    files = [log_file(str(path))]
    refuse_changed(files)
    change(path)
    with pytest.raises(StillChanging, match=r"a\.tsv changed while it was read"):
        refuse_changed(files)


def test_the_digest_is_that_of_all_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("x" * 3_000_000)
    expected = hashlib.sha256(b"x" * 3_000_000).hexdigest()
    assert content_digest(path) == log_file(str(path)).digest == expected
    for look in (content_digest, lambda path: log_file(str(path))):
        with pytest.raises(InputError, match="cannot read"):
            look(tmp_path / "missing")


def files_at(*paths: Path) -> list[LogFile]:
    return [log_file(str(path)) for path in paths]


def ids_of(*paths: Path) -> Longs:
    log = read_logs(paths)
    return record_ids([file.digest for file in files_at(*paths)], log.origins, log.rows)


def test_records_are_named_by_content_and_row(tmp_path: Path) -> None:
    """Not by where their file lies, nor by what is read beside it."""
    rows = "".join(f"{n}\tflu {n}\t2006-03-01 10:00:00\n" for n in range(50))
    for name, text in {"a": rows, "moved/b": rows, "c": rows + "9\tx\t\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(HEAD + text)
    found = {}
    for name in ("a", "moved/b", "c"):
        found[name] = ids_of(tmp_path / name)
    assert np.array_equal(found["a"], found["moved/b"])
    together = ids_of(tmp_path / "a", tmp_path / "c")
    assert np.array_equal(together, np.concatenate([found["a"], found["c"]]))
    assert len(np.unique(together)) == len(together)


# Code


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the program, to edit."""
    root = tmp_path / "checkout"
    unneeded = shutil.ignore_patterns("__pycache__", "synthetic")
    shutil.copytree(ROOT / "tasks", root / "tasks", ignore=unneeded)
    return root


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n# another line\n")


PHASES = ("read", "analyse", "compare", "cluster", "redact", "measure", "write", "verify")


def codes(root: Path) -> dict[str, str]:
    """The fingerprint of each phase's code, as a process that starts now would find it."""
    code_fingerprint.cache_clear()
    return {phase: code_fingerprint(f"tasks.phases.{phase}", root) for phase in PHASES}


def changed_by(root: Path, *names: str) -> set[str]:
    """Phases whose code is another one once some files are edited."""
    before = codes(root)
    for name in names:
        edit(root / "tasks" / name)
    after = codes(root)
    return {phase for phase in PHASES if before[phase] != after[phase]}


def below(root: Path, folder: str) -> list[str]:
    files = (path for path in (root / "tasks" / folder).rglob("*") if path.is_file())
    return [str(path.relative_to(root / "tasks")) for path in files]


def test_a_copy_has_the_fingerprints_of_its_source(checkout: Path) -> None:
    assert codes(checkout) == codes(ROOT)
    assert len(set(codes(ROOT).values())) == len(PHASES)


@pytest.mark.parametrize("folder", ["adapters/report", "adapters/pages", "evaluation", "editions"])
def test_the_report_discards_no_result(checkout: Path, folder: str) -> None:
    """Nor what else is no part of the release: its code, its templates, its style."""
    files = below(checkout, folder)
    if folder == "adapters/pages":
        assert any(name.endswith(".css") for name in files)
    assert len(files) > 2
    assert changed_by(checkout, *files) == set()


@pytest.mark.parametrize(
    "name",
    [
        "adapters/detection/pipeline.py",
        "core/detection/names.py",
        *(f"adapters/detection/data/{name}" for name in ("words.toml", "phrases.txt")),
    ],
)
def test_the_tokeniser_and_its_lists_discard_analyses(checkout: Path, name: str) -> None:
    changed = changed_by(checkout, name)
    assert "analyse" in changed
    assert "read" not in changed


@pytest.mark.parametrize("name", ["pairs", "concepts", "costs"])
def test_the_distances_of_records_discard_no_analysis(checkout: Path, name: str) -> None:
    changed = changed_by(checkout, f"core/similarity/{name}.py")
    assert "compare" in changed
    assert not changed & {"read", "analyse"}


def test_a_method_of_clustering_discards_clusters_alone(checkout: Path) -> None:
    changed = changed_by(checkout, "core/rows/search.py")
    assert "cluster" in changed
    assert not changed & {"read", "analyse", "compare"}


def test_the_reader_discards_everything(checkout: Path) -> None:
    assert changed_by(checkout, "adapters/logs/lines.py") == {*PHASES}


def test_a_new_list_counts_as_a_changed_one(checkout: Path) -> None:
    before = codes(checkout)["analyse"]
    (checkout / "tasks" / "adapters" / "detection" / "data" / "more.txt").write_text("flu\n")
    assert codes(checkout)["analyse"] != before


@pytest.mark.parametrize(
    "line",
    [
        "import tasks.b",
        "import tasks.b as c",
        "from tasks.b import name",
        "from tasks import a, b",
        "from tasks import (\n    a,\n    b,\n)",
        "from tasks import b as c",
        "from tasks import b  # for (some) reason",
        "from tasks import (\n    a,  # this, and (that)\n    b,  # too\n)",
        "def later():\n    from tasks.b import name",
    ],
)
def test_every_kind_of_import_is_followed(tmp_path: Path, line: str) -> None:
    (tmp_path / "tasks").mkdir()
    for name, text in {"a": line, "b": "import tasks.c", "c": "import tasks.a", "d": ""}.items():
        (tmp_path / "tasks" / f"{name}.py").write_text(f"{text}\n")
    found = {path.stem for path in code_of("tasks.a", tmp_path)}
    assert found == {"a", "b", "c"}


def test_all_code_is_followed_that_a_phase_loads() -> None:
    """What Python imports for a phase, and we do not find, could change unnoticed."""
    import subprocess
    import sys

    code = "import sys, tasks.phases.measure; print(*(m for m in sys.modules if 'tasks.' in m))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    loaded = {ROOT.joinpath(*name.split(".")) for name in found.stdout.decode().split()}
    modules = {path.with_suffix(".py") for path in loaded if path.with_suffix(".py").is_file()}
    assert len(modules) > 50
    assert modules - code_of("tasks.phases.measure") == set()


def test_machines_must_have_all_code_alike() -> None:
    assert program_fingerprint() == program_fingerprint()
    assert program_fingerprint() not in codes(ROOT).values()


# Phases of a job


@pytest.fixture
def job(store: Path, tmp_path: Path) -> Job:
    (tmp_path / "log.tsv").write_text(f"{HEAD}1\tflu\t2006-03-01 10:00:00\n")
    settings = Settings(logs=(str(tmp_path / "log.tsv"),), store=str(store), workers=1)
    return Job.of(settings, LocalExecutor(1))


CHAIN: dict[str, Callable[[Job], str]] = {
    "read": read.read_fingerprint,
    "analyse": analyse.analysis_fingerprint,
    "compare": compare.comparison_fingerprint,
    "cluster": cluster.cluster_fingerprint,
    "redact": redact.redaction_fingerprint,
    "measure": measure.measure_fingerprint,
    "write": write.write_fingerprint,
    "verify": verify.verify_fingerprint,
}


REDACTED = {"redact", "measure", "write", "verify"}
COMPARED = {"compare", "cluster", *REDACTED}
ANALYSED = {"analyse", *COMPARED}


def test_pairs_outlive_a_change_of_the_tokeniser(checkout: Path) -> None:
    def code() -> list[str]:
        return [code_fingerprint.__wrapped__(module, checkout) for module in compare.PAIR_CODE]

    before = code()
    edit(checkout / "tasks" / "adapters" / "detection" / "pipeline.py")
    assert code() == before
    for place in ("core/similarity/concepts.py", "adapters/wordnet.py"):
        edit(checkout / "tasks" / place)
        before, earlier = code(), before
        assert before != earlier


@pytest.fixture
def fingerprints(monkeypatch: pytest.MonkeyPatch, job: Job) -> Callable[[Path], dict[str, str]]:
    """The fingerprints of all phases of a job, with the code of some checkout."""

    def found(root: Path) -> dict[str, str]:
        @lru_cache
        def code(module: str) -> str:
            return code_fingerprint.__wrapped__(module, root)

        with monkeypatch.context() as patch:
            for phase in (read, analyse, compare, cluster, redact, measure, write, verify):
                patch.setattr(phase, "code_fingerprint", code)
            return {phase: fingerprint(job) for phase, fingerprint in CHAIN.items()}

    return found


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("adapters/logs/lines.py", "read"),
        ("adapters/detection/pipeline.py", "analyse"),
        ("adapters/detection/data/words.toml", "analyse"),
        ("core/similarity/pairs.py", "compare"),
        ("core/rows/search.py", "cluster"),
        ("core/redaction/by_record.py", "redact"),
    ],
)
def test_what_changes_a_phase_changes_all_after_it(
    checkout: Path, fingerprints: Callable[[Path], dict[str, str]], name: str, first: str
) -> None:
    before = fingerprints(checkout)
    assert before == fingerprints(ROOT)
    edit(checkout / "tasks" / name)
    after = fingerprints(checkout)
    changed = [phase for phase in CHAIN if before[phase] != after[phase]]
    assert changed == list(CHAIN)[list(CHAIN).index(first) :]


def test_the_last_phases_change_for_themselves(
    checkout: Path, fingerprints: Callable[[Path], dict[str, str]]
) -> None:
    before = fingerprints(checkout)
    for name, changed in (
        ("core/measures/risk.py", {"measure"}),
        ("adapters/verifier.py", {"verify"}),
        ("adapters/release_files.py", {"write", "verify"}),
        ("adapters/report/report.py", set()),
    ):
        edit(checkout / "tasks" / name)
        after = fingerprints(checkout)
        assert {phase for phase in CHAIN if before[phase] != after[phase]} == changed, name
        before = after


@pytest.mark.parametrize(
    ("setting", "changed"),
    [
        ({"scope": "all"}, ANALYSED),
        ({"threshold": 0.7}, ANALYSED),
        ({"method": "mdav"}, COMPARED),
        ({"distance": "printed"}, COMPARED),
        ({"k": 3}, {"read", *COMPARED}),
        ({"guarantee": "terms"}, REDACTED),
        ({"dominance": 0.4}, {"cluster", *REDACTED}),
        ({"time": "day"}, {"cluster", *REDACTED}),
        ({"release_format": "parquet"}, {"write", "verify"}),
        ({"columns": {"user": "AnonID"}}, {*CHAIN}),
        ({"out": "elsewhere", "workers": 2, "store_limit": 3.0}, set()),
    ],
)
def test_a_setting_changes_what_it_decides_and_all_after_it(
    job: Job, setting: dict[str, Any], changed: set[str]
) -> None:
    other = replace(job, settings=replace(job.settings, **setting))
    assert {phase for phase, of in CHAIN.items() if of(job) != of(other)} == changed


def test_what_a_log_says_decides_everything_and_what_it_is_called_little(
    job: Job, tmp_path: Path
) -> None:
    (file,) = job.files
    moved = replace(job, files=(replace(file, name="other.tsv"),))
    grown = replace(job, files=(replace(file, digest="0" * 64),))
    named = {"read", "measure", "write", "verify"}
    assert {phase for phase, of in CHAIN.items() if of(job) != of(moved)} == named
    assert {phase for phase, of in CHAIN.items() if of(job) != of(grown)} == {*CHAIN}
