"""What the verifier judges a release by: the file as read back, and the people behind its rows.

Nothing here is shared with redaction or with the writer; what the verifier knows of the format
is written down a second time, on purpose.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, count, groupby
from typing import Any, Final, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from tasks.core import columns
from tasks.core.arrays import distinct, numbered_by_first, part_slices, taken
from tasks.core.columns import counts_of, joined, places_of, row_parts
from tasks.core.counted import PEOPLE, Counted
from tasks.core.members import Members, members_of
from tasks.core.records import AttributeSets, Flags, Ints, Longs, freeze
from tasks.core.taxonomy import Taxonomy
from tasks.core.texts import TEXTS_AT_A_TIME, Texts

COLUMNS: Final = ("query", "concepts", "time", "cluster")
"""Each is taken for a quasi-identifier: an adversary may know what stands in any of them."""
QUERY, CONCEPTS, TIME, CLUSTER = range(4)
EXAMPLES: Final = 3
PART: Final = 1 << 17
"""Rows that are looked at together where each takes more than a few bytes."""
CELLS: Final = 1 << 14
"""Verdicts on single cells that are kept: a cell that comes again later is judged again."""
Row = tuple[str, ...]
Kind = TypeVar("Kind", bound=np.generic)
END: Final = "\x01"
"""Of a cell, where many rows are kept: below every sign of a cell, so the texts of rows have the
order of the rows. For the signs up to it there are others, which have the same order."""
KEPT_AS: Final = {sign: f"\x02{chr(2 + sign)}" for sign in range(3)}
SIGN_OF: Final = {kept: chr(sign) for sign, kept in KEPT_AS.items()}
ODD_SIGNS: Final = re.compile("\x02[\x02-\x04]")


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


class Rows(Sequence[Row]):
    """Different rows, of which there may be millions: a text for each, and tuples as they are
    looked at."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Row]:
        return map(_row_of, self.texts)

    def first_cells(self) -> Iterator[str]:
        return (_cell_of(text[: text.index(END)]) for text in self.texts)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [_row_of(text) for text in self.texts.strings(np.arange(len(self))[place])]
        (text,) = self.texts.strings(np.arange(len(self))[place : place + 1 or None])
        return _row_of(text)

    @property
    def widths(self) -> Longs:
        """Cells of each."""
        offsets, found = self.texts.offsets, np.zeros(len(self), dtype=np.int64)
        content, end = np.frombuffer(self.texts.content, dtype=np.uint8), ord(END)
        for start in range(0, len(self), TEXTS_AT_A_TIME):
            own = offsets[start : start + TEXTS_AT_A_TIME + 1]
            ends = np.flatnonzero(content[own[0] : own[-1]] == end)
            found[start : start + len(own) - 1] = np.diff(np.searchsorted(ends, own - own[0]))
        return found


def _text_of(row: Iterable[str]) -> str:
    cells = tuple(row)
    text = "".join([cell + END for cell in cells])
    if "\0" in text or "\2" in text or text.count(END) != len(cells):
        return "".join([cell.translate(KEPT_AS) + END for cell in cells])
    return text


def _row_of(text: str) -> Row:
    *cells, _ = text.split(END)
    return tuple(map(_cell_of, cells) if "\2" in text else cells)


def _cell_of(kept: str) -> str:
    return ODD_SIGNS.sub(lambda found: SIGN_OF[found[0]], kept) if "\2" in kept else kept


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """The rows of a file: there may be millions, but of few kinds.

    Attributes:
        distinct: the different rows, in the order in which they first appear.
        ranks: the place of each of these among them in ascending order.
        number_of: which of these each row is, shape (n,).
    """

    distinct: Rows = field(repr=False)
    ranks: Ints = field(repr=False)
    number_of: Ints = field(repr=False)

    @classmethod
    def of(cls, lines: Iterable[Any], cells: Callable[[Any], Iterable[str]] = tuple) -> FileRows:
        """Rows from whatever stands for them; of those alike and side by side one is looked at."""
        sizes = array("q")

        def runs() -> Iterator[str]:
            for line, run in groupby(lines):
                sizes.append(sum(1 for _ in run))
                yield _text_of(cells(line))

        texts = Texts.of(runs())
        first, ranks = texts.ranks()
        number_of = numbered_by_first(ranks).astype(np.int32)
        if len(first) < len(texts):
            # The file is not in order.
            first = np.sort(first)
            texts, ranks = texts.take(first), ranks[first]
        return cls(Rows(texts), ranks, _repeated(number_of, np.asarray(sizes, dtype=np.int64)))

    def __len__(self) -> int:
        return len(self.number_of)

    def __iter__(self) -> Iterator[Row]:
        return map(self.distinct.__getitem__, self.number_of)

    @property
    def sizes(self) -> Longs:
        """How often each distinct row stands there."""
        return counts_of(self.number_of, len(self.distinct))


