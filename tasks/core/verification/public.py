"""What somebody can check of a release who has nothing but its files, clause by clause.

Who stands behind the rows is not known then, so rows are counted where people are promised: k
people have at least k rows between them. Whether a concept is true of a query nobody can say who
has not read it; but what `query` calls a concept must be a word for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from tasks.core.columns import counts_of
from tasks.core.records import AttributeSets, Longs
from tasks.core.verification.clauses import (
    CLAUSES,
    GUARANTEES,
    K_ANONYMOUS,
    Clause,
    Promise,
    broken_clauses,
    in_words,
)
from tasks.core.verification.evidence import (
    CONCEPTS,
    QUERY,
    Behind,
    Evidence,
    FileRows,
    Knowledge,
    ReadBack,
    in_classes,
    in_each_class,
    in_groups,
)

COUNTS: Final = ("read", "rejected", "withheld", "published")
NOBODY: Final = Behind(
    users=np.zeros(0, dtype=np.int32),
    units=np.zeros(0, dtype=np.int64),
    sets=np.zeros(0, dtype=np.int32),
    mentions=np.zeros(0, dtype=np.int32),
    mentioned=AttributeSets(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)),
)


@dataclass(frozen=True, slots=True)
class Names:
    """What words are called.

    Attributes:
        concepts: all concepts that the words of a query may stand for.
        unknown: whether a query has a word of which that cannot be said.
    """

    concepts: Callable[[str], Set[int]]
    unknown: Callable[[str], bool]


def public_promise(settings: Mapping[str, Any]) -> Promise | None:
    """What a release with these settings promises; None if they do not say it.

    Of its counts nothing is known.
    """
    told = {own.name: settings[own.name] for own in fields(Promise) if own.name in settings}
    try:
        promise = Promise(**{**told, **dict.fromkeys(COUNTS, 0)})
        numbers = (promise.k, promise.l, promise.dominance)
    except TypeError:
        return None
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    return promise if isinstance(promise.guarantee, str) and isinstance(promise.time, str) else None


def public_faults(
    header: tuple[str, ...],
    rows: FileRows,
    promise: Promise,
    knowledge: Knowledge,
    names: Names,
) -> list[str]:
    """One sentence per broken clause; an empty list is no proof of those that need the store."""
    release = ReadBack(header, rows, NOBODY, promise)
    evidence = Evidence.of([release], promise, knowledge)
    return broken_clauses(evidence, public_clauses(promise, names))


def publicly_promised(promise: Promise, names: Names) -> list[str]:
    """Every clause that `public_faults` judges, in plain words."""
    return in_words(public_clauses(promise, names), promise)


def unchecked_names(rows: FileRows, knowledge: Knowledge, names: Names) -> int:
    """Rows with a concept of which nobody can say whether their words name it."""
    return sum(
        size
        for row, size in zip(rows.distinct, rows.sizes.tolist(), strict=True)
        if len(row) > max(QUERY, CONCEPTS)
        and bool(row[CONCEPTS])
        and names.unknown(row[QUERY])
        and _unnamed(row, knowledge, names)
    )


def public_clauses(promise: Promise, names: Names) -> list[Clause]:
    own = (*PUBLIC_CLAUSES, Clause(NAMED, lambda e: _misnamed(e, names), K_ANONYMOUS))
    known = promise.guarantee in GUARANTEES
    return [
        clause
        for clause in (*CLAUSES, *own)
        if not clause.needs_people
        and not clause.needs_counts
        and (promise.guarantee in clause.guarantees or not known)
        and clause.asked(promise)
    ]


def _rare_rows(evidence: Evidence) -> str | None:
    return in_classes(evidence, _sizes(evidence) < evidence.promise.k)


def _rare_clusters(evidence: Evidence) -> str | None:
    sizes = counts_of(evidence.cluster_of, evidence.cluster_count)
    return in_groups(evidence, evidence.cluster_of, sizes < evidence.promise.k)


def _words_of_few_rows(evidence: Evidence) -> str | None:
    rows: Counter[str] = Counter()
    for words, size in zip(_words(evidence), _sizes(evidence).tolist(), strict=True):
        rows.update(dict.fromkeys(words, size))
    rare = {word for word, count in rows.items() if count < evidence.promise.k}
    return in_each_class(evidence, (not rare.isdisjoint(words) for words in _words(evidence)))


def _words(evidence: Evidence) -> Iterator[set[str]]:
    return (set(query.split(" ")) for query in evidence.queries)


def _sizes(evidence: Evidence) -> Longs:
    return counts_of(evidence.class_of, len(evidence.classes))


def _misnamed(evidence: Evidence, names: Names) -> str | None:
    return in_each_class(
        evidence,
        (
            not names.unknown(row[QUERY]) and _unnamed(row, evidence.knowledge, names)
            for row in evidence.classes
        ),
    )


def _unnamed(row: tuple[str, ...], knowledge: Knowledge, names: Names) -> bool:
    """Whether a row has a concept that none of its words stands for."""
    told = [name for name in row[CONCEPTS].split(";") if name in knowledge.numbers]
    text = f" {row[QUERY]} "
    rest = [name for name in told if f" {knowledge.plain_words(name)} " not in text]
    if not rest:
        return False
    meant = names.concepts(row[QUERY])
    return any(knowledge.numbers[name] not in meant for name in rest)


NAMED: Final = "every concept of a row is named in its query, by a word for it"
PUBLIC_CLAUSES: Final = (
    Clause("every whole row stands there at least {k} times", _rare_rows, ("strict",)),
    Clause("every cluster has at least {k} rows", _rare_clusters),
    Clause("every word stands in at least {k} rows", _words_of_few_rows, ("terms",)),
)
"""What is judged where the store would count people."""
