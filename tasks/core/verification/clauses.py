"""Proof that a written release keeps its promise, clause by clause (docs/guarantee.md).

The verifier trusts nobody: it is given the columns and rows as they were read back from the file,
and for each row the person and the original attribute set behind it. It shares no code with
redaction or with the writer. Faults name clauses, counts and row numbers, never a cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

import numpy as np

from tasks.core.arrays import distinct
from tasks.core.columns import column, computed, joined, row_parts
from tasks.core.members import Members, parted
from tasks.core.records import Flags, Ints, Longs
from tasks.core.verification.evidence import (
    CELLS,
    CLUSTER,
    COLUMNS,
    CONCEPTS,
    QUERY,
    TIME,
    Evidence,
    FileRows,
    Knowledge,
    ReadBack,
    distinct_members,
    in_cells,
    in_classes,
    in_each_class,
    in_groups,
    in_rows,
    matched_members,
    numbered,
    rows_of_groups,
    shared_by_too_few,
    spread,
    starts_of,
)
from tasks.core.verification.evidence import Promise as Promise
from tasks.core.verification.truth import rows_told_falsely

GUARANTEES: Final = ("strict", "terms", "paper")
K_ANONYMOUS: Final = ("strict", "terms")

TIME_FORM: Final = re.compile(
    "|([0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])( ([01][0-9]|2[0-3]))?)?)"
)
"""Nothing, a month, a day or an hour."""

FINEST_TIMES: Final = {
    "none": "",
    "month": "YYYY-MM",
    "day": "YYYY-MM-DD",
    "hour": "YYYY-MM-DD HH",
}
"""How much of a time may be told, by what is promised."""

ROUNDING_ERROR: Final = 1e-9
"""Of a share: 1/3 of three rows is one row."""

CLUSTER_FORM: Final = re.compile("|[1-9][0-9]*")
TRUE: Final = "every concept of a row is true of every record behind it"
DIVERSE: Final = (
    "where all people of a {} hold something sensitive, {{l}} hold {{l}} different sensitive sets"
)
NO_TIMES: Final = "no row tells a time"
UNTRUE: Final = "truth is not promised under guarantee paper"
UNMATCHED: Final = "not proven, because it is not known who stands behind each row"


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing a release promises, in plain words, and how it is found broken.

    Attributes:
        says: the promise; {who}, {k}, {l}, {time} and {share} stand for what the release
            promises of these.
        breach: how the clause is broken, or None if it holds.
        guarantees: the guarantees that include it.
        needs_people: whether it can be judged only with the provenance.
        joint: whether it looks at several rows, or at counts, so that releases which keep it one by
            one are judged by it together as well.
        asked: whether a promise of those guarantees includes it.
        needs_counts: whether it is about counts that are not public.
    """

    says: str
    breach: Callable[[Evidence], str | None]
    guarantees: tuple[str, ...] = GUARANTEES
    needs_people: bool = False
    joint: bool = False
    asked: Callable[[Promise], bool] = lambda promise: True
    needs_counts: bool = False


def faults(release: ReadBack, knowledge: Knowledge) -> list[str]:
    """One sentence per broken clause; an empty list is a proof."""
    evidence = Evidence.of([release], release.promise, knowledge)
    return broken_clauses(evidence, clauses_of(release.promise))


def promised(promise: Promise) -> list[str]:
    """Every clause that `faults` judges for this promise, in plain words and in its order."""
    return in_words(clauses_of(promise), promise)


def in_words(clauses: Sequence[Clause], promise: Promise) -> list[str]:
    return [_sentence(clause, promise) for clause in clauses]


def not_promised(guarantee: str) -> list[str]:
    """What somebody might expect of a guarantee, and must not, in plain words."""
    return [UNTRUE] if guarantee == "paper" else []


def broken_clauses(evidence: Evidence, clauses: Sequence[Clause]) -> list[str]:
    """One sentence for each of the clauses that is broken."""
    return [
        f"{_sentence(clause, evidence.promise)}: {breach}"
        for clause in clauses
        if (breach := _breach(clause, evidence)) is not None
    ]


def clauses_of(promise: Promise) -> list[Clause]:
    # An unknown guarantee is a fault by itself and must not make the proof any easier.
    known = promise.guarantee in GUARANTEES
    return [
        c for c in CLAUSES if (promise.guarantee in c.guarantees or not known) and c.asked(promise)
    ]


def _sentence(clause: Clause, promise: Promise) -> str:
    finest = _finest_time(promise)
    time = NO_TIMES if finest == "none" else f"no time is finer than the {finest}"
    share = f"{100 * promise.dominance:g} %"
    who = promise.counted.said(promise.k)
    return clause.says.format(who=who, k=promise.k, l=promise.l, time=time, share=share)