def _repeated(values: Ints, sizes: Longs) -> Ints:
    """Each value so many times, as a column."""
    parts = part_slices(sizes, columns.ROWS_AT_A_TIME)
    return joined(
        int(sizes.sum()), values.dtype, (np.repeat(values[own], sizes[own]) for own in parts)
    )


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


@dataclass(frozen=True, eq=False)
class Evidence:
    """A release as read back; rows that publish the same are judged once, as a class.

    Attributes:
        header: the file's columns.
        files: what stands below them in each release.
        behind: who stands behind each row.
        promise: what was promised.
        classes: the distinct rows of four fields.
        class_of: class of each row, or -1 for a row of more or fewer fields.
        cells: the different cells of each column but the query, the empty one first.
        cell_of: which of them stands in each class, shape (3, classes).
        knowledge: what is known beside these.
        starts: first row of each release, if several are judged together.
    """

    header: Sequence[str] = field(repr=False)
    files: Sequence[FileRows] = field(repr=False)
    behind: Behind = field(repr=False)
    promise: Promise
    classes: Rows = field(repr=False)
    class_of: Ints = field(repr=False)
    cells: Sequence[Sequence[str]] = field(repr=False)
    cell_of: Ints = field(repr=False)
    knowledge: Knowledge
    starts: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(cls, releases: Sequence[ReadBack], promise: Promise, knowledge: Knowledge) -> Evidence:
        """One release, or several as if they were one; the columns are then the first one's."""
        files = [release.rows for release in releases]
        classes, class_of = classify(files)
        cells, cell_of = _cells(classes)
        return cls(
            header=releases[0].header,
            files=files,
            behind=_all_behind([release.behind for release in releases]),
            promise=promise,
            classes=classes,
            class_of=class_of,
            cells=cells,
            cell_of=cell_of,
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

    @cached_property
    def members(self) -> Members:
        """The rows of each class."""
        return members_of(self.class_of, len(self.classes))

    def members_in_releases(self) -> tuple[Ints, Members]:
        """The class of each row, but another one in every release, and the rows of each.

        Rows of more or fewer fields are one class of their release.
        """
        if len(self.files) == 1 and self.classes is self.files[0].distinct:
            return self.class_of, self.members
        first, numbers = 0, []
        for file in self.files:
            numbers.append(np.arange(first + 1, first + 1 + len(file.distinct), dtype=np.int32))
            numbers[-1][file.distinct.widths != len(COLUMNS)] = first
            first += 1 + len(file.distinct)
        classes = _of_rows(self.files, numbers)
        return classes, members_of(classes, first)

    @property
    def queries(self) -> Iterator[str]:
        """The query of each class."""
        return self.classes.first_cells()

    @property
    def concepts_of_class(self) -> Ints:
        """The cell of concepts of each class, numbered from 0, or -1 for an empty one."""
        return np.asarray(self.cell_of[CONCEPTS - 1] - np.int32(1))

    @property
    def cluster_of_class(self) -> Ints:
        """The same of the cluster."""
        return np.asarray(self.cell_of[CLUSTER - 1] - np.int32(1))

    @property
    def cluster_of(self) -> Ints:
        """Cluster of each row, or -1, shape (n,)."""
        return taken(np.append(self.cluster_of_class, np.int32(-1)), self.class_of)

    def members_of_clusters(self) -> tuple[Ints, Members]:
        """The cluster of each row, and the rows of each."""
        clusters = self.cluster_of
        return clusters, members_of(clusters, self.cluster_count)

    @property
    def cluster_count(self) -> int:
        return len(self.cells[CLUSTER - 1]) - 1

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
        users=_end_to_end([part.users for part in parts], np.int32),
        units=_end_to_end([part.units for part in parts], np.int64),
        sets=_end_to_end([part.sets for part in parts], np.int32),
        mentions=_end_to_end([part.mentions for part in parts], np.int32, [*firsts]),
        mentioned=AttributeSets(
            offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            concepts=np.concatenate([part.mentioned.concepts for part in parts]),
        ),
    )


def _end_to_end(
    parts: Sequence[NDArray[Any]], kind: type[Kind], more: Iterable[int] | None = None
) -> NDArray[Kind]:
    """Columns as one; to the values of each so much is added."""
    added = list(more or [0] * len(parts))
    return joined(
        sum(map(len, parts)),
        kind,
        (
            np.add(part[rows], first)
            for part, first in zip(parts, added, strict=True)
            for rows in row_parts(len(part))
        ),
    )


