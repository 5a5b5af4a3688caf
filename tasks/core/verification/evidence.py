"""What the verifier judges a release by: the file as read back, and the people behind its rows.

Nothing here is shared with redaction or with the writer; what the verifier knows of the format
is written down a second time, on purpose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from tasks.core.counted import PEOPLE, Counted
from tasks.core.records import AttributeSets, Flags, Ints, Longs, freeze
from tasks.core.taxonomy import Taxonomy

COLUMNS: Final = ("query", "concepts", "time", "cluster")
"""Each is taken for a quasi-identifier: an adversary may know what stands in any of them."""
QUERY, CONCEPTS, TIME, CLUSTER = range(4)
EXAMPLES: Final = 3
PART: Final = 1 << 17
"""Rows that are looked at together where each takes more than a few bytes."""
Row = tuple[str, ...]


@dataclass(frozen=True)
class Promise:
    """What a release promises, and what became of the records that were read for it.

    Attributes:
        dominance: the greatest share that one person has of rows that belong together; 1: any.
        rounding: whether as many rows read alike as a multiple of k.
    """

    guarantee: str
    k: int
    l: int  # noqa: E741 - the literature's name, and the option's
    time: str
    read: int
    rejected: int
    withheld: int
    published: int
    dominance: float = 1.0
    rounding: bool = False
    counted: Counted = PEOPLE


class Behind(NamedTuple):
    """Who stands behind the rows of a release, and with which concepts.

    Attributes:
        users: the person behind each row, shape (n,).
        units: a keyed hash of that person and the text they asked, shape (n,).
        sets: an opaque number of each row's original sensitive set, or -1, shape (n,).
        mentions: which of the sets below each row's record mentions, shape (n,).
        mentioned: sets of concepts; all that a query mentions, each once.
    """

    users: Ints
    units: Longs
    sets: Ints
    mentions: Ints
    mentioned: AttributeSets


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """The rows of a file: there may be millions, but of few kinds.

    Attributes:
        distinct: the different rows, in the order in which they first appear.
        number_of: which of these each row is, shape (n,).
    """

    distinct: Sequence[Row] = field(repr=False)
    number_of: Ints = field(repr=False)

    @classmethod
    def of(
        cls, lines: Iterable[Hashable], cells: Callable[[Any], Iterable[str]] = tuple
    ) -> FileRows:
        """Rows from whatever stands for them, of which the cells are looked at once."""
        numbers: dict[Hashable, int] = defaultdict(count().__next__)
        number_of = np.fromiter(map(numbers.__getitem__, lines), dtype=np.int32)
        # Cells of different rows are often the same.
        known: dict[str, str] = {}
        distinct = [tuple(known.setdefault(c, c) for c in cells(line)) for line in numbers]
        return cls(distinct, number_of)

    def __len__(self) -> int:
        return len(self.number_of)

    def __iter__(self) -> Iterator[Row]:
        return map(self.distinct.__getitem__, self.number_of)

    @property
    def sizes(self) -> Longs:
        """How often each distinct row stands there."""
        return np.bincount(self.number_of, minlength=len(self.distinct))


class ReadBack(NamedTuple):
    """A release as it was read back, and who stands behind its rows.

    Attributes:
        header: names of the columns.
        rows: the rows below it, in the order of the file.
        behind: who stands behind them.
        promise: what the release promises.
    """

    header: Sequence[str]
    rows: FileRows
    behind: Behind
    promise: Promise


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What the verifier knows of the world.

    Attributes:
        taxonomy: the concepts that there are, and what lies above each.
        find_identifiers: gives the direct identifiers in a text.
        stop_words: words that say nothing by themselves.
        numbers: the number of each concept, by its name.
    """

    taxonomy: Taxonomy
    find_identifiers: Callable[[str], Sequence[object]]
    stop_words: frozenset[str] = field(repr=False)
    numbers: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numbers = {name: number for number, name in enumerate(self.taxonomy.names.tolist())}
        object.__setattr__(self, "numbers", numbers)

    def plain_words(self, name: str) -> str | None:
        """The words of a concept, None if there is no such concept."""
        number = self.numbers.get(name)
        return None if number is None else str(self.taxonomy.words[number])


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A release as read back; rows that publish the same are judged once, as a class.

    Attributes:
        header: the file's columns.
        files: what stands below them in each release.
        behind: who stands behind each row.
        promise: what was promised.
        classes: the distinct rows of four fields.
        class_of: class of each row, or -1 for a row of more or fewer fields.
        cluster_of_class: cluster of each class, numbered from 0, or -1 for none.
        knowledge: what is known beside these.
        starts: first row of each release, if several are judged together.
    """

    header: Sequence[str] = field(repr=False)
    files: Sequence[FileRows] = field(repr=False)
    behind: Behind = field(repr=False)
    promise: Promise
    classes: Sequence[Row] = field(repr=False)
    class_of: Ints = field(repr=False)
    cluster_of_class: Ints = field(repr=False)
    knowledge: Knowledge
    starts: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(cls, releases: Sequence[ReadBack], promise: Promise, knowledge: Knowledge) -> Evidence:
        """One release, or several as if they were one; the columns are then the first one's."""
        files = [release.rows for release in releases]
        classes, class_of = classify(files)
        return cls(
            header=releases[0].header,
            files=files,
            behind=_all_behind([release.behind for release in releases]),
            promise=promise,
            classes=classes,
            class_of=class_of,
            cluster_of_class=numbered((row[CLUSTER] for row in classes), none=""),
            knowledge=knowledge,
            starts=tuple(accumulate([0, *map(len, files[:-1])])),
        )

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.class_of)

    @property
    def people_known(self) -> bool:
        """Whether each row has exactly one entry in the provenance."""
        users, units, sets, mentions, _ = self.behind
        lengths = {len(users), len(units), len(sets), len(mentions)}
        return lengths == {len(self)}

    @property
    def class_in_release(self) -> Longs:
        """The class of each row, or 0, but another one in every release, shape (n,)."""
        own = self.class_of.astype(np.int64)
        for number, (start, file) in enumerate(zip(self.starts, self.files, strict=True)):
            own[start : start + len(file)] += number * (len(self.classes) + 1) + 1
        return own

    @property
    def readable(self) -> Flags:
        """Rows of four fields, shape (n,)."""
        return self.class_of >= 0

    @property
    def cluster_of(self) -> Ints:
        """Cluster of each row, or -1, shape (n,)."""
        return np.append(self.cluster_of_class, np.int32(-1))[self.class_of]

    def row_name(self, place: int) -> str:
        """What a row is called in a fault; row 1 is the first below its file's header."""
        release = bisect_right(self.starts, place)
        number = place - self.starts[release - 1] + 1
        return f"release {release} row {number}" if len(self.starts) > 1 else str(number)


