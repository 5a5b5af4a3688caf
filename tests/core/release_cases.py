"""Small honest releases made by hand, and what the verifier says of them when they are changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.core.records import AttributeSets
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.core.verification.clauses import Promise, faults
from tasks.core.verification.evidence import Behind, FileRows, Knowledge, ReadBack

HEADER = ("query", "concepts", "time", "cluster")
QUERY, CONCEPTS, TIME, CLUSTER = range(4)
WORDS = {
    "cancer.n.01": "cancer",
    "disease.n.01": "disease",
    "influenza.n.01": "influenza",
    "lymphoma.n.01": "lymphoma",
    "pneumonia.n.01": "pneumonia",
    "respiratory_disease.n.01": "respiratory disease",
    "treatment.n.01": "treatment",
}
PARENTS = {
    "cancer.n.01": "disease.n.01",
    "disease.n.01": "entity.n.01",
    "influenza.n.01": "respiratory_disease.n.01",
    "lymphoma.n.01": "cancer.n.01",
    "pneumonia.n.01": "respiratory_disease.n.01",
    "respiratory_disease.n.01": "disease.n.01",
    "treatment.n.01": "entity.n.01",
}
CONCEPT_NAMES = [*WORDS, "entity.n.01"]
TAXONOMY: Taxonomy = build_taxonomy(
    CONCEPT_NAMES,
    [*WORDS.values(), "entity"],
    [[CONCEPT_NAMES.index(PARENTS[name])] if name in PARENTS else [] for name in CONCEPT_NAMES],
    root="entity.n.01",
    version="mini",
)
NAME = "johncanary"
TEXTS_OF_ONE = 1000
"""Texts that a person can ask for, each a unit of its own."""

FORM = {
    "promise": "the promise is strict, terms or paper, with k of 2 or more",
    "columns": "the columns are query, concepts, time, cluster: no user key",
    "fields": "every row has four fields",
    "rows": "every row stands for one record of one person",
    "records": "every record read was published, withheld or rejected",
    "order": "rows are ordered by what they publish",
    "empty": "every row says something",
    "time": "times are months, days or hours, never full timestamps",
    "number": "clusters are positive whole numbers",
    "wordnet": "every published concept exists in WordNet",
    "sorted": "the concepts of a row are sorted, each named once",
    "stray": "rows without a cluster publish no concepts",
    "bare": "rows without concepts have no cluster",
    "fillers": "no row consists of filler words alone",
    "finest": "no time is finer than the hour",
    "identifier": "no query holds a direct identifier",
}
DIVERSE = "where all people of a {} hold something sensitive, 2 hold 2 different sensitive sets"
PEOPLE = {
    "people": "every cluster stands for at least 3 people",
    "same": "all rows of a cluster publish the same concepts",
    "sets": DIVERSE.format("row"),
    "shared": "every whole row is shared by at least 3 people",
    "common": "all rows of one person's query have at least 3 people in common",
    "words": "every word is used by at least 3 people",
    "true": "every concept of a row is true of every record behind it",
}
CLAUSES = FORM | PEOPLE
K_ANONYMOUS = {"bare", "fillers"} | set(PEOPLE) - {"people"}
"""Clauses of strict and terms alone."""


@dataclass(frozen=True)
class Case:
    """A release as read back, with its side table: people, sets, concepts by name, and units: a
    person and a text."""

    rows: tuple[tuple[str, ...], ...]
    users: tuple[int, ...]
    sets: tuple[int, ...]
    mentions: tuple[tuple[str, ...], ...]
    units: tuple[int, ...]
    promise: Promise
    header: tuple[str, ...] = HEADER

    @property
    def behind(self) -> Behind:
        kinds = sorted(set(self.mentions))
        concepts = [sorted(map(CONCEPT_NAMES.index, names)) for names in kinds]
        return Behind(
            users=np.array(self.users, dtype=np.int32),
            units=np.array(self.units, dtype=np.int64),
            sets=np.array(self.sets, dtype=np.int32),
            mentions=np.array([kinds.index(names) for names in self.mentions], dtype=np.int32),
            mentioned=AttributeSets(
                offsets=np.cumsum([0, *map(len, concepts)]),
                concepts=np.array([number for row in concepts for number in row], dtype=np.int32),
            ),
        )

    @property
    def read_back(self) -> ReadBack:
        return ReadBack(self.header, FileRows.of(self.rows), self.behind, self.promise)

    def sorted(self) -> Case:
        """The same in the order of a file, so that only what is meant to break breaks."""
        order = sorted(
            range(len(self.rows)),
            key=lambda n: (self.rows[n], self.users[n], self.sets[n], self.mentions[n]),
        )
        return self.take(order)

    def take(self, order: Sequence[int]) -> Case:
        """Some of the rows, with who stands behind them, in another order."""
        return replace(
            self,
            rows=tuple(self.rows[number] for number in order),
            users=tuple(self.users[number] for number in order),
            sets=tuple(self.sets[number] for number in order),
            mentions=tuple(self.mentions[number] for number in order),
            units=tuple(self.units[number] for number in order),
        )

    def with_cell(self, row: int, column: int, cell: str) -> Case:
        cells = list(self.rows[row])
        cells[column] = cell
        return replace(self, rows=(*self.rows[:row], tuple(cells), *self.rows[row + 1 :]))

    def with_column(self, column: int, change: Callable[[str], str]) -> Case:
        """Change the cells of one column in all rows."""
        changed = self
        for number, row in enumerate(self.rows):
            changed = changed.with_cell(number, column, change(row[column]))
        return changed

    def without(self, row: int) -> Case:
        """Drop a row from the file and from the side table, and count it as withheld."""
        kept = [number for number in range(len(self.rows)) if number != row]
        counts = replace(
            self.promise,
            published=self.promise.published - 1,
            withheld=self.promise.withheld + 1,
        )
        return replace(self.take(kept), promise=counts)


def make_case(
    entries: Sequence[tuple[tuple[str, ...], Sequence[int], Sequence[int]]],
    guarantee: str,
    k: int = 3,
    l: int = 2,  # noqa: E741
) -> Case:
    """A release of rows, each with the users and the original sets behind it.

    Whoever stands behind a row mentioned what it publishes, but for BELOW; nobody asked the same
    in two of them.
    """
    flat = [
        (row, user, number, _mentioned("".join(row[CONCEPTS:TIME])), TEXTS_OF_ONE * user + place)
        for place, (row, users, sets) in enumerate(entries)
        for user, number in zip(users, sets, strict=True)
    ]
    rows, users, sets, mentions, units = zip(*flat, strict=True) if flat else ((),) * 5
    count = len(flat)
    promise = Promise(
        guarantee, k, l, "hour", read=count + 7, rejected=3, withheld=4, published=count
    )
    case = Case(rows, users, sets, mentions, units, promise)
    return case.sorted() if flat else case


def _mentioned(cell: str) -> tuple[str, ...]:
    known = (name for name in cell.split(";") if name in WORDS)
    return tuple(sorted(BELOW.get(name, name) for name in known))


BELOW = {"respiratory_disease.n.01": "pneumonia.n.01"}
"""What people mentioned, where a release generalises it."""
COUGH = "respiratory_disease.n.01;treatment.n.01"

STRICT = make_case(
    [
        (("respiratory disease winter treatment", COUGH, "2006-03", "1"), (1, 2, 3), (10, 11, 10)),
        (("treatment respiratory disease", COUGH, "2006-03-05 07", "1"), (1, 5, 6), (11, 12, 10)),
        (("cancer help", "cancer.n.01", "2006-03-05", "2"), (1, 4, 7, 7), (20, 21, 21, 21)),
        (("weather", "", "", ""), (2, 4, 6), (30, 31, 30)),
        (("cheap flights", "", "", ""), (2, 5, 8), (-1, -1, -1)),
    ],
    "strict",
)

TERMS = make_case(
    [
        (("treatment respiratory disease cheap", COUGH, "2006-03-05", "1"), (1,), (10,)),
        (("cheap treatment respiratory disease", COUGH, "2006-03-05", "1"), (2,), (11,)),
        (("respiratory disease treatment", COUGH, "2006-03", "1"), (3,), (11,)),
        (("cheap help", "", "", ""), (4,), (-1,)),
        (("help help", "", "2006-03", ""), (5,), (-1,)),
        (("help cheap", "", "", ""), (6,), (-1,)),
    ],
    "terms",
)

PAPER = make_case(
    [
        (("rare words influenza", "influenza.n.01", "2006-03-05", "1"), (1,), (10,)),
        (("treatment of something else", "treatment.n.01", "2006-03-06", "1"), (2,), (10,)),
        (("cancer", "cancer.n.01", "2006-03-07", "1"), (3,), (10,)),
    ],
    "paper",
)

HONEST = {"strict": STRICT, "terms": TERMS, "paper": PAPER}


def find_identifiers(text: str) -> list[str]:
    return re.findall(f"{NAME}|[0-9]{{3}}-[0-9]{{2}}-[0-9]{{4}}", text)


KNOWLEDGE = Knowledge(TAXONOMY, find_identifiers, frozenset({"the", "of", "for"}))


def judge(case: Case) -> list[str]:
    return faults(case.read_back, KNOWLEDGE)


def sentences(guarantee: str) -> dict[str, str]:
    """What clauses are called where the finest time promised is the hour."""
    others = {"finest": "no time is finer than the day", "sets": DIVERSE.format("cluster")}
    return CLAUSES if guarantee == "strict" else CLAUSES | others


def broken(case: Case) -> set[str]:
    """Short names of the clauses that the verifier names."""
    found, clauses = judge(case), sentences(case.promise.guarantee)
    names = {name for name, says in clauses.items() if any(f.startswith(says + ":") for f in found)}
    assert len(names) == len(found)
    return names


def row_saying(case: Case, text: str) -> int:
    return next(number for number, row in enumerate(case.rows) if row[QUERY] == text)
