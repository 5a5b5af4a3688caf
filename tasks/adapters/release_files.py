"""The release on disk: written aside, verified there, then put in place.

`release.tsv` is the commit point: when a new release goes to its folder, the old one is taken
away first and the new one put in place last, so whoever sees it sees all that belongs to it.
What must never be published goes to a private folder in the store instead.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count, islice, pairwise, repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.adapters.descriptors import DESCRIPTORS
from tasks.adapters.manifest import MANIFEST, RELEASE_NAMES, shown
from tasks.adapters.private_folders import discard_own_private, keep_unpublished, open_private
from tasks.adapters.rejects import REJECTS
from tasks.core.arrays import parts_of
from tasks.core.columns import computed
from tasks.core.members import members_of
from tasks.core.records import (
    NO_TIME,
    TIME_DAY,
    TIME_HOUR,
    TIME_MONTH,
    Ints,
    Longs,
    RecordTable,
    Release,
)
from tasks.core.taxonomy import Taxonomy
from tasks.core.texts import TEXTS_AT_A_TIME, Texts
from tasks.errors import InputError, disk_fault
from tasks.runtime.files import (
    LOCK_NAME,
    NOT_FOR_ALL,
    process_lives,
    sync_folder,
    write_private,
)
from tasks.schema import COLUMNS, FinalMeasures

ASIDE = ".logveil-"
TIME_FORMATS = {TIME_HOUR: "h", TIME_DAY: "D", TIME_MONTH: "M"}
ROWS_PER_GROUP = 1 << 20
"""Of a Parquet file; it is written group by group."""
MEASURES, REPORT, CARD, COUNTS = "measures.json", "report.html", "README.md", "counts.tsv"
COUNT_COLUMNS = ("kind", "term", "people")
OTHER_FILES = (MANIFEST, MEASURES, REPORT, *DESCRIPTORS, CARD)
"""In the order in which they are put in place: a README without a manifest is somebody else's."""
OWN_NAMES = frozenset((*OTHER_FILES, COUNTS, *RELEASE_NAMES, REJECTS))
"""All that a release folder may hold; version 0.1 put rejects there as well."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A release that is written but not yet published.

    Attributes:
        folder: what is to be published; inside `out`, so that putting a file in place is a rename.
        private: the release's private folder, where whatever must never be published is put.
    """

    folder: Path
    out: Path
    release_name: str
    private: Path

    @property
    def release_path(self) -> Path:
        return self.folder / self.release_name