def _all_behind(parts: Sequence[Behind]) -> Behind:
    """Of several releases as of one; each has sets of concepts of its own."""
    firsts = accumulate([0, *(len(part.mentioned) for part in parts[:-1])])
    sizes = np.concatenate([part.mentioned.sizes for part in parts])
    if len(parts) == 1:
        return parts[0]
    return Behind(
        users=np.concatenate([part.users for part in parts]),
        units=np.concatenate([part.units for part in parts]),
        sets=np.concatenate([part.sets for part in parts]),
        mentions=np.concatenate(
            [part.mentions + first for part, first in zip(parts, firsts, strict=True)]
        ),
        mentioned=AttributeSets(
            offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            concepts=np.concatenate([part.mentioned.concepts for part in parts]),
        ),
    )


def classify(files: Sequence[FileRows]) -> tuple[list[Row], Ints]:
    """The distinct rows of four fields, and which of them each row is (-1: none)."""
    numbers: dict[Row, int] = defaultdict(count().__next__)
    width = len(COLUMNS)
    class_of = [
        np.array([numbers[r] if len(r) == width else -1 for r in file.distinct], dtype=np.int32)[
            file.number_of
        ]
        for file in files
    ]
    return list(numbers), class_of[0] if len(class_of) == 1 else np.concatenate(class_of)


def numbered(values: Iterable[str], none: str | None = None) -> Ints:
    """Equal values get equal numbers from 0 on; the value `none` gets -1."""
    numbers: dict[str | None, int] = defaultdict(count().__next__, {none: -1})
    return np.fromiter(map(numbers.__getitem__, values), dtype=np.int32)