def _breach(clause: Clause, evidence: Evidence) -> str | None:
    if clause.needs_people and not evidence.people_known:
        return UNMATCHED
    return clause.breach(evidence)


def _concepts(cell: str) -> list[str]:
    return cell.split(";") if cell else []


def _finest_time(promise: Promise) -> str:
    """An hour only where k people share the whole row."""
    cut = promise.time == "hour" and promise.guarantee != "strict"
    return "day" if cut else promise.time


def _unknown_promise(evidence: Evidence) -> str | None:
    promise = evidence.promise
    known = promise.guarantee in GUARANTEES and promise.time in FINEST_TIMES
    known = known and promise.k >= 2 and promise.l >= 1 and 0 < promise.dominance <= 1
    return None if known else "broken by the promise kept in the store"


def _other_columns(evidence: Evidence) -> str | None:
    if tuple(evidence.header) == COLUMNS:
        return None
    return f"broken by the header of {len(evidence.header)} columns"


def _other_widths(evidence: Evidence) -> str | None:
    return in_rows(evidence, computed(len(evidence), np.bool_, lambda r: evidence.class_of[r] < 0))


def _miscounted_rows(evidence: Evidence) -> str | None:
    rows, published = len(evidence), evidence.promise.published
    if evidence.people_known and rows == published:
        return None
    users, _, sets, mentions, _ = evidence.behind
    people = f"{len(users)} people, {len(sets)} attribute sets, {len(mentions)} queries"
    return f"broken by the counts: {rows} rows, {people}, {published} published"


def _lost_records(evidence: Evidence) -> str | None:
    promise = evidence.promise
    parts = (promise.published, promise.withheld, promise.rejected)
    if min(parts) >= 0 and sum(parts) == promise.read:
        return None
    sums = "{} published + {} withheld + {} rejected".format(*parts)
    return f"broken by the counts: {promise.read} read, but {sums}"


def _unsorted(evidence: Evidence) -> str | None:
    falls = (_falls(file, rows) for file in evidence.files for rows in row_parts(len(file)))
    return in_rows(evidence, joined(len(evidence), np.bool_, falls))


def _falls(file: FileRows, rows: slice) -> Flags:
    """Mark which of some rows come before the one above them."""
    ranks = file.ranks[file.number_of[max(0, rows.start - 1) : rows.stop]]
    falls = ranks[1:] < ranks[:-1]
    return falls if rows.start else np.append(False, falls)


def _empty_queries(evidence: Evidence) -> str | None:
    return in_each_class(evidence, (not query.strip() for query in evidence.queries))


def _odd_times(evidence: Evidence) -> str | None:
    return in_cells(evidence, TIME, lambda time: TIME_FORM.fullmatch(time) is None)


def _fine_times(evidence: Evidence) -> str | None:
    finest = len(FINEST_TIMES.get(_finest_time(evidence.promise), ""))
    return in_cells(evidence, TIME, lambda time: len(time) > finest)


def _odd_clusters(evidence: Evidence) -> str | None:
    return in_cells(evidence, CLUSTER, lambda number: CLUSTER_FORM.fullmatch(number) is None)


def _unknown_concepts(evidence: Evidence) -> str | None:
    def breaks(cell: str) -> bool:
        return any(evidence.knowledge.plain_words(name) is None for name in _concepts(cell))

    return in_cells(evidence, CONCEPTS, breaks)


def _disordered_concepts(evidence: Evidence) -> str | None:
    def breaks(cell: str) -> bool:
        return _concepts(cell) != sorted(set(_concepts(cell)))

    return in_cells(evidence, CONCEPTS, breaks)


def _stray_concepts(evidence: Evidence) -> str | None:
    stray = (evidence.concepts_of_class >= 0) & (evidence.cluster_of_class < 0)
    return in_classes(evidence, stray)


def _bare_clusters(evidence: Evidence) -> str | None:
    """People who hold none of a cluster's concepts hide nobody who does."""
    bare = (evidence.cluster_of_class >= 0) & (evidence.concepts_of_class < 0)
    return in_classes(evidence, bare)


def _fillers_alone(evidence: Evidence) -> str | None:
    """A concept says something, by whatever word it is called."""
    says_nothing = evidence.knowledge.stop_words.issuperset
    return in_each_class(
        evidence,
        (not row[CONCEPTS] and says_nothing(row[QUERY].split(" ")) for row in evidence.classes),
    )


def _untrue_concepts(evidence: Evidence) -> str | None:
    return in_rows(evidence, rows_told_falsely(evidence))


