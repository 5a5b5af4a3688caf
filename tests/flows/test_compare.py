"""`python -m flows.compare` on real files: what it writes, says, and keeps to itself."""

from __future__ import annotations

import copy
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from flows import compare
from flows.run import main as release
from tasks.adapters.pages.numbers import percent, share
from tasks.adapters.pages.svg import NAMESPACE
from tasks.evaluation.catalogue import METHODS
from tasks.evaluation.comparison import KS
from tasks.evaluation.figures import FIGURES, figures
from tasks.evaluation.page import write_comparison
from tests.adapters.report.test_report import check, pictures
from tests.helpers.figures import internal_report
from tests.helpers.generated import write_parts
from tests.helpers.services import wait_for
from tests.helpers.stores import prepared_store

ROOT = Path(__file__).parents[2]
NAMES = [figure.name for figure in FIGURES]
CANARY_WORD, CANARY_USER = "zyxwvcanary", "918273645546372819"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small generated log with a word and a user that must be found nowhere afterwards."""
    folder = tmp_path_factory.mktemp("log")
    (path,) = write_parts(folder, 1, queries=700, users=120, seed=5)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"{CANARY_USER}\t{CANARY_WORD} lung cancer\t2006-03-01 10:00:00\t\t\n")
    return path


@pytest.fixture(scope="module")
def out(log: Path, store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "comparison"
    assert run(log, store, out) == 0
    return out


def run(log: Path, store: Path, out: Path, *more: str) -> int:
    places = ["--store", str(store), "--out", str(out)]
    return compare.main([str(log), *places, "--bare", "--quiet", "--workers", "1", *more])


@pytest.fixture(scope="module")
def found(out: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    return loaded


def test_every_method_at_every_k_and_every_figure(out: Path, found: dict[str, Any]) -> None:
    assert list(found["methods"]) == [method.name for method in METHODS]
    ks = [str(k) for k in KS if k <= found["records"]["people"]]
    assert all(list(method["by_k"]) == ks for method in found["methods"].values())
    files = {path.name for path in out.iterdir()}
    assert files == {"comparison.json", "comparison.html", *(f"{name}.svg" for name in NAMES)}


def test_every_figure_is_on_the_page_and_a_picture_that_stands_alone(out: Path) -> None:
    page = (out / "comparison.html").read_text(encoding="utf-8")
    assert list(pictures(page)) == NAMES
    for name, drawn in pictures(page).items():
        alone = ElementTree.fromstring((out / f"{name}.svg").read_bytes())
        assert alone.tag == f"{{{NAMESPACE}}}svg"
        # The same picture, with a style of its own before it.
        assert len(alone) == len(drawn) + 1 > 30


def test_the_page_is_complete_and_opens_without_a_network(out: Path, found: dict[str, Any]) -> None:
    page = (out / "comparison.html").read_text(encoding="utf-8")
    check(page)
    assert page.count("<figure>") == page.count("<svg ") == len(FIGURES)
    assert all(f"<dt>{name}</dt>" in page for name in found["methods"])
    assert all(peer.get("reason", "") in page for peer in found["peers"])


@pytest.mark.slow
def test_the_same_log_gives_the_same_numbers_and_pictures(
    log: Path, store: Path, out: Path, found: dict[str, Any], tmp_path: Path
) -> None:
    assert run(log, store, tmp_path) == 0
    again = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert without_seconds(again) == without_seconds(found)
    for name in NAMES:
        one, other = out / f"{name}.svg", tmp_path / f"{name}.svg"
        assert one.read_bytes() == other.read_bytes(), name


def without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_seconds(v) for name, v in value.items() if "seconds" not in name}
    return [without_seconds(item) for item in value] if isinstance(value, list) else value


def test_nothing_of_the_log_is_in_the_files(out: Path) -> None:
    for path in out.iterdir():
        content = path.read_bytes().lower()
        assert CANARY_WORD.encode() not in content
        assert CANARY_USER.encode() not in content


def test_ours_holds_k_and_the_fronts_say_who_beats_whom(found: dict[str, Any]) -> None:
    for k, cell in found["methods"]["adaptive"]["by_k"].items():
        # Fifty of so few people share nothing: then nothing is published.
        assert cell["least_people"] >= int(k) or cell["rows_published"] == 0
        assert cell["records_below_k"] == 0
        for front in found["fronts"].values():
            beaten = front[k]["adaptive_beaten_by"]
            assert ("adaptive" in front[k]["front"]) == (not beaten)


def test_a_method_that_publishes_nothing_does_not_stop_the_figures(found: dict[str, Any]) -> None:
    emptied = copy.deepcopy(found)
    paper = emptied["methods"]["paper"]
    paper["figures"] = {key: [] for key in paper["figures"]}
    paper["by_k"]["5"]["risk"] = 0.0
    assert all(figure.drawn for figure in figures(emptied))


def test_the_internal_certificate_tells_how_k_would_change_it_and_no_public_byte_does(
    log: Path, store: Path, found: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    never_compared, pages, public = prepared_store(tmp_path / "store", store), [], []
    for name, own in (("compared", store), ("never compared", never_compared)):
        folder = tmp_path / name
        places = ["--store", str(own), "--out", str(folder)]
        assert release([str(log), *places, "--bare", "--quiet"]) == 0
        pages.append(internal_report(own, folder))
        public.append({path.name: path.read_bytes() for path in folder.iterdir()})
    told = "; ".join(
        f"k = {k}: {share(cell['rows_published'])} and {percent(cell['information_kept'])}"
        for k, cell in found["methods"]["adaptive"]["by_k"].items()
    )
    assert told in pages[0]
    assert "How k would change it" in pages[0]
    assert "stands here if" not in pages[0]
    assert "How k would change it" not in pages[1]
    assert "stands here if the log was given to <code>logveil compare</code>" in pages[1]
    assert public[0] == public[1]


def test_options_of_a_release_are_refused(log: Path, store: Path, tmp_path: Path) -> None:
    for option in ("--method", "--guarantee", "--l", "--release-format"):
        with pytest.raises(SystemExit) as stopped:
            run(log, store, tmp_path, option, "mdav")
        assert stopped.value.code == 2


@pytest.mark.slow
@pytest.mark.prefect
def test_under_prefect_every_method_is_a_task_and_nothing_leaks(
    log: Path, store: Path, found: dict[str, Any], tmp_path: Path
) -> None:
    home, out = tmp_path / "prefect", tmp_path / "out"
    command = [sys.executable, "-m", "flows.compare", str(log), "--out", str(out), "--quiet"]
    plain = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    environment = {**plain, "PREFECT_HOME": str(home)}
    subprocess.run([*command, "--store", str(store)], cwd=ROOT, env=environment, check=True)
    made = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    assert without_seconds(made) == without_seconds(found)
    database = sqlite3.connect(home / "prefect.db")
    tasks = database.execute("select name from task_run where state_name = 'Completed'")
    assert {name for (name,) in tasks} >= {method.name for method in METHODS}
    for path in filter(Path.is_file, home.rglob("*")):
        content = path.read_bytes()
        assert CANARY_WORD.encode() not in content, path.name
        assert CANARY_USER.encode() not in content, path.name


def test_too_few_people_is_said(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Enough people in the log, too few of them with attributes."""
    log = tmp_path / "log.tsv"
    rows = [f"{user}\tqwerty\t2006-03-01 10:00:00\n" for user in range(1, 10)]
    log.write_text("AnonID\tQuery\tQueryTime\n" + "".join(rows) + rows[0].replace("qwerty", "flu"))
    assert run(log, store, tmp_path / "out") == 4
    assert "1 users hold attributes, k = 5" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("moved", [0, 5])