def open_draft(out: Path, release_format: str, store: Path) -> Draft:
    """Make the folders to write in; what a killed run left behind is removed."""
    folder = out / f"{ASIDE}{os.getpid()}"
    try:
        out.mkdir(NOT_FOR_ALL, parents=True, exist_ok=True)
        for stale in out.glob(f"{ASIDE}*"):
            if not process_lives(stale.name.removeprefix(ASIDE)):
                shutil.rmtree(stale, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    except OSError as fault:
        raise disk_fault(f"cannot write to --out {out}: {fault.strerror}", fault) from None
    return Draft(folder, out, f"release.{release_format}", open_private(store))


def foreign_names(out: Path) -> list[str]:
    """What lies in a folder and is no part of a release, fit for a line on a screen."""
    names = {path.name for path in out.iterdir()} if out.is_dir() else set()
    own = OWN_NAMES if MANIFEST in names else OWN_NAMES - {CARD}
    foreign = names - own - {LOCK_NAME}
    return sorted(shown(name) for name in foreign if not name.startswith(ASIDE))


def discard_own_draft(out: Path, store: Path) -> None:
    """Remove what this process has written aside."""
    shutil.rmtree(out / f"{ASIDE}{os.getpid()}", ignore_errors=True)
    discard_own_private(store)


def withdraw(draft: Draft, measures: FinalMeasures, digest: str) -> None:
    """Remove a draft of which nothing is published; its private folder keeps figures and rejects.

    Args:
        digest: of the file that it was made for.
    """
    write_private(draft.private / MEASURES, _json(measures))
    keep_unpublished(draft.private, digest)
    discard(draft)
    with suppress(OSError):
        draft.out.rmdir()


def discard(draft: Draft) -> None:
    shutil.rmtree(draft.folder, ignore_errors=True)
    shutil.rmtree(draft.private, ignore_errors=True)


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """What the classes of a release publish, of which there may be millions.

    Attributes:
        queries: the query of each class.
        cells: the different cells of each other column, in the order of text.
        cell_of: which of them each class has, shape (3, classes).
    """

    queries: Texts
    cells: tuple[list[str], ...]
    cell_of: Ints

    def order(self) -> Ints:
        """The classes, ordered by what they publish."""
        return np.lexsort((*self.cell_of[::-1], self.queries.ranks()[1])).astype(np.int32)

    def rows(self, order: Ints | Longs) -> Iterator[Row]:
        """The four columns of each class, in some order."""
        for start in range(0, len(order), TEXTS_AT_A_TIME):
            own = order[start : start + TEXTS_AT_A_TIME]
            others = (
                map(cells.__getitem__, numbers[own].tolist())
                for cells, numbers in zip(self.cells, self.cell_of, strict=True)
            )
            yield from zip(self.queries.strings(own), *others, strict=True)


def write_rows(draft: Draft, release: Release, table: RecordTable, taxonomy: Taxonomy) -> Ints:
    """Write the release, ordered by what its rows publish.

    Returns:
        The record that each row stands for, in the order of the file.
    """
    rendered = render_classes(release, table, taxonomy)
    order = rendered.order()
    rank = np.full(len(order) + 1, -1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    # The last one is that of records of no class.
    rank_of = computed(len(table), np.int32, lambda records: rank[release.class_of[records]])
    # Within a class the canonical order of the records is kept.
    members = members_of(rank_of, len(order))
    # Rows of one class are alike.
    rows = zip(rendered.rows(order), members.sizes.tolist(), strict=True)
    writers = {".parquet": _write_parquet, ".csv": _write_csv, ".tsv": _write_tsv}
    writers[draft.release_path.suffix](draft.release_path, rows)
    return members.rows


def render_classes(release: Release, table: RecordTable, taxonomy: Taxonomy) -> Rendered:
    """The four columns of each class."""
    words, plain, names = table.words.tolist(), taxonomy.words, taxonomy.names

    def query(terms: Ints) -> str:
        return " ".join(words[t] if t >= 0 else str(plain[-1 - t]) for t in terms.tolist())

    def told(concepts: Ints) -> str:
        return ";".join(sorted(str(name) for name in names[concepts]))

    queries = Texts.of(map(query, _ragged(release.term_offsets, release.terms)))
    columns = (
        _numbered(map(told, _ragged(release.concept_offsets, release.concepts))),
        _numbered(_render_times(release.times, release.precisions)),
        _numbered(str(number + 1) if number >= 0 else "" for number in release.clusters),
    )
    return Rendered(
        queries, tuple(cells for cells, _ in columns), np.stack([own for _, own in columns])
    )


def _ragged(offsets: Longs, values: Ints) -> Iterator[Ints]:
    return (values[start:end] for start, end in pairwise(offsets))


def _numbered(cells: Iterable[str]) -> tuple[list[str], Ints]:
    """The different cells, in order, and which of them each is."""
    numbers: dict[str, int] = defaultdict(count().__next__)
    number_of = np.fromiter(map(numbers.__getitem__, cells), dtype=np.int32)
    ordered = sorted(numbers)
    rank = np.empty(len(ordered), dtype=np.int32)
    rank[[numbers[cell] for cell in ordered]] = np.arange(len(ordered), dtype=np.int32)
    return ordered, rank[number_of]


def _render_times(times: Longs, precisions: Ints) -> Iterator[str]:
    for part in parts_of(len(times)):
        rendered = np.full(len(times[part]), "", dtype="U16")
        for precision, unit in TIME_FORMATS.items():
            chosen = (precisions[part] == precision) & (times[part] != NO_TIME)
            if chosen.any():
                cut = times[part][chosen].astype("datetime64[s]").astype(f"datetime64[{unit}]")
                rendered[chosen] = np.char.replace(np.datetime_as_string(cut), "T", " ")
        yield from rendered.tolist()


Row = tuple[str, str, str, str]
Rows = Iterable[tuple[Row, int]]
"""Different rows, and how often each stands there."""


def _write_tsv(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\t".join(COLUMNS) + "\n")
        for row, count in rows:
            stream.writelines(repeat("\t".join(row) + "\n", count))


def _write_csv(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row, count in rows:
            writer.writerows(repeat(row, count))


def _write_parquet(path: Path, rows: Rows) -> None:
    fields = [
        pa.field(name, pa.string(), metadata={"description": said})
        for name, said in COLUMNS.items()
    ]
    repeated = chain.from_iterable(repeat(row, count) for row, count in rows)
    groups = iter(lambda: list(islice(repeated, ROWS_PER_GROUP)), [])
    with pq.ParquetWriter(path, pa.schema(fields)) as writer:
        # A file without rows has a group, too.
        for some in chain([next(groups, [])], groups):
            columns = zip(*some, strict=True) if some else [[] for _ in COLUMNS]
            arrays = [pa.array(column, type=pa.string()) for column in columns]
            writer.write_table(pa.table(arrays, schema=writer.schema))


def render_counts(counts: Iterable[tuple[str, str, int]]) -> bytes:
    """Counts of terms as a file: kind, term, people; ordered by what it tells."""
    rows = [COUNT_COLUMNS, *((kind, term, str(own)) for kind, term, own in sorted(counts))]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def faults_of_counts(path: Path, k: int) -> list[str]:
    """What is wrong with a file of counts: its form, or a count of fewer than k people."""
    try:
        head, *rows = path.read_text(encoding="utf-8").split("\n")[:-1]
        told = [int(row.split("\t")[2]) for row in rows]
    except (OSError, ValueError, IndexError):
        return ["it cannot be read as counts"]
    faults = [] if head == "\t".join(COUNT_COLUMNS) else ["its first line is another"]
    few = sum(people < k for people in told)
    return faults + ([f"{few} counts are of fewer than {k} people"] if few else [])


def write_measures(draft: Draft, public: FinalMeasures, internal: FinalMeasures) -> None:
    """The public ones go beside the release, the internal ones to the store."""
    (draft.folder / MEASURES).write_bytes(_json(public))
    write_private(draft.private / MEASURES, _json(internal))


def _json(measures: FinalMeasures) -> bytes:
    return (json.dumps(measures, indent=2, ensure_ascii=False) + "\n").encode()


def put_whole(draft: Draft, folder: Path) -> None:
    """Make the draft's folder the release's, by one rename."""
    try:
        _sync_files(draft)
        os.rename(draft.folder, folder)
        folder.chmod(0o755)
        sync_folder(folder.parent)
    except OSError as fault:
        raise InputError(f"cannot publish to --out {draft.out}: {fault.strerror}") from None


def publish(draft: Draft) -> None:
    """Put the files in place, `release.*` last."""
    try:
        _sync_files(draft)
        for old in (*RELEASE_NAMES, REJECTS, COUNTS):
            (draft.out / old).unlink(missing_ok=True)
        sync_folder(draft.out)
        counted = [COUNTS] if (draft.folder / COUNTS).exists() else []
        for name in (*counted, *OTHER_FILES, draft.release_name):
            os.replace(draft.folder / name, draft.out / name)
        sync_folder(draft.out)
    except OSError as fault:
        raise InputError(f"cannot publish to --out {draft.out}: {fault.strerror}") from None
    finally:
        discard(draft)


def _sync_files(draft: Draft) -> None:
    """What is in place after a rename must be on the disk before it, and not for all to write."""
    for path in draft.folder.iterdir():
        with path.open("rb") as stream:
            os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode) & NOT_FOR_ALL)
            os.fsync(stream.fileno())
