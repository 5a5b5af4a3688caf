"""What the verifier judges a release by: the file as read back, and the people behind its rows.

Nothing here is shared with redaction or with the writer; what the verifier knows of the format
is written down a second time, on purpose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import numpy as np

from tasks.core.records import Flags, Ints, Longs, freeze

COLUMNS: Final = ("query", "concepts", "time", "cluster")
QUERY, CONCEPTS, TIME, CLUSTER = range(4)
EXAMPLES: Final = 3


@dataclass(frozen=True)
class Promise:
    """What a release promises, and what became of the records that were read for it."""

    guarantee: str
    k: int
    l: int  # noqa: E741 - the literature's name, and the option's
    read: int
    rejected: int
    withheld: int
    published: int


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A release as read back; rows that publish the same are judged once, as a class.

    Attributes:
        header, rows: the file's columns and what stands below them.
        users, sets: person and original attribute set (-1: none) behind each row.
        promise: what was promised.
        classes: the distinct rows of four fields.
        class_of: class of each row, or -1 for a row of more or fewer fields.
        cluster_of_class: cluster of each class, numbered from 0, or -1 for none.
        plain_words: gives the words of a concept, None if there is no such concept.
        find_identifiers: gives the direct identifiers in a text.
    """

    header: Sequence[str] = field(repr=False)
    rows: Sequence[tuple[str, ...]] = field(repr=False)
    users: Ints = field(repr=False)
    sets: Ints = field(repr=False)
    promise: Promise
    classes: Sequence[tuple[str, ...]] = field(repr=False)
    class_of: Longs = field(repr=False)
    cluster_of_class: Longs = field(repr=False)
    plain_words: Callable[[str], str | None]
    find_identifiers: Callable[[str], Sequence[object]]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def people_known(self) -> bool:
        """Whether each row has exactly one entry in the side table."""
        return len(self.rows) == len(self.users) == len(self.sets)

    @property
    def readable(self) -> Flags:
        """Rows of four fields, shape of `rows`."""
        return self.class_of >= 0

    @property
    def cluster_of(self) -> Longs:
        """Cluster of each row, or -1, shape of `rows`."""
        return np.append(self.cluster_of_class, -1)[self.class_of]


def classify(rows: Sequence[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], Longs]:
    """The distinct rows of four fields, and which of them each row is (-1: none)."""
    numbers: dict[tuple[str, ...], int] = defaultdict(count().__next__)
    width = len(COLUMNS)
    class_of = np.fromiter(
        (numbers[row] if len(row) == width else -1 for row in rows), dtype=np.int64, count=len(rows)
    )
    return list(numbers), class_of


def numbered(values: Iterable[str], none: str | None = None) -> Longs:
    """Equal values get equal numbers from 0 on; the value `none` gets -1."""
    numbers: dict[str | None, int] = defaultdict(count().__next__, {none: -1})
    return np.fromiter(map(numbers.__getitem__, values), dtype=np.int64)


def distinct_members(groups: Longs, members: Ints | Longs) -> Longs:
    """How many distinct members each group 0, 1, … has; negative ones are no group, no member."""
    counted = (groups >= 0) & (members >= 0)
    width = int(members.max(initial=0)) + 1
    pairs = np.unique(groups[counted] * width + members[counted])
    return np.bincount(pairs // width, minlength=int(groups.max(initial=-1)) + 1)


def rows_of_groups(groups: Longs, chosen: Flags) -> Flags:
    """Mark the rows that belong to a chosen group, shape of `groups`."""
    # Group -1 picks the last entry: a row of no group is never marked.
    return np.append(chosen, False)[groups]


def in_rows(broken: Flags) -> str | None:
    """How many rows break a clause and which are the first; None if none does.

    Row 1 is the first below the header. No cell is quoted: it may be a leaked name.
    """
    places = np.flatnonzero(broken)
    if not len(places):
        return None
    first = [str(place + 1) for place in places[:EXAMPLES].tolist()]
    more = ["..."] if len(places) > EXAMPLES else []
    noun = "row" if len(places) == 1 else "rows"
    return f"broken by {len(places)} {noun} ({', '.join(first + more)})"


def in_classes(evidence: Evidence, broken: Iterable[bool]) -> str | None:
    """The same for a clause that was judged on every class."""
    flags = np.fromiter(broken, dtype=np.bool_, count=len(evidence.classes))
    return in_rows(rows_of_groups(evidence.class_of, flags))


def in_cells(evidence: Evidence, column: int, breaks: Callable[[str], bool]) -> str | None:
    """The same for a clause on one column, of which every distinct cell is judged once."""
    cells = [row[column] for row in evidence.classes]
    verdicts = {cell: breaks(cell) for cell in set(cells)}
    return in_classes(evidence, map(verdicts.__getitem__, cells))


def shared_by_too_few(groups: Longs, members: Ints, least: int) -> str | None:
    """The same for a clause that wants `least` distinct members behind every group of rows."""
    return in_rows(rows_of_groups(groups, distinct_members(groups, members) < least))
