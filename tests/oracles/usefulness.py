"""The six tasks of docs/tasks.md, literally: sets, dictionaries and loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from math import log2, sqrt
from statistics import fmean, median

from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.usefulness import Rows

Row = tuple[frozenset[int], bool, frozenset[int], float]
"""Words, whether they are all it says, concepts, count."""


def rows_of(rows: Rows) -> list[Row]:
    words = [frozenset(rows.words[1][a:b].tolist()) for a, b in pairwise(rows.words[0])]
    concepts = [frozenset(rows.concepts[1][a:b].tolist()) for a, b in pairwise(rows.concepts[0])]
    return list(zip(words, rows.whole.tolist(), concepts, rows.counts.tolist(), strict=True))


def mean(parts: Iterable[float | None]) -> float | None:
    found = [part for part in parts if part is not None]
    return fmean(found) if found else None


def above(taxonomy: Taxonomy, concept: int) -> set[int]:
    return {concept, *taxonomy.ancestors_of(concept).tolist()}


def mass(raw: list[Row], told: list[Row], taxonomy: Taxonomy) -> float | None:
    words = {word for row in told for word in row[0]}
    concepts = {concept for row in told for concept in row[2]}
    bits = taxonomy.information

    def graded(concept: int) -> float:
        if bits[concept] == 0:
            return float(concept in concepts)
        known = [bits[own] for own in above(taxonomy, concept) & concepts]
        return float(max(known, default=0.0) / bits[concept])

    def share(values: list[tuple[float, float]]) -> float | None:
        total = sum(weight for _, weight in values)
        return sum(value * weight for value, weight in values) / total if total else None

    return mean(
        [
            share([(float(word in words), row[3]) for row in raw for word in row[0]]),
            share([(graded(concept), row[3]) for row in raw for concept in row[2]]),
        ]
    )


def queries(rows: list[Row]) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for words, whole, _, count in rows:
        if whole and words and count > 0:
            found[tuple(sorted(words))] += count  # type: ignore[assignment]
    return found


def terms(rows: list[Row], place: int) -> Counter[int]:
    found: Counter[int] = Counter()
    for row in rows:
        for term in row[place]:  # type: ignore[union-attr]
            found[term] += row[3]  # type: ignore[assignment]
    return found


def order(query: object) -> bytes:
    """Ties go by the words' numbers as bytes."""
    own = query if isinstance(query, tuple) else (query,)
    return b"".join(int(word).to_bytes(4, "little") for word in own)


def commonest(found: Counter, n: int, tie: Callable[[object], object] = order) -> list:  # type: ignore[type-arg]
    held = [key for key in found if found[key] > 0]
    return sorted(held, key=lambda key: (-found[key], tie(key)))[:n]


def top(raw: list[Row], told: list[Row], tops: Iterable[int]) -> float | None:
    parts: list[float | None] = []
    for n in tops:
        for count in (queries, lambda rows: terms(rows, 0)):
            tie = order if count is queries else (lambda word: word)
            wanted = set(commonest(count(raw), n, tie))
            found = set(commonest(count(told), n, tie))
            parts.append(len(wanted & found) / len(wanted) if wanted else None)
    return mean(parts)


def called(taxonomy: Taxonomy, concept: int, depth: int) -> int:
    while taxonomy.depths[concept] > depth:
        concept = int(taxonomy.main_parents[concept])
    return concept


def topics(
    raw: list[Row], told: list[Row], taxonomy: Taxonomy, depths: Iterable[int]
) -> float | None:
    if not any(row[2] for row in raw):
        return None
    parts = []
    for depth in depths:
        shares = []
        for rows in (raw, told):
            found: Counter[int] = Counter()
            for concept, count in terms(rows, 2).items():
                found[called(taxonomy, concept, depth)] += count
            shares.append(found)
        parts.append(1 - divergence(*shares) if shares[1].total() > 0 else 0.0)
    return fmean(parts)


def divergence(one: Counter[int], other: Counter[int]) -> float:
    total = 0.0
    for key in {*one, *other}:
        p, q = one[key] / one.total(), other[key] / other.total()
        middle = (p + q) / 2
        total += sum(own * log2(own / middle) / 2 for own in (p, q) if own > 0)
    return sqrt(max(0.0, total))


def cache(raw: list[Row], later: list[Row], told: list[Row], one_in: int) -> float | None:
    asked, came = queries(raw), queries(later)
    slots = -(-len(asked) // one_in)
    room = -(-len(commonest(terms(raw, 0), 10**9)) // one_in)

    def hits(rows: list[Row]) -> float:
        return sum(came[query] for query in commonest(queries(rows), slots))

    def reached(rows: list[Row]) -> float:
        cached = set(commonest(terms(rows, 0), room, lambda word: word))
        return sum(row[3] for row in later if row[0] and row[0] <= cached)

    parts = [
        min(1.0, count(told) / count(raw)) if count(raw) > 0 else None for count in (hits, reached)
    ]
    return mean(parts)


def beside(rows: list[list[int]], counts: list[float], seed: int, n: int) -> list[int]:
    found: Counter[int] = Counter()
    for row, count in zip(rows, counts, strict=True):
        for term in set(row) - {seed} if seed in row else ():
            found[term] += max(0.0, count)  # type: ignore[assignment]
    held = [term for term in found if round(found[term], 6) > 0]
    return sorted(held, key=lambda term: (-round(found[term], 6), term))[:n]


def suggestions(
    raw: list[Row], told: list[Row], name: Callable[[Row], list[int]], seeds: int, n: int
) -> float | None:
    """Of words or of concepts, by what a row is called."""
    common: Counter[int] = Counter()
    for row in raw:
        for term in set(name(row)):
            common[term] += row[3]  # type: ignore[assignment]
    shares = []
    for seed in commonest(common, seeds, lambda term: term):
        wanted, found = (
            set(beside([name(row) for row in rows], [row[3] for row in rows], seed, n))
            for rows in (raw, told)
        )
        if wanted:
            shares.append(len(wanted & found) / len(wanted))
    return fmean(shares) if shares else None


def counts(
    raw: list[Row], told: list[Row], taxonomy: Taxonomy, vaguest: float
) -> tuple[float | None, dict[str, float]]:
    def closed(rows: list[Row]) -> Counter[int]:
        found: Counter[int] = Counter()
        for row in rows:
            for concept in {up for own in row[2] for up in above(taxonomy, own)}:
                if taxonomy.information[concept] >= max(vaguest, 1e-9):
                    found[concept] += row[3]  # type: ignore[assignment]
        return found

    parts: list[float | None] = []
    said: dict[str, float] = {}
    for kind, true, own in (
        ("words", terms(raw, 0), terms(told, 0)),
        ("concepts", closed(raw), closed(told)),
    ):
        keys = {*true, *own}
        both = sum(min(true[key], own[key]) for key in keys)
        either = sum(max(true[key], own[key]) for key in keys)
        parts.append(both / either if true.total() else None)
        errors = [abs(own[key] - true[key]) / true[key] for key in keys if own[key] and true[key]]
        dropped = sum(true[key] for key in keys if not own[key])
        spurious = sum(own[key] for key in keys if not true[key])
        said[f"{kind}_dropped"] = dropped / true.total() if true.total() else 0.0
        said[f"{kind}_spurious"] = spurious / own.total() if own.total() else 0.0
        said[f"{kind}_relative"] = median(errors) if errors else 0.0
    return mean(parts), said
