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
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.adapters.descriptors import DESCRIPTORS
from tasks.adapters.manifest import MANIFEST, RELEASE_NAMES, shown
from tasks.adapters.private_folders import discard_own_private, keep_unpublished, open_private
from tasks.adapters.rejects import REJECTS
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


def write_rows(draft: Draft, release: Release, table: RecordTable, taxonomy: Taxonomy) -> Ints:
    """Write the release, ordered by what its rows publish.

    Returns:
        The record that each row stands for, in the order of the file.
    """
    texts = render_classes(release, table, taxonomy)
    order = sorted(range(len(texts)), key=texts.__getitem__)
    records = np.flatnonzero(release.published).astype(np.int32)
    sizes = np.bincount(release.class_of[records], minlength=len(order))[order].tolist()
    # Rows of one class are alike.
    rows = zip((texts[index] for index in order), sizes, strict=True)
    writers = {".parquet": _write_parquet, ".csv": _write_csv, ".tsv": _write_tsv}
    writers[draft.release_path.suffix](draft.release_path, rows)
    del texts
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    # Within a class the canonical order of the records is kept.
    return records[np.argsort(rank[release.class_of[records]], kind="stable")]


def render_classes(
    release: Release, table: RecordTable, taxonomy: Taxonomy
) -> list[tuple[str, str, str, str]]:
    """The four columns of each class."""
    words, plain, names = table.words.tolist(), taxonomy.words, taxonomy.names
    times = _render_times(release.times, release.precisions)
    known: dict[str, str] = {}
    rows = []
    for index in range(release.class_count):
        terms = release.terms[release.term_offsets[index] : release.term_offsets[index + 1]]
        concepts = release.concepts[
            release.concept_offsets[index] : release.concept_offsets[index + 1]
        ]
        query = " ".join(words[t] if t >= 0 else str(plain[-1 - t]) for t in terms.tolist())
        cluster = int(release.clusters[index])
        told = ";".join(sorted(str(name) for name in names[concepts]))
        number = str(cluster + 1) if cluster >= 0 else ""
        # Many classes have these cells in common.
        told, time, number = (known.setdefault(cell, cell) for cell in (told, times[index], number))
        rows.append((query, told, time, number))
    return rows


def _render_times(times: Longs, precisions: Ints) -> list[str]:
    rendered = np.full(len(times), "", dtype="U16")
    for precision, unit in TIME_FORMATS.items():
        chosen = (precisions == precision) & (times != NO_TIME)
        if chosen.any():
            cut = times[chosen].astype("datetime64[s]").astype(f"datetime64[{unit}]")
            rendered[chosen] = np.char.replace(np.datetime_as_string(cut), "T", " ")
    return [str(text) for text in rendered]


Rows = Iterable[tuple[tuple[str, str, str, str], int]]
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
