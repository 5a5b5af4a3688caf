"""Small honest releases made by hand, and what the verifier says of them when they are changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.core.verification.clauses import Promise, faults

HEADER = ("query", "concepts", "time", "cluster")
QUERY, CONCEPTS, TIME, CLUSTER = range(4)
WORDS = {
    "cancer.n.01": "cancer",
    "influenza.n.01": "influenza",
    "respiratory_disease.n.01": "respiratory disease",
    "treatment.n.01": "treatment",
}
NAME = "johncanary"

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
    "said": "every query says its concepts in plain words",
    "identifier": "no query holds a direct identifier",
}
PEOPLE = {
    "people": "every cluster stands for at least 3 people",
    "same": "all rows of a cluster publish the same concepts",
    "sets": "every cluster hides at least 2 original sets",
    "padded": "only records with attributes have a cluster",
    "shared": "every whole row is shared by at least 3 people",
    "words": "every word is used by at least 3 people",
    "day": "no time is finer than the day",
}
CLAUSES = FORM | PEOPLE


@dataclass(frozen=True)
class Case:
    """A release as read back, with its side table."""

    rows: tuple[tuple[str, ...], ...]
    users: tuple[int, ...]
    sets: tuple[int, ...]
    promise: Promise
    header: tuple[str, ...] = HEADER

    def sorted(self) -> Case:
        """The same in the order of a file, so that only what is meant to break breaks."""
        joined = sorted(zip(self.rows, self.users, self.sets, strict=True))
        rows, users, sets = zip(*joined, strict=True)
        return replace(self, rows=rows, users=users, sets=sets)

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
        rows, users, sets = list(self.rows), list(self.users), list(self.sets)
        del rows[row], users[row], sets[row]
        counts = replace(
            self.promise,
            published=self.promise.published - 1,
            withheld=self.promise.withheld + 1,
        )
        return replace(self, rows=tuple(rows), users=tuple(users), sets=tuple(sets), promise=counts)


def make_case(
    entries: Sequence[tuple[tuple[str, ...], Sequence[int], Sequence[int]]],
    guarantee: str,
    k: int = 3,
    l: int = 2,  # noqa: E741
) -> Case:
    """A release of rows, each with the users and the original sets behind it."""
    flat = [
        (row, user, number)
        for row, users, sets in entries
        for user, number in zip(users, sets, strict=True)
    ]
    rows, users, sets = zip(*flat, strict=True) if flat else ((), (), ())
    count = len(flat)
    promise = Promise(guarantee, k, l, read=count + 7, rejected=3, withheld=4, published=count)
    case = Case(rows, users, sets, promise)
    return case.sorted() if flat else case


COUGH = "respiratory_disease.n.01;treatment.n.01"

STRICT = make_case(
    [
        (("respiratory disease winter treatment", COUGH, "2006-03", "1"), (1, 2, 3), (10, 11, 10)),
        (("treatment respiratory disease", COUGH, "2006-03-05 07", "1"), (1, 5, 6), (11, 12, 10)),
        (("cancer help", "cancer.n.01", "2006-03-05", "2"), (1, 4, 7, 7), (20, 21, 21, 21)),
        (("weather", "", "", "3"), (2, 4, 6), (30, 31, 30)),
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


def judge(case: Case) -> list[str]:
    return faults(
        case.header,
        case.rows,
        np.array(case.users, dtype=np.int32),
        np.array(case.sets, dtype=np.int32),
        case.promise,
        plain_words=WORDS.get,
        find_identifiers=find_identifiers,
    )


def broken(case: Case) -> set[str]:
    """Short names of the clauses that the verifier names."""
    found = judge(case)
    names = {name for name, says in CLAUSES.items() if any(f.startswith(says + ":") for f in found)}
    assert len(names) == len(found)
    return names


def row_saying(case: Case, text: str) -> int:
    return next(number for number, row in enumerate(case.rows) if row[QUERY] == text)
