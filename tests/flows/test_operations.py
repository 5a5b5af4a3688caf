"""What an operator relies on: nothing half-done, old editions withdrawn, second tries for disks."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, TypeVar

import cloudpickle
import pytest
from prefect.states import Failed

from flows.batches import FilesPutAside, Outcome
from flows.inbox import main
from flows.release import Phases, make_release
from flows.verify import main as verify
from tasks import steps
from tasks.errors import BadLog, DiskTrouble, InputError
from tasks.phases.publish import InFolder
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Result
from tasks.settings import SAMPLE_LOG, Settings
from tests.helpers.generated import write_parts
from tests.helpers.releases import SCREEN, job_of

T = TypeVar("T")


def test_all_but_the_last_editions_are_withdrawn(new_store: Any, tmp_path: Path) -> None:
    inbox, out, store = tmp_path / "inbox", tmp_path / "out", new_store()
    options = ["--inbox", str(inbox), "--out", str(out), "--store", str(store), "--settle", "0"]
    options += ["--edition", "new", "--keep-editions", "1", "--bare", "--quiet"]
    parts = write_parts(tmp_path / "parts", 2, queries=1000, users=90, seed=5)
    inbox.mkdir()
    for part in parts:
        part.rename(inbox / part.name)
        assert main(options) == 0
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["edition-0002"]
    assert len(list((store / "releases").glob("*/*.npz"))) == 1
    assert verify([str(out / "edition-0002"), "--store", str(store)]) == 0


def test_a_run_that_is_cancelled_leaves_nothing_half_done(new_store: Any, tmp_path: Path) -> None:
    class Cancelled(Phases):
        def run(self, result: Result[T], label: str = "", *after: Result[Any]) -> Result[T]:
            super().run(result, label, *after)
            if result.phase == "write":
                assert list(tmp_path.glob("out/.logveil-*"))
                raise KeyboardInterrupt
            return result

    settings = Settings(logs=(str(SAMPLE_LOG),), out=str(tmp_path / "out"), store=str(new_store()))
    with pytest.raises(KeyboardInterrupt):
        make_release(job_of(settings), InFolder(Path(settings.out)), Cancelled(SCREEN))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE])
def test_a_disk_that_does_not_answer_is_asked_again(number: int) -> None:
    @redacted_errors
    def read() -> None:
        raise OSError(number, "trouble")

    with pytest.raises(DiskTrouble) as caught:
        read()
    assert steps._may_pass(None, None, Failed(data=caught.value))


@pytest.mark.parametrize("fault", [InputError("no such file"), BadLog("no column"), ValueError()])
def test_what_would_fail_again_is_not_tried_again(fault: Exception) -> None:
    assert not steps._may_pass(None, None, Failed(data=fault))


def test_only_phases_that_wait_for_a_disk_are_tried_again() -> None:
    assert set(steps.PAUSES) == {"read", "write", "verify"}
    assert steps.phase.retry_condition_fn is steps._may_pass


def test_the_first_line_says_why_files_were_put_aside() -> None:
    outcome = Outcome(failed={"a.tsv": "verification failed: row 3", "b.tsv": "empty"}, exit_code=5)
    told = FilesPutAside(outcome)
    assert str(told).splitlines() == [
        "put aside: a.tsv: verification failed: row 3",
        "put aside: b.tsv: empty",
        "files: 2 put aside",
    ]
    assert told.exit_code == 5


@pytest.mark.parametrize("name", ["anonymise", "anonymise_inbox", "release_file"])
def test_flows_can_be_sent_to_dask(name: str) -> None:
    """Prefect sends a flow's code with every task; a context variable in it cannot be sent."""
    from flows import anonymise

    assert cloudpickle.dumps(getattr(anonymise, name))