def test_interrupted_while_it_writes_it_leaves_nothing(
    found: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    """Before the first file is put in place, and after some."""
    out, replace, left = tmp_path / "out", Path.replace, iter(range(moved))

    def interrupt(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_comparison(out, found)
    assert not out.exists()


INTERRUPTED_IN_TEXT = """
import sys
from flows.process import interrupted
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    sys.exit(interrupted("nothing remains"))
"""


def test_an_interrupt_among_imports_is_no_death_by_signal() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IN_TEXT], cwd=ROOT, check=False)
    assert done.returncode == 130


@pytest.mark.slow
@pytest.mark.prefect
@pytest.mark.parametrize(
    ("moment", "how"),
    [*((moment, "--bare") for moment in ("logveil:", "read", "compare", "wgm")), ("semantic", "")],
)
def test_interrupted_it_leaves_nothing(
    log: Path, new_store: Callable[[], Path], tmp_path: Path, moment: str, how: str
) -> None:
    """Ctrl-C, which reaches every process of a terminal, once a line of the progress is there."""
    out, temporary, home = (tmp_path / name for name in ("out", "temporary", "prefect"))
    temporary.mkdir()
    plain = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "flows.compare", str(log), "--workers", "2", *how.split()]
        + ["--store", str(new_store()), "--out", str(out)],
        cwd=ROOT,
        env={**plain, "PREFECT_HOME": str(home), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    while not process.stdout.readline().startswith(moment):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, shown = process.communicate()
    assert process.returncode == 130
    assert "logveil: interrupted; no comparison was written" in shown
    wait_for("the end of all that it started", lambda: not session_lives(process.pid))
    assert not out.exists()
    assert list(temporary.iterdir()) == []


def session_lives(session: int) -> bool:
    """Whether any process of a session is there."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True


WITHOUT_RAPIDFUZZ = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "rapidfuzz":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from flows.compare import main
sys.exit(main(["--bare", "--quiet"]))
"""


def test_without_its_extra_it_says_what_to_install() -> None:
    command = [sys.executable, "-c", WITHOUT_RAPIDFUZZ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'logveil[compare]'" in done.stderr