def sorted_pairs(groups: Ints | Longs, members: Ints) -> tuple[Longs, int]:
    """Every pair of a group and a member of it as one number, ascending, and the factor of groups.

    Negative groups are no groups and negative members no members. There may be many millions:
    whoever calls this is careful to make no more copies of them than need be.
    """
    counted = (groups >= 0) & (members >= 0)
    width = int(members.max(initial=0)) + 1
    pairs = groups[counted].astype(np.int64)
    pairs *= width
    pairs += members[counted]
    pairs.sort()
    return pairs, width


def starts_of(ordered: Longs) -> Flags:
    """Mark the first of each run of equal values."""
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def distinct_pairs(groups: Ints | Longs, members: Ints) -> tuple[Longs, int]:
    """The same, each pair once."""
    pairs, width = sorted_pairs(groups, members)
    return pairs[starts_of(pairs)], width


def distinct_members(groups: Ints | Longs, members: Ints) -> Longs:
    """How many distinct members each group 0, 1, … has; negative ones are no group, no member."""
    pairs, width = distinct_pairs(groups, members)
    pairs //= width
    return np.bincount(pairs, minlength=int(groups.max(initial=-1)) + 1)


def matched_members(groups: Ints, users: Ints, sets: Ints) -> Longs:
    """How many people of each group 0, 1, … can be matched with different sets of theirs.

    All groups at once: a person, and a set, is another one in every group.
    """
    counted = (groups >= 0) & (sets >= 0)
    width = max(int(users.max(initial=0)), int(sets.max(initial=0))) + 1
    own = groups[counted] * np.int64(width)
    people, person = np.unique(own + users[counted], return_inverse=True)
    kinds, kind = np.unique(own + sets[counted], return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    if not len(people):
        return np.zeros(count, dtype=np.int64)
    entries = np.ones(len(person), dtype=np.int64), (person, kind)
    holds = sparse.csr_matrix(entries, shape=(len(people), len(kinds)))
    # For each person a set, or -1.
    matched = maximum_bipartite_matching(holds, perm_type="column")
    return np.bincount(people[matched >= 0] // width, minlength=count)


def rows_of_groups(groups: Ints, chosen: Flags) -> Flags:
    """Mark the rows that belong to a chosen group, shape of `groups`."""
    # Group -1 picks the last entry: a row of no group is never marked.
    return np.append(chosen, False)[groups]


def spread(offsets: Longs, chosen: Ints | Longs) -> tuple[Longs, Longs]:
    """The values of some rows of a ragged array: for each whose it is, and where it stands."""
    lengths = np.diff(offsets)[chosen]
    owners = np.repeat(np.arange(len(chosen)), lengths)
    before = np.cumsum(lengths) - lengths
    return owners, np.arange(len(owners)) + np.repeat(offsets[chosen] - before, lengths)


def in_rows(evidence: Evidence, broken: Flags) -> str | None:
    """How many rows break a clause and which are the first; None if none does.

    No cell is quoted: it may be a leaked name.
    """
    places = np.flatnonzero(broken)
    if not len(places):
        return None
    first = [evidence.row_name(place) for place in places[:EXAMPLES].tolist()]
    more = ["..."] if len(places) > EXAMPLES else []
    noun = "row" if len(places) == 1 else "rows"
    return f"broken by {len(places)} {noun} ({', '.join(first + more)})"


def in_classes(evidence: Evidence, broken: Iterable[bool]) -> str | None:
    """The same for a clause that was judged on every class."""
    flags = np.fromiter(broken, dtype=np.bool_, count=len(evidence.classes))
    return in_rows(evidence, rows_of_groups(evidence.class_of, flags))


def in_cells(evidence: Evidence, column: int, breaks: Callable[[str], bool]) -> str | None:
    """The same for a clause on one column, of which every distinct cell is judged once."""
    cells = [row[column] for row in evidence.classes]
    verdicts = {cell: breaks(cell) for cell in set(cells)}
    return in_classes(evidence, map(verdicts.__getitem__, cells))


def shared_by_too_few(evidence: Evidence, groups: Ints, members: Ints, least: int) -> str | None:
    """The same for a clause that wants `least` distinct members behind every group of rows."""
    few = distinct_members(groups, members) < least
    return in_rows(evidence, rows_of_groups(groups, few))
