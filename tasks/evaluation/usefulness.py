"""Six tasks that people have for a query log, tried on a release of it (docs/tasks.md).

Every score is a share of what the raw log itself achieves: the raw log has 1, an empty release 0.
What is scored are rows as a reader has them: words, concepts, and how many rows read so. Rows need
not be those of our own releases: whatever others publish is brought into the same form first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import jensenshannon

from tasks.core.arrays import (
    Ragged,
    distinct,
    owners,
    ragged_from_keys,
    ragged_keys,
    sums_by,
    take_ragged,
)
from tasks.core.records import ATTRIBUTE, Flags, Floats, Ints, Longs, RecordTable, Release, freeze
from tasks.core.rows.levels import VAGUEST
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.method import concept_keys

TOPS: Final = (20, 100, 500)
DEPTHS: Final = (2, 4, 6, 8, 10)
"""Steps below the root at which topics are counted."""
CACHE_SHARE: Final = 10
"""A cache has room for one in so many of the earlier half's queries, and of its words."""
SEEDS: Final = 500
"""Terms for which others are suggested: the commonest of the raw log."""
SUGGESTED: Final = 10
SUGGESTED_DEPTH: Final = 6
"""Suggested concepts are no more special than this."""
TASKS: Final = ("mass", "top", "topics", "cache", "suggestions", "counts")
Parts = dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a reader has: different rows, and how often each stands there.

    Attributes:
        words: of each row, as a set, ascending.
        whole: rows of words as typed alone: those that may be somebody's whole query.
        concepts: that each row tells, by name or by a word that its people typed for it.
        counts: of each row; noisy ones need not be whole numbers.
    """

    words: Ragged
    whole: Flags
    concepts: Ragged
    counts: Floats

    def __post_init__(self) -> None:
        freeze(self)


def raw_rows(table: RecordTable) -> Rows:
    """The log itself: its queries, and how often each was asked."""
    forms = table.forms
    held = forms.item_kinds == ATTRIBUTE
    rows = owners(forms.item_offsets)
    return Rows(
        words=_sets(rows, forms.item_words, len(forms)),
        whole=np.ones(len(forms), dtype=np.bool_),
        concepts=_sets(rows[held], forms.item_concepts[held], len(forms)),
        counts=np.bincount(table.form_of, minlength=len(forms)).astype(np.float64),
    )


def told_rows(table: RecordTable, release: Release, counts: Floats | None = None) -> Rows:
    """The rows of a release.

    Args:
        counts: as published, where these are not the numbers of rows.
    """
    rows, typed = owners(release.term_offsets), release.terms >= 0
    own = np.bincount(release.class_of[release.published], minlength=release.class_count)
    named = np.bincount(rows[~typed], minlength=release.class_count) > 0
    return Rows(
        words=_sets(rows[typed], release.terms[typed], release.class_count),
        whole=~named & (np.diff(release.term_offsets) > 0),
        concepts=ragged_from_keys(concept_keys(table, release), release.class_count),
        counts=own.astype(np.float64) if counts is None else counts,
    )


def _sets(rows: Longs, values: Ints | Longs, count: int) -> Ragged:
    return ragged_from_keys(distinct(ragged_keys(rows, values)), count)


class Score(NamedTuple):
    """Of one task: the mean of its parts, and what is said beside them."""

    score: float
    parts: Parts
    beside: Parts


def _score(parts: Mapping[str, float | None], beside: Parts | None = None) -> Score | None:
    """Nothing if the raw log gives no part anything to do."""
    found = {name: value for name, value in parts.items() if value is not None}
    return Score(float(np.mean(list(found.values()))), found, beside or {}) if found else None


class Usefulness:
    """All that is asked of releases of one log.

    Args:
        raw: the log's own rows.
        earlier, later: those of the halves of the log, for caches.
        fillers: words that say nothing by themselves, of which no suggestion is made.
        vaguest: concepts of fewer bits are not counted.
    """

    def __init__(
        self,
        raw: Rows,
        earlier: Rows,
        later: Rows,
        taxonomy: Taxonomy,
        fillers: Flags,
        *,
        vaguest: float = VAGUEST,
    ) -> None:
        self.raw, self.earlier, self.later = raw, earlier, later
        self._taxonomy, self._fillers, self._vaguest = taxonomy, fillers, vaguest

    def scores(self, told: Rows, earlier: Rows) -> dict[str, Score | None]:
        """All tasks.

        Args:
            told: a release of the log.
            earlier: the same method's release of the earlier half.
        """
        return {
            "mass": self.mass(told),
            "top": self.top(told),
            "topics": self.topics(told),
            "cache": self.cache(earlier),
            "suggestions": self.suggestions(told),
            "counts": self.counts(told),
        }

    def mass(self, told: Rows) -> Score | None:
        """How much of the log's words and concepts is in the release's vocabulary."""
        words = np.zeros(len(self._fillers), dtype=np.bool_)
        words[told.words[1]] = True
        share = _mean(words[self.raw.words[1]], _weights(self.raw, self.raw.words))
        concepts, graded = self.raw.concepts, self._graded(told)
        return _score(
            {"words": share, "concepts": _mean(graded[concepts[1]], _weights(self.raw, concepts))}
        )

    def _graded(self, told: Rows) -> Floats:
        """Of what each concept says, the share that the best one told of it or above it says."""
        taxonomy = self._taxonomy
        said = np.zeros(len(taxonomy))
        said[told.concepts[1]] = taxonomy.information[told.concepts[1]]
        best = said.copy()
        np.maximum.at(best, owners(taxonomy.ancestor_offsets), said[taxonomy.ancestors])
        held = np.zeros(len(taxonomy), dtype=np.bool_)
        held[told.concepts[1]] = True
        # What says nothing by itself is told or not.
        shares = best / np.where(taxonomy.information > 0, taxonomy.information, 1.0)
        return np.where(taxonomy.information > 0, shares, held)

    def top(self, told: Rows) -> Score | None:
        """How many of the log's commonest queries and words are the release's commonest, too."""
        queries, words = _queries(told), self._word_counts(told)
        parts: dict[str, float | None] = {}
        for n in TOPS:
            parts[f"queries_{n}"] = _recall(_commonest(self._queries, n), _commonest(queries, n))
            parts[f"words_{n}"] = _recall(_greatest(self._words, n), _greatest(words, n))
        return _score(parts)

    def topics(self, told: Rows) -> Score | None:
        """1 - Jensen–Shannon distance of how often topics are told, at several depths."""
        if not len(self.raw.concepts[1]):
            return None
        own = self._concept_counts(told)
        parts: dict[str, float | None] = {}
        for depth in DEPTHS:
            above = self._at_depth(depth)
            raw, found = (
                sums_by(above, counts, len(above)) for counts in (self._concept_totals, own)
            )
            near = 1 - float(jensenshannon(raw, found, base=2)) if found.sum() > 0 else 0.0
            parts[f"depth_{depth}"] = near
        return _score(parts)

    def cache(self, earlier: Rows) -> Score | None:
        """Hits of the later half in a cache that was filled from the release of the earlier."""
        later, asked = self._later_queries, _queries(self.earlier)
        slots = -(-len(asked) // CACHE_SHARE)

        def hits(queries: Mapping[bytes, float]) -> float:
            return sum(later.get(query, 0.0) for query in _commonest(queries, slots))

        raw_words = self._word_counts(self.earlier)
        room = -(-int(np.count_nonzero(raw_words)) // CACHE_SHARE)

        def reached(words: Floats) -> float:
            absent = np.ones(len(words))
            absent[_greatest(words, room)] = 0
            missing = _row_sums(self.later.words, absent)
            hit = (missing == 0) & (np.diff(self.later.words[0]) > 0)
            return float(self.later.counts[hit].sum())

        return _score(
            {
                "results": _share(hits(_queries(earlier)), hits(asked)),
                "lists": _share(reached(self._word_counts(earlier)), reached(raw_words)),
            }
        )

    def suggestions(self, told: Rows) -> Score | None:
        """Of the terms that go with a term in the raw log, those that do so in the release."""
        own = (_neighbours(self._terms(told), self._seeds), self._concept_neighbours(told))
        raw = (self._word_suggestions, self._concept_suggestions)
        shares = [_overlap(one, other) for one, other in zip(raw, own, strict=True)]
        return _score(dict(zip(("words", "concepts"), shares, strict=True)))

    def counts(self, told: Rows) -> Score | None:
        """How near published counts are: what both count, of what either counts."""
        pairs = {
            "words": (self._words, self._word_counts(told)),
            "concepts": (self._closed, self._closed_counts(told)),
        }
        parts: dict[str, float | None] = {}
        beside: Parts = {}
        for name, (true, published) in pairs.items():
            both, either = np.minimum(true, published).sum(), np.maximum(true, published).sum()
            parts[name] = float(both / either) if true.sum() > 0 else None
            told_too = (true > 0) & (published > 0)
            errors = np.abs(published - true)[told_too] / true[told_too]
            beside |= {
                f"{name}_dropped": _part(true[published <= 0].sum(), true.sum()),
                f"{name}_spurious": _part(published[true <= 0].sum(), published.sum()),
                f"{name}_relative": float(np.median(errors)) if len(errors) else 0.0,
            }
        return _score(parts, beside)

    @cached_property
    def _queries(self) -> dict[bytes, float]:
        return _queries(self.raw)

    @cached_property
    def _later_queries(self) -> dict[bytes, float]:
        return _queries(self.later)

    @cached_property
    def _words(self) -> Floats:
        return self._word_counts(self.raw)

    @cached_property
    def _concept_totals(self) -> Floats:
        return self._concept_counts(self.raw)

    @cached_property
    def _closed(self) -> Floats:
        return self._closed_counts(self.raw)

    @cached_property
    def _seeds(self) -> Longs:
        return _greatest(np.where(self._fillers, 0.0, self._words), SEEDS)

    @cached_property
    def _concept_seeds(self) -> Longs:
        shallow = self._at_depth(SUGGESTED_DEPTH)
        return _greatest(sums_by(shallow, self._concept_totals, len(shallow)), SEEDS)

    @cached_property
    def _word_suggestions(self) -> list[list[int]]:
        return _neighbours(self._terms(self.raw), self._seeds)

    @cached_property
    def _concept_suggestions(self) -> list[list[int]]:
        return self._concept_neighbours(self.raw)

    def _concept_neighbours(self, rows: Rows) -> list[list[int]]:
        offsets, concepts = rows.concepts
        above = self._at_depth(SUGGESTED_DEPTH)[concepts]
        sets = _sets(owners(offsets), above, len(offsets) - 1)
        return _neighbours(_matrix(sets, rows.counts, len(self._taxonomy)), self._concept_seeds)

    def _terms(self, rows: Rows) -> sparse.csr_matrix:
        """Words of each row but for fillers, weighted by the root of its count."""
        found = _matrix(rows.words, rows.counts, len(self._fillers))
        return found @ sparse.diags((~self._fillers).astype(np.float64)).tocsr()

    def _word_counts(self, rows: Rows) -> Floats:
        return _totals(rows, rows.words, len(self._fillers))

    def _concept_counts(self, rows: Rows) -> Floats:
        return _totals(rows, rows.concepts, len(self._taxonomy))

    def _closed_counts(self, rows: Rows) -> Floats:
        """Rows that tell each concept or one below it."""
        taxonomy, (offsets, concepts) = self._taxonomy, rows.concepts
        above_offsets, places = take_ragged(taxonomy.ancestor_offsets, concepts)
        of_row = owners(offsets)
        all_rows = np.concatenate([of_row, of_row[owners(above_offsets)]])
        told = np.concatenate([concepts, taxonomy.ancestors[places]])
        said = taxonomy.information[told] >= max(self._vaguest, 1e-9)
        closed = _sets(all_rows[said], told[said], len(offsets) - 1)
        return _totals(rows, closed, len(taxonomy))

    def _at_depth(self, depth: int) -> Longs:
        """What each concept is called at a depth: what lies above it there, or itself."""
        found = np.arange(len(self._taxonomy))
        for _ in range(int(self._taxonomy.depths.max(initial=0))):
            deep = self._taxonomy.depths[found] > depth
            found = np.where(deep, self._taxonomy.main_parents[found], found)
        return found


def _weights(rows: Rows, values: Ragged) -> Floats:
    return rows.counts[owners(values[0])]


def _totals(rows: Rows, values: Ragged, width: int) -> Floats:
    """How often each value is told."""
    return sums_by(values[1].astype(np.int64), _weights(rows, values), width)


def _row_sums(rows: Ragged, values: Floats) -> Floats:
    return sums_by(owners(rows[0]), values[rows[1]], len(rows[0]) - 1)


def _mean(values: Floats | Flags, weights: Floats) -> float | None:
    return float(values @ weights / weights.sum()) if weights.sum() > 0 else None


def _share(own: float, of_raw: float) -> float | None:
    return min(1.0, own / of_raw) if of_raw > 0 else None


def _part(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def _queries(rows: Rows) -> dict[bytes, float]:
    """How often each set of words stands as a whole query."""
    offsets, words = rows.words
    found: dict[bytes, float] = {}
    described = zip(pairwise(offsets.tolist()), rows.whole.tolist(), rows.counts, strict=True)
    for (start, end), whole, count in described:
        if whole and count > 0 and end > start:
            key = words[start:end].tobytes()
            found[key] = found.get(key, 0.0) + float(count)
    return found


def _commonest(queries: Mapping[bytes, float], n: int) -> list[bytes]:
    return sorted(queries, key=lambda query: (-queries[query], query))[:n]


def _greatest(counts: Floats, n: int) -> Longs:
    """The places of the n greatest counts, ties by place; of none where there is none."""
    held = np.flatnonzero(counts > 0)
    return held[np.argsort(-counts[held], kind="stable")][:n]


def _recall(raw: list[bytes] | Longs, told: list[bytes] | Longs) -> float | None:
    wanted = {*raw} if isinstance(raw, list) else {*raw.tolist()}
    found = {*told} if isinstance(told, list) else {*told.tolist()}
    return len(wanted & found) / len(wanted) if wanted else None


def _matrix(values: Ragged, counts: Floats, width: int) -> sparse.csr_matrix:
    """A row each; the product of two columns counts the rows that tell both."""
    data = np.sqrt(np.maximum(counts, 0.0))[owners(values[0])]
    return sparse.csr_matrix((data, values[1], values[0]), shape=(len(counts), width))


def _neighbours(rows: sparse.csr_matrix, seeds: Longs) -> list[list[int]]:
    """For each seed the terms that most rows tell beside it, ties by number."""
    together = (rows.T.tocsr()[seeds] @ rows).tocsr()
    found = []
    for place, seed in enumerate(seeds.tolist()):
        start, end = together.indptr[place : place + 2]
        terms, counts = together.indices[start:end], together.data[start:end].round(6)
        other = (terms != seed) & (counts > 0)
        order = np.lexsort((terms[other], -counts[other]))[:SUGGESTED]
        found.append(terms[other][order].tolist())
    return found


def _overlap(raw: list[list[int]], told: list[list[int]]) -> float | None:
    """The mean over the seeds that have suggestions in the raw log."""
    shares = [
        len({*wanted} & {*found}) / len(wanted)
        for wanted, found in zip(raw, told, strict=True)
        if wanted
    ]
    return float(np.mean(shares)) if shares else None