def _phrases(cell: str, knowledge: Knowledge) -> list[str]:
    """The words of the concepts of a cell, longest first, with a blank on either side.

    Hyphen and blank are one.
    """
    return sorted(
        {
            f" {spelt} "
            for name in _concepts(cell)
            if (words := knowledge.plain_words(name))
            for spelt in (words, words.replace("-", " "))
        },
        key=lambda phrase: (-len(phrase), phrase),
    )


def _identifiers(evidence: Evidence) -> str | None:
    """Looks at the words beside the concepts: those may be called as people are, *john dory*."""
    knowledge = evidence.knowledge

    # Rows of equal query and concepts stand side by side.
    @lru_cache(CELLS)
    def named(query: str, concepts: str) -> bool:
        text = f" {query} "
        for phrase in _phrases(concepts, knowledge):
            text = text.replace(phrase, " | ", 1)
        return len(knowledge.find_identifiers(text.strip())) > 0

    return in_each_class(evidence, (named(row[QUERY], row[CONCEPTS]) for row in evidence.classes))


def _small_clusters(evidence: Evidence) -> str | None:
    return shared_by_too_few(evidence, *evidence.members_of_clusters())


def _mixed_clusters(evidence: Evidence) -> str | None:
    mixed = distinct_members(evidence.cluster_of_class, evidence.cell_of[CONCEPTS - 1]) > 1
    return in_groups(evidence, evidence.cluster_of, mixed)


def _uniform_rows(evidence: Evidence) -> str | None:
    return _uniform(evidence, evidence.class_of, evidence.members)


def _uniform_clusters(evidence: Evidence) -> str | None:
    return _uniform(evidence, *evidence.members_of_clusters())


def _uniform(evidence: Evidence, groups: Ints, members: Members) -> str | None:
    """Groups of rows that have too few people with different sensitive sets.

    Of a record without any no sensitive concept is true, so rows like its own name none.
    """
    uniform = np.zeros(len(members), dtype=np.bool_)
    for own, rows, group_of in members.parts():
        sets = evidence.behind.sets[rows]
        # Every group has rows.
        found = matched_members(group_of, evidence.behind.users[rows], sets)
        excused = np.bincount(group_of[sets < 0], minlength=len(found)) > 0
        uniform[own] = (found < evidence.promise.l) & ~excused
    return in_groups(evidence, groups, uniform)


def _lonely_rows(evidence: Evidence) -> str | None:
    return shared_by_too_few(evidence, evidence.class_of, evidence.members)


def _odd_sizes(evidence: Evidence) -> str | None:
    sizes = evidence.members.sizes
    return in_classes(evidence, sizes % evidence.promise.k > 0)


def _narrowed_people(evidence: Evidence) -> str | None:
    """Whoever knows that somebody asked the same in several rows holds their classes together.

    Rows that read alike are of one class in each release: which release a row is from is known.
    """
    units, (classes, members) = evidence.behind.units, evidence.members_in_releases()
    in_common = lru_cache(CELLS)(_in_common(members, evidence.behind.users))
    narrowed = computed(len(evidence), np.bool_, lambda rows: np.zeros_like(units[rows], np.bool_))
    for rows in parted(units):
        asked = _several(units[rows], classes[rows])
        few = [unit for unit, own in asked if in_common(own) < evidence.promise.k]
        if few:
            narrowed[rows[np.isin(units[rows], few)]] = True
    return in_rows(evidence, narrowed)


