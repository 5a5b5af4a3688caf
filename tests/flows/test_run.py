"""`python -m flows.run` as a user meets it: files, exit codes, messages, same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from flows.process import heed_interrupts
from flows.run import main
from tasks.adapters.private_folders import private_folder_of
from tasks.adapters.release_files import OTHER_FILES
from tasks.phases import compare as compare_phase
from tasks.settings import SAMPLE_LOG
from tests.helpers.figures import internal_measures

ROOT = Path(__file__).parent.parent.parent
FILES = {"release.tsv", *OTHER_FILES}
HEADER = "AnonID\tQuery\tQueryTime\n"
MOMENT = "2006-03-01 10:00:00"


def run(store: Path, *arguments: str | Path) -> int:
    """The command in this process, without Prefect."""
    return main([*map(str, arguments), "--bare", "--quiet", "--store", str(store)])


def small_log(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text(HEADER + "".join(f"{user}\t{query}\t{MOMENT}\n" for user, query in rows))
    return path


@pytest.fixture(scope="module")
def sample_release(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample") / "release"
    assert run(store, "--out", out) == 0
    return out


def test_the_sample_is_released_with_all_files_and_keys(store: Path, sample_release: Path) -> None:
    assert {path.name for path in sample_release.iterdir()} == FILES
    measures = internal_measures(store, sample_release)
    expected = {
        "records": {"read", "rejected", "known", "with_attributes", "published", "withheld"},
        "users": {"read", "published"},
        "words": {"read", "published"},
        "clusters": {"count", "min_users", "min_size", "median_size", "max_size"},
        "cohesion": {"q25", "median", "q75", "clusters_below_0_45", "records_below_0_45"},
        "information": {"kept_percent", "words_percent", "concepts_percent", "time_percent"},
        "truth": {"concepts_true", "rows_true"},
        "information_loss": {"percent", "symmetric_percent", "by_topic"},
        "risk": {"raw_expected", "raw_worst", "released_expected", "released_worst"},
        "diversity": {"min_distinct", "median_entropy"},
        "pairs": {"attributes_computed", "attributes_reused", "records_computed"},
        "seconds": {"read", "analyse", "compare", "cluster", "redact", "verify", "total"},
        "versions": {"logveil", "wordnet", "python"},
        "settings": {"k", "method", "guarantee", "scope", "time", "threshold"},
    }
    assert measures["verified"] is True
    for key, names in expected.items():
        assert names <= set(measures[key]), key
    records = measures["records"]
    assert records["read"] == records["published"] + records["withheld"] + records["rejected"]
    assert records["read"] == len(SAMPLE_LOG.read_text().splitlines()) - 1
    assert sum(measures["withheld_by_reason"].values()) == records["withheld"]
    assert 0 < measures["information"]["kept_percent"] < 100
    assert set(measures["information"]["by_topic"]) == set(measures["information_loss"]["by_topic"])


@pytest.mark.parametrize("method", ["adaptive", "mdav", "vmdav", "paper"])
@pytest.mark.parametrize("guarantee", ["strict", "terms", "paper"])
def test_every_method_with_every_guarantee(
    store: Path, tmp_path: Path, method: str, guarantee: str
) -> None:
    options = ("--method", method, "--guarantee", guarantee, "--out", tmp_path / "out")
    assert run(store, *options) == 0
    measures = internal_measures(store, tmp_path / "out")
    assert measures["verified"] is True
    assert measures["clusters"]["min_users"] >= 5
    if guarantee == "strict":
        assert measures["risk"]["released_worst"] <= 0.5


def test_rejects_are_counted_and_hold_no_text(store: Path, tmp_path: Path) -> None:
    log = small_log(tmp_path / "log.tsv", [(str(u), "lung cancer") for u in range(1, 7)])
    log.write_text(log.read_text() + "7\tcanaryword\tnot a time\n\t\t\n")
    assert run(store, log, "--out", tmp_path / "out") == 0
    rejects = (private_folder_of(store, tmp_path / "out") / "rejects.tsv").read_text()
    assert (
        len(rejects.splitlines())
        == 1 + internal_measures(store, tmp_path / "out")["records"]["rejected"]
    )
    assert "canaryword" not in rejects
    assert rejects.splitlines()[1].split("\t")[1] == "8"


def test_the_screen_says_where_rejects_are_listed(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = small_log(tmp_path / "log.tsv", [(str(u), "lung cancer") for u in range(6)])
    log.write_text(log.read_text() + "7\tcanaryword\tnot a time\n")
    options = ["--bare", "--store", str(store), "--out", str(tmp_path / "out")]
    for _ in range(2):
        assert main([str(log), *options]) == 0
        said = capsys.readouterr().out.replace("\n", "")
        assert str(private_folder_of(store, tmp_path / "out") / "rejects.tsv") in said


def test_rejects_are_listed_if_nothing_can_be_released(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = small_log(tmp_path / "log.tsv", [("1", "lung cancer")])
    log.write_text(log.read_text().replace(MOMENT, "canary time"))
    assert run(store, log, "--out", tmp_path / "out") == 4
    said = capsys.readouterr().err
    (listed,) = (Path(word.strip("(),;.")) for word in said.split() if "rejects.tsv" in word)
    assert listed.is_relative_to(store)
    assert listed.stat().st_mode & 0o077 == 0
    _, row = listed.read_text().splitlines()
    assert row.split("\t")[:2] == [str(log), "2"]
    assert "canary" not in row + said
    assert not (tmp_path / "out").exists()


def test_json_is_alone_on_standard_output(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--bare", "--json", "--out", str(tmp_path / "out"), "--store", str(store)])
    printed = capsys.readouterr()
    assert code == 0
    assert json.loads(printed.out) == internal_measures(store, tmp_path / "out")
    assert "Release in" in printed.err


FAULTS: dict[str, tuple[int, list[str], str]] = {
    "k of zero": (2, ["--k", "0"], "k must be at least 2"),
    "k of one": (2, ["--k", "1"], "k must be at least 2"),
    "k no number": (2, ["--k", "many"], "k must be a number"),
    "threshold above one": (2, ["--threshold", "1.5"], "threshold must be between 0 and 1"),
    "threshold below zero": (2, ["--threshold", "-0.1"], "threshold must be between 0 and 1"),
    "unknown method": (2, ["--method", "magic"], "method must be one of"),
    "unknown format": (2, ["--format", "xml"], "format must be one of"),
    "bad columns": (2, ["--columns", "user"], "columns must look like"),
    "unknown column role": (2, ["--columns", "who=1"], "no such role"),
    "missing topics file": (3, ["--topics", "nowhere.toml"], "cannot read topics file"),
    "more people than there are": (4, ["--k", "1000"], "nothing can be released"),
    "missing file": (3, ["nowhere.tsv"], "nowhere.tsv"),
    "unwritable output": (3, ["--out", "/proc/nowhere"], "cannot write to --out"),
    "unknown spacy model": (2, ["--spacy-model", "xx_none"], "is not installed"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_have_a_message_and_an_exit_code(
    name: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, arguments, message = FAULTS[name]
    if "--out" not in arguments:
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    assert run(store, *arguments) == code
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not any((tmp_path / "out").glob("*"))


def test_all_faults_come_in_one_message(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(store, "--k", "x", "--threshold", "2", "--method", "magic") == 2
    shown = capsys.readouterr().err
    assert all(word in shown for word in ("k must", "threshold must", "method must"))


INPUTS: dict[str, tuple[int, bytes]] = {
    "empty file": (4, b""),
    "header only": (4, HEADER.encode()),
    "one row": (4, f"{HEADER}1\tflu\t{MOMENT}\n".encode()),
    "one user": (4, (HEADER + f"1\tflu\t{MOMENT}\n" * 50).encode()),
    "binary junk": (3, random.Random(1).randbytes(5000)),
    "missing column": (3, b"when,who\n1,2\n" * 9),
}


@pytest.mark.parametrize("name", INPUTS)
def test_odd_inputs(
    name: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, content = INPUTS[name]
    (tmp_path / "log").write_bytes(content)
    assert run(store, tmp_path / "log", "--out", tmp_path / "out") == code
    shown = capsys.readouterr().err
    assert shown.startswith("logveil: ")
    assert "Traceback" not in shown
    assert not any((tmp_path / "out").glob("*"))


def test_a_megabyte_line_is_set_aside(store: Path, tmp_path: Path) -> None:
    log = small_log(tmp_path / "log.tsv", [(str(u), "lung cancer") for u in range(1, 7)])
    log.write_text(log.read_text() + f"9\t{'x' * 1_000_000}\t{MOMENT}\n")
    assert run(store, log, "--out", tmp_path / "out") == 0
    assert internal_measures(store, tmp_path / "out")["records"]["rejected"] == 1


def test_the_same_file_twice_is_read_once(store: Path, tmp_path: Path) -> None:
    assert run(store, SAMPLE_LOG, SAMPLE_LOG, "--out", tmp_path / "out") == 0
    rows = len(SAMPLE_LOG.read_text().splitlines()) - 1
    assert internal_measures(store, tmp_path / "out")["records"]["read"] == rows


@pytest.mark.parametrize("guarantee", ["strict", "terms", "paper"])
@pytest.mark.parametrize("method", ["adaptive", "paper"])
def test_the_order_of_the_rows_changes_nothing(
    store: Path, tmp_path: Path, guarantee: str, method: str
) -> None:
    header, *rows = SAMPLE_LOG.read_text().splitlines(keepends=True)
    random.Random(5).shuffle(rows)
    (tmp_path / "shuffled.tsv").write_text(header + "".join(rows))
    options = ("--guarantee", guarantee, "--method", method)
    assert run(store, *options, "--out", tmp_path / "a") == 0
    assert run(store, tmp_path / "shuffled.tsv", *options, "--out", tmp_path / "b") == 0
    released = [(tmp_path / name / "release.tsv").read_bytes() for name in "ab"]
    assert released[0] == released[1]


def command(store: Path, out: Path, *arguments: str, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "flows.run", "--store", store, "--out", out, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["sensitive", "all"])
def test_the_hash_seed_changes_nothing(
    new_store: Callable[[], Path], tmp_path: Path, scope: str
) -> None:
    for seed in ("0", "4711"):
        options = ("--bare", "--scope", scope)
        done = command(new_store(), tmp_path / seed, *options, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
    released = [(tmp_path / seed / "release.tsv").read_bytes() for seed in ("0", "4711")]
    assert released[0] == released[1]


def test_interrupted_means_130_and_nothing_published(
    new_store: Callable[[], Path], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "flows.run", "--bare"]
        + ["--store", str(new_store()), "--out", str(tmp_path / "out")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while not process.stdout.readline().startswith("read"):
        pass
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate()
    assert process.returncode == 130
    assert shown.startswith("logveil: interrupted; nothing was published; what was read")
    assert not (tmp_path / "out").exists()


def test_help_teaches() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.run", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for word in ("examples:", "exit codes:", "--guarantee", "--columns", "release.tsv"):
        assert word in done.stdout


def test_a_replaced_release_leaves_nothing_of_the_old_one(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(store, "--out", out, "--release-format", "parquet") == 0
    assert {path.name for path in out.iterdir()} == FILES - {"release.tsv"} | {"release.parquet"}
    (out / ".logveil-999999999").mkdir()
    (out / "rejects.tsv").write_text("of version 0.1")
    assert run(store, "--out", out, "--replace") == 0
    assert {path.name for path in out.iterdir()} == FILES


def test_an_outside_checker_confirms_k(sample_release: Path) -> None:
    """pyCANON on the written rows alone; counting people too is the verifier's work."""
    import pandas
    from pycanon import anonymity

    rows = pandas.read_csv(sample_release / "release.tsv", sep="\t", dtype=str).fillna("")
    quasi_identifiers = ["query", "concepts", "time", "cluster"]
    rows["sensitive"] = "x"
    assert anonymity.k_anonymity(rows, quasi_identifiers) >= 5


def test_rows_of_a_strict_release_are_shared_by_k_rows(sample_release: Path) -> None:
    counts: dict[str, int] = defaultdict(int)
    for line in (sample_release / "release.tsv").read_text().splitlines()[1:]:
        counts[line] += 1
    assert min(counts.values()) >= 5


def test_a_swallowed_interrupt_is_heeded(
    new_store: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that is being imported may swallow the exception that Ctrl-C raises."""
    made = compare_phase.compare_records

    def swallow(*arguments: Any) -> Any:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            signal.sigtimedwait([], 1)
        return made(*arguments)

    monkeypatch.setattr(compare_phase, "compare_records", swallow)
    assert run(new_store(), "--out", tmp_path / "out") == 130
    assert not (tmp_path / "out" / "release.tsv").exists()
    heed_interrupts()  # and what was heeded is over: it must not stop the next run of this process
