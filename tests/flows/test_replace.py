"""One folder, several runs: what is replaced, what is not, and that nothing of two is mixed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows import release as release_flow
from flows.run import main
from flows.verify import main as verify
from tasks.phases import write as write_phase
from tasks.runtime.files import locked
from tests.flows.test_audit import write_log

ROOT = Path(__file__).parent.parent.parent
BOTH_WAYS = ("--replace", "another --out")
KILLED_AT = """
import os, sys
from flows.run import main
from tasks.adapters import private_folders, release_files

left = int(sys.argv[1])
def counted(act):
    def acting(*given):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return act(*given)
    return acting
private_folders.expect = counted(private_folders.expect)
private_folders.register = counted(private_folders.register)
release_files.sync_folder = counted(release_files.sync_folder)
os.replace = counted(os.replace)
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "log.tsv", seed=1)


@pytest.fixture
def out(tmp_path: Path, store: Path, log: Path) -> Path:
    """A folder that holds a release of the log, k = 4."""
    assert run(log, tmp_path / "out", store) == 0
    return tmp_path / "out"


def command(log: Path, out: Path, store: Path, *options: str, k: int = 4) -> list[str]:
    common = ["--bare", "--k", str(k), "--store", str(store)]
    return [str(log), "--out", str(out), *common, *options]


def run(log: Path, out: Path, store: Path, *options: str, k: int = 4) -> int:
    return main(command(log, out, store, "--quiet", *options, k=k))


def stamps(out: Path) -> dict[str, tuple[int, int]]:
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in out.iterdir()}


def assert_belongs_together(out: Path, store: Path, k: int) -> None:
    assert verify([str(out), "--store", str(store)]) == 0
    for name in ("manifest.json", "measures.json"):
        assert json.loads((out / name).read_text())["settings"]["k"] == k, name


def test_the_same_again_replaces_nothing(log: Path, out: Path, store: Path) -> None:
    before = stamps(out)
    assert run(log, out, store) == 0
    assert stamps(out) == before


def test_other_settings_are_refused_before_any_work(
    log: Path,
    out: Path,
    store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(release_flow, "make_release", lambda *_: pytest.fail("worked"))
    before = stamps(out)
    assert run(log, out, store, k=5) == 2
    assert all(way in capsys.readouterr().err for way in BOTH_WAYS[:1])
    assert stamps(out) == before


def other_log(log: Path, out: Path) -> None:
    write_log(log, seed=2)


def tampered(log: Path, out: Path) -> None:
    (out / "report.html").write_text("mine")


def of_version_0_1(log: Path, out: Path) -> None:
    (out / "manifest.json").unlink()
    (out / "README.md").unlink()
    (out / "rejects.tsv").write_text("file\trow\treason\n")


@pytest.mark.parametrize("change", [other_log, tampered, of_version_0_1])
def test_another_release_is_replaced_only_if_that_is_said(
    change: Callable[[Path, Path], None],
    log: Path,
    out: Path,
    store: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(log, out)
    before = stamps(out)
    assert run(log, out, store) == 2
    said = capsys.readouterr().err
    assert all(way in said for way in BOTH_WAYS)
    assert stamps(out) == before
    assert run(log, out, store, "--replace") == 0
    assert_belongs_together(out, store, 4)
    assert not (out / "rejects.tsv").exists()


def test_a_release_of_another_store_is_replaced_only_if_that_is_said(
    log: Path, out: Path, store: Path, new_store: Callable[[], Path]
) -> None:
    other = new_store()
    assert run(log, out, other) == 2
    assert run(log, out, other, "--replace") == 0
    assert_belongs_together(out, other, 4)


def test_the_same_command_after_an_update_makes_it_anew(
    log: Path, out: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever types the first command of the README again after `git pull`."""
    before = stamps(out)
    monkeypatch.setattr(write_phase, "code_fingerprint", lambda module: "of a newer version")
    assert run(log, out, store) == 0
    assert stamps(out)["release.tsv"] != before["release.tsv"]
    assert verify([str(out), "--store", str(store)]) == 0


def test_replace_makes_it_anew_whatever_lies_there(log: Path, out: Path, store: Path) -> None:
    before = stamps(out)
    assert run(log, out, store, "--replace") == 0
    assert stamps(out)["release.tsv"] != before["release.tsv"]
    assert run(log, out, store, "--replace", k=5) == 0
    assert_belongs_together(out, store, 5)


def test_a_folder_of_somebody_elses_files_is_never_used(
    log: Path, tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here that of the raw log itself: it would lie beside the release."""
    for options in ((), ("--replace",)):
        assert run(log, tmp_path, store, *options) == 2
        assert "holds what is no part of a release (log.tsv)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]


def start(log: Path, out: Path, store: Path, *options: str, k: int) -> subprocess.Popen[str]:
    line = [sys.executable, "-u", "-m", "flows.run", *command(log, out, store, *options, k=k)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(line, cwd=ROOT, text=True, **streams)  # type: ignore[call-overload,no-any-return]


def started_at_once(log: Path, out: Path, store: Path, *options: str) -> list[tuple[int, str, str]]:
    """Two runs with other k, which both wait for the folder; exit code and what each says."""
    with locked(out, lambda: pytest.fail("nobody is there")):
        runs = [start(log, out, store, *options, k=k) for k in (3, 8)]
        for each in runs:
            assert each.stdout is not None
            while "another run is at work" not in (line := each.stdout.readline()):
                assert line, "it did not wait"
    ends = [each.communicate() for each in runs]
    return [(each.returncode, *end) for each, end in zip(runs, ends, strict=True)]


def test_two_runs_on_one_folder_wait_for_each_other(log: Path, tmp_path: Path, store: Path) -> None:
    out = tmp_path / "out"
    ends = started_at_once(log, out, store, "--replace")
    assert [code for code, _, _ in ends] == [0, 0], ends
    k = json.loads((out / "manifest.json").read_text())["settings"]["k"]
    assert k in (3, 8)
    assert_belongs_together(out, store, k)


def test_without_replace_the_second_of_two_is_refused(
    log: Path, tmp_path: Path, store: Path
) -> None:
    out = tmp_path / "out"
    ends = started_at_once(log, out, store)
    assert sorted(code for code, _, _ in ends) == [0, 2]
    (k,) = (k for k, (code, _, _) in zip((3, 8), ends, strict=True) if code == 0)
    assert_belongs_together(out, store, k)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(12))
def test_killed_on_the_way_from_one_release_to_another(
    step: int, log: Path, out: Path, store: Path
) -> None:
    """The earlier one, or none, or the new one: never a mix."""
    line = [sys.executable, "-c", KILLED_AT, str(step)]
    done = subprocess.run(
        [*line, *command(log, out, store, "--replace", k=5)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, -9), done.stderr
    shutil.rmtree(out / f".logveil-{os.getpid()}", ignore_errors=True)
    if (out / "release.tsv").exists():
        for left in out.glob(".logveil-*"):
            shutil.rmtree(left)
        k = json.loads((out / "manifest.json").read_text())["settings"]["k"]
        assert_belongs_together(out, store, k)
        assert run(log, out, store, k=k) == 0
    else:
        assert run(log, out, store, k=5) == 0, "nothing is there that could be replaced"
        assert_belongs_together(out, store, 5)
