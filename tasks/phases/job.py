"""What a release is made of: settings, files, the store, whoever works, and what was published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tasks.adapters.logs.paths import find_files
from tasks.core.counted import Counted
from tasks.core.digests import digest
from tasks.core.part_sizes import PART_SIZES, PartSizes
from tasks.core.records import Ints, Longs
from tasks.core.rows.returning import PublishedRows
from tasks.runtime.executor import Executor
from tasks.runtime.fingerprint import LogFile, log_file
from tasks.runtime.moved_store import take_over
from tasks.runtime.progress import Progress, silent
from tasks.runtime.store import GIGABYTE, Store
from tasks.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """What an edition has published so far, for a release that is appended to it.

    Attributes:
        waiting: rows that wait, by the digest of their file; of other files all rows are new.
        sets: concepts of the edition's clusters, by number - 1.
        releases: its release files.
        counted: what they count, if there is one.
        events: keys of the events that its files have told, ascending, each as often as it counts.
        rows: the rows of those releases: who asked what, and in which class it was published.
        fingerprint: of all that decides the next release beside its file.
    """

    waiting: Mapping[str, Longs]
    sets: tuple[Ints, ...]
    releases: tuple[Path, ...]
    counted: Counted | None
    events: Longs
    rows: PublishedRows
    fingerprint: str


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One release that is to be made.

    Attributes:
        files: of the log, in the order in which they are read.
        appended_to: what the edition holds already; None for a release of its own, which is made
            from all rows.
        in_edition: whether it is one more release of an edition, which is never there already.
        sizes: of the parts into which work is cut.
    """

    settings: Settings
    store: Store
    files: tuple[LogFile, ...] = field(repr=False)
    executor: Executor
    progress: Progress = silent
    appended_to: Published | None = None
    in_edition: bool = False
    sizes: PartSizes = PART_SIZES

    @classmethod
    def of(
        cls,
        settings: Settings,
        executor: Executor,
        progress: Progress = silent,
        *,
        sizes: PartSizes = PART_SIZES,
    ) -> Job:
        """A release of the files that the settings name."""
        given = (settings, open_store(settings), files_of(settings), executor)
        return cls(*given, progress, sizes=sizes)

    def fingerprint(self, *decisive: object) -> str:
        """A name for what these decide, together with what was published before."""
        return digest(*decisive, self.appended_to.fingerprint if self.appended_to else "")


def open_store(settings: Settings) -> Store:
    """The store to release with; it has its secret before anything else that is to last."""
    take_over(Path(settings.store))
    opened = Store(settings.store, int(settings.store_limit * GIGABYTE))
    _ = opened.secret
    return opened


def files_of(settings: Settings) -> tuple[LogFile, ...]:
    """The log files that the settings name, in the order in which they are read."""
    return tuple(map(log_file, find_files(settings.logs)))
