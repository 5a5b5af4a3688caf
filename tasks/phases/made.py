"""A release with everything that led to it, and the ways to publish it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tasks.adapters.release_files import Draft
from tasks.core.records import QueryLog, RecordTable, Release
from tasks.phases.cluster import Clustering
from tasks.phases.compare import Comparison
from tasks.phases.count import Book, Counts
from tasks.phases.job import Job
from tasks.runtime.results import Result
from tasks.schema import FinalMeasures, Measures


@dataclass(frozen=True, slots=True, eq=False)
class MadeRelease:
    """The results of all phases of one release."""

    job: Job
    log: Result[QueryLog]
    table: Result[RecordTable]
    compared: Result[Comparison]
    clustering: Result[Clustering]
    release: Result[Release]
    measures: Result[Measures]
    draft: Result[Draft]
    proven: Result[int]
    counts: Result[Counts] | None

    @property
    def fingerprints(self) -> dict[str, str]:
        """Of the results, by phase."""
        first = (self.log, self.table, self.compared, self.clustering, self.release)
        results = (*first, self.measures, self.draft, self.proven)
        return {result.phase: result.fingerprint for result in results}


class Publication(Protocol):
    """Where a release goes: into a folder of its own, or into an edition.

    Attributes:
        folder: where it will lie.
        label: tells the phases of several releases in one run apart.
        book: of the prices of counts, if counts are asked for.
    """

    @property
    def folder(self) -> Path: ...

    @property
    def label(self) -> str: ...

    @property
    def book(self) -> Book | None: ...

    def facts(self, made: MadeRelease) -> dict[str, object]:
        """What `measures.json` says of the edition; nothing if there is none."""

    def publish(self, made: MadeRelease, measures: FinalMeasures) -> None:
        """Put the verified draft in place, with measures and report."""