def classify(files: Sequence[FileRows]) -> tuple[Rows, Ints]:
    """The distinct rows of four fields, and which of them each row is (-1: none)."""
    wide = [file.distinct.widths == len(COLUMNS) for file in files]
    if len(files) == 1 and wide[0].all():
        return files[0].distinct, files[0].number_of
    own = (file.distinct.texts.take(np.flatnonzero(w)) for file, w in zip(files, wide, strict=True))
    texts = Texts.of(chain.from_iterable(own))
    first, ranks = texts.ranks()
    numbers = np.full(sum(map(len, wide)), -1, dtype=np.int32)
    numbers[np.concatenate(wide)] = numbered_by_first(ranks)
    by_file = np.split(numbers, np.cumsum([*map(len, wide)])[:-1])
    return Rows(texts.take(np.sort(first))), _of_rows(files, by_file)


def _of_rows(files: Sequence[FileRows], values: Sequence[Ints]) -> Ints:
    """Values of the rows of several files, given those of the distinct rows of each."""
    return joined(
        sum(map(len, files)),
        np.int32,
        (
            own[file.number_of[rows]]
            for file, own in zip(files, values, strict=True)
            for rows in row_parts(len(file))
        ),
    )


def _cells(classes: Rows) -> tuple[list[list[str]], Ints]:
    """The different cells of each column but the query, and which of them each class has."""
    numbers: list[dict[str, int]] = [defaultdict(count(1).__next__, {"": 0}) for _ in COLUMNS[1:]]
    concepts, times, clusters = numbers
    found = np.empty((len(numbers), len(classes)), dtype=np.int32)
    for start in range(0, len(classes), TEXTS_AT_A_TIME):
        rows = classes[start : start + TEXTS_AT_A_TIME]
        found[:, start : start + len(rows)] = np.array(
            [(concepts[row[CONCEPTS]], times[row[TIME]], clusters[row[CLUSTER]]) for row in rows]
        ).T
    return [list(own) for own in numbers], found


def numbered(values: Iterable[str], none: str | None = None) -> Ints:
    """Equal values get equal numbers from 0 on; the value `none` gets -1."""
    numbers: dict[str | None, int] = defaultdict(count().__next__, {none: -1})
    return np.fromiter(map(numbers.__getitem__, values), dtype=np.int32)


def starts_of(ordered: Ints | Longs) -> Flags:
    """Mark the first of each run of equal values."""
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def distinct_members(groups: Ints | Longs, members: Ints) -> Longs:
    """How many distinct members each group 0, 1, … has; negative ones are no group, no member."""
    counted = (groups >= 0) & (members >= 0)
    width = int(members.max(initial=0)) + 1
    pairs = distinct(groups[counted].astype(np.int64) * width + members[counted])
    return np.bincount(pairs // width, minlength=int(groups.max(initial=-1)) + 1)


def matched_members(groups: Ints | Longs, users: Ints, sets: Ints) -> Longs:
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
    # A row of no group is never marked.
    return taken(np.append(chosen, False), groups)


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
    places = places_of(broken)
    if not len(places):
        return None
    first = [evidence.row_name(place) for place in places[:EXAMPLES].tolist()]
    more = ["..."] if len(places) > EXAMPLES else []
    noun = "row" if len(places) == 1 else "rows"
    return f"broken by {len(places)} {noun} ({', '.join(first + more)})"


def in_groups(evidence: Evidence, groups: Ints, broken: Flags) -> str | None:
    """The same for a clause that was judged on every group of rows."""
    return in_rows(evidence, rows_of_groups(groups, broken)) if broken.any() else None


def in_classes(evidence: Evidence, broken: Flags) -> str | None:
    """The same for a clause that was judged on every class."""
    return in_groups(evidence, evidence.class_of, broken)


def in_each_class(evidence: Evidence, broken: Iterable[bool]) -> str | None:
    """The same, of which one verdict comes after the other."""
    return in_classes(evidence, np.fromiter(broken, np.bool_, count=len(evidence.classes)))


def in_cells(evidence: Evidence, column: int, breaks: Callable[[str], bool]) -> str | None:
    """The same for a clause on one column, of which every distinct cell is judged once."""
    verdicts = np.array([breaks(cell) for cell in evidence.cells[column - 1]], dtype=np.bool_)
    return in_classes(evidence, verdicts[evidence.cell_of[column - 1]])


def shared_by_too_few(evidence: Evidence, groups: Ints, members: Members) -> str | None:
    """The same for a clause that wants k people behind each group of rows."""
    people = members.people(evidence.behind.users)
    return in_groups(evidence, groups, people < evidence.promise.k)
