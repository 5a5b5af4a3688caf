"""Releases made in this process, with everything that led to them."""

from __future__ import annotations

from pathlib import Path

from flows.display import Screen
from flows.release import Phases, make_release
from tasks.core.part_sizes import PART_SIZES, PartSizes
from tasks.phases.job import Job
from tasks.phases.made import MadeRelease, Publication
from tasks.phases.publish import InFolder
from tasks.runtime.executor import Executor, LocalExecutor
from tasks.schema import FinalMeasures
from tasks.settings import Settings

SCREEN = Screen(quiet=True, stderr=True)


class Watched(Phases):
    """Phases as they are, whose results can be looked at afterwards."""

    made: MadeRelease

    def __init__(self) -> None:
        super().__init__(SCREEN)

    def publish(self, publication: Publication, made: MadeRelease, measures: FinalMeasures) -> None:
        self.made = made
        super().publish(publication, made, measures)


def job_of(
    settings: Settings, executor: Executor | None = None, sizes: PartSizes = PART_SIZES
) -> Job:
    return Job.of(settings, executor or LocalExecutor(settings.workers), sizes=sizes)


def released(
    settings: Settings, executor: Executor | None = None, sizes: PartSizes = PART_SIZES
) -> tuple[MadeRelease, FinalMeasures]:
    """A release of its own, as `flows.run --bare` makes it."""
    phases = Watched()
    job = job_of(settings, executor, sizes)
    measures = make_release(job, InFolder(Path(settings.out)), phases)
    return phases.made, measures