def _several(units: Longs, classes: Ints) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The units that stand in more than one class, with these, ascending."""
    order = np.lexsort((classes, units))
    own, told = units[order], classes[order]
    new = starts_of(own) | starts_of(told)
    own, told = own[new], told[new]
    starts = np.append(np.flatnonzero(starts_of(own)), len(own))
    for place in np.flatnonzero(np.diff(starts) > 1).tolist():
        start, end = starts[place : place + 2].tolist()
        yield int(own[start]), tuple(told[start:end].tolist())


def _in_common(members: Members, users: Ints) -> Callable[[tuple[int, ...]], int]:
    """Tells how many people some groups of rows have in common."""
    held, sizes, done = column(len(members.rows), np.int32), [np.zeros(1, dtype=np.int64)], 0
    width = int(users.max(initial=0)) + 1
    for own, rows, group_of in members.parts():
        pairs = distinct(group_of * width + users[rows])
        held[done : done + len(pairs)] = pairs % width
        done += len(pairs)
        sizes.append(np.bincount(pairs // width, minlength=own.stop - own.start))
    bounds = np.cumsum(np.concatenate(sizes))

    def count(chosen: tuple[int, ...]) -> int:
        first, *others = sorted(
            (held[bounds[group] : bounds[group + 1]] for group in chosen), key=len
        )
        for other in others:
            places = np.minimum(np.searchsorted(other, first), len(other) - 1)
            first = first[other[places] == first]
        return len(first)

    return count


def _dominated_rows(evidence: Evidence) -> str | None:
    return _dominated(evidence, evidence.class_of, evidence.members)


def _dominated_clusters(evidence: Evidence) -> str | None:
    return _dominated(evidence, *evidence.members_of_clusters())


def _dominated(evidence: Evidence, groups: Ints, members: Members) -> str | None:
    """Groups of rows of which one person has more than was promised."""
    users = evidence.behind.users
    width = int(users.max(initial=0)) + 1
    heaviest = np.zeros(len(members), dtype=np.int64)
    for own, rows, group_of in members.parts():
        pairs = np.sort(group_of * width + users[rows])
        starts = np.flatnonzero(starts_of(pairs))
        sizes = np.diff(np.append(starts, len(pairs)))
        np.maximum.at(heaviest[own], pairs[starts] // width, sizes)
    most = evidence.promise.dominance + ROUNDING_ERROR
    return in_groups(evidence, groups, heaviest > most * members.sizes)


def _rare_words(evidence: Evidence) -> str | None:
    words = chain.from_iterable(query.split(" ") for query in evidence.queries)
    word_of = numbered(words, none="")
    blanks = (query.count(" ") for query in evidence.queries)
    lengths = np.fromiter(blanks, dtype=np.int64, count=len(evidence.classes)) + 1
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    people = np.zeros(int(word_of.max(initial=-1)) + 1, dtype=np.int64)
    for rows in parted(evidence.behind.users):
        rows = rows[evidence.class_of[rows] >= 0]
        said, places = spread(offsets, evidence.class_of[rows])
        own = distinct_members(word_of[places], evidence.behind.users[rows[said]])
        people[: len(own)] += own
    rare = rows_of_groups(word_of, people < evidence.promise.k)
    sayers = np.repeat(np.arange(len(lengths)), lengths)
    say_rare = np.bincount(sayers[rare], minlength=len(lengths)) > 0
    return in_groups(evidence, evidence.class_of, say_rare)


CLAUSES: Final = (
    Clause(
        "the promise is strict, terms or paper, with k of 2 or more", _unknown_promise, joint=True
    ),
    Clause("the columns are query, concepts, time, cluster: no user key", _other_columns),
    Clause("every row has four fields", _other_widths),
    Clause(
        "every row stands for one record of one person",
        _miscounted_rows,
        joint=True,
        needs_counts=True,
    ),
    Clause(
        "every record read was published, withheld or rejected",
        _lost_records,
        joint=True,
        needs_counts=True,
    ),
    Clause("rows are ordered by what they publish", _unsorted),
    Clause("every row says something", _empty_queries),
    Clause("times are months, days or hours, never full timestamps", _odd_times),
    Clause("clusters are positive whole numbers", _odd_clusters),
    Clause("every published concept exists in WordNet", _unknown_concepts),
    Clause("the concepts of a row are sorted, each named once", _disordered_concepts),
    Clause("rows without a cluster publish no concepts", _stray_concepts),
    Clause("rows without concepts have no cluster", _bare_clusters, K_ANONYMOUS),
    Clause("no row consists of filler words alone", _fillers_alone, K_ANONYMOUS),
    Clause("{time}", _fine_times),
    Clause("no query holds a direct identifier", _identifiers),
    Clause("every cluster stands for at least {who}", _small_clusters, GUARANTEES, True, True),
    Clause(
        "all rows of a cluster publish the same concepts", _mixed_clusters, K_ANONYMOUS, joint=True
    ),
    Clause(
        DIVERSE.format("row"), _uniform_rows, ("strict",), True, True, lambda promise: promise.l > 1
    ),
    Clause(
        DIVERSE.format("cluster"),
        _uniform_clusters,
        ("terms",),
        True,
        True,
        lambda promise: promise.l > 1,
    ),
    Clause("every whole row is shared by at least {who}", _lonely_rows, ("strict",), True, True),
    Clause(
        "all rows of one person's query have at least {who} in common",
        _narrowed_people,
        ("strict",),
        True,
        True,
    ),
    Clause(
        "no person has more than {share} of the rows that read alike",
        _dominated_rows,
        ("strict",),
        True,
        True,
        lambda promise: promise.dominance < 1,
    ),
    Clause(
        "no person has more than {share} of the rows of a cluster",
        _dominated_clusters,
        ("terms",),
        True,
        True,
        lambda promise: promise.dominance < 1,
    ),
    Clause(
        "as many rows read alike as a multiple of {k}",
        _odd_sizes,
        ("strict",),
        joint=True,
        asked=lambda promise: promise.rounding,
    ),
    Clause("every word is used by at least {who}", _rare_words, ("terms",), True, True),
    Clause(TRUE, _untrue_concepts, K_ANONYMOUS, True),
)
"""All that is promised, in the order in which it is judged and reported."""
