"""The contest: what all methods and rivals are worth for six tasks, and which k to take.

Methods are tried on the whole log and, for caches, on its earlier half. That costs one more run of
each, so it is done for the k that was asked for alone; for ours, of which a curve is shown, at
every k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tasks.core.arrays import take_ragged
from tasks.core.records import AttributeSets, Flags, QueryForms, RecordTable
from tasks.core.similarity.pairs import least_set_pairs
from tasks.evaluation.measures import as_release
from tasks.evaluation.method import Material, Method, Outcome
from tasks.evaluation.usefulness import TASKS, Rows, Score, Usefulness, raw_rows, told_rows

HIGH: Final = 0.9
"""Within a tenth of the raw log."""


def only_records(table: RecordTable, chosen: Flags) -> RecordTable:
    """Some of the records, as if the others had never been asked; the vocabulary stays."""
    forms, form_of = np.unique(table.form_of[chosen], return_inverse=True)
    sets, set_of = np.unique(table.set_of_form[forms], return_inverse=True)
    held = sets >= 0
    set_offsets, concepts = take_ragged(table.sets.offsets, sets[held])
    return replace(
        table,
        forms=_only_forms(table.forms, forms),
        sets=AttributeSets(set_offsets, table.sets.concepts[concepts]),
        # The set -1 of forms without attributes comes first, if there is any.
        set_of_form=(set_of - np.count_nonzero(~held)).astype(np.int32),
        form_of=form_of.astype(np.int32),
        users=table.users[chosen],
        times=table.times[chosen],
        log_rows=table.log_rows[chosen],
    )


def _only_forms(forms: QueryForms, chosen: np.ndarray[Any, Any]) -> QueryForms:
    item_offsets, items = take_ragged(forms.item_offsets, chosen)
    attribute_offsets, attributes = take_ragged(forms.attribute_offsets, chosen)
    return QueryForms(
        item_offsets=item_offsets,
        item_words=forms.item_words[items],
        item_kinds=forms.item_kinds[items],
        item_concepts=forms.item_concepts[items],
        item_identifiers=forms.item_identifiers[items],
        item_attributes=forms.item_attributes[items],
        attribute_offsets=attribute_offsets,
        attributes=forms.attributes[attributes],
        weights=forms.weights[attributes],
    )


def earlier_records(table: RecordTable) -> Flags:
    """The half of the records that came first, by time, or by their place in the log."""
    order = np.lexsort((table.log_rows, table.times))
    chosen = np.zeros(len(table), dtype=np.bool_)
    chosen[order[: (len(table) + 1) // 2]] = True
    return chosen


def material_of_half(material: Material, chosen: Flags) -> Material:
    """The same log, in part: its own sets and their pairs."""
    table = only_records(material.table, chosen)
    distances = material.distances
    pairs = least_set_pairs(
        distances.in_classes(table.sets),
        distances.similar(material.threshold),
        distance=material.distance,
        starmap=material.starmap,
    )
    return replace(material, table=table, set_pairs=pairs, known={})


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """All that is asked of every method, of one log."""

    whole: Material
    half: Material
    asked: Usefulness

    @classmethod
    def of(cls, material: Material) -> Contest:
        table, earlier = material.table, earlier_records(material.table)
        half = material_of_half(material, earlier)
        asked = Usefulness(
            raw_rows(table),
            raw_rows(half.table),
            raw_rows(only_records(table, ~earlier)),
            material.taxonomy,
            table.fillers,
        )
        return cls(material, half, asked)

    def raw(self) -> dict[str, Any]:
        """The raw log against itself: the best there is."""
        return _told(self.asked.scores(self.asked.raw, self.asked.earlier))

    def tried(self, method: Method, k: int, outcome: Outcome) -> dict[str, Any]:
        """The six tasks with what a method publishes of the log, and of its earlier half."""
        earlier = _rows(self.half, method.apply(self.half, k))
        return _told(self.asked.scores(_rows(self.whole, outcome), earlier))


def _rows(material: Material, outcome: Outcome) -> Rows:
    return told_rows(material.table, outcome.rows or as_release(outcome), outcome.counts)


def _told(scores: Mapping[str, Score | None]) -> dict[str, Any]:
    """As `comparison.json` holds it; a task that the log has no material for is left out."""
    held = {name: found for name, found in scores.items() if found is not None}
    return {
        "scores": {name: found.score for name, found in held.items()},
        "parts": {name: {**found.parts, **found.beside} for name, found in held.items()},
    }


def verdicts(entries: Mapping[str, Mapping[str, Any]], ours: str, k: int) -> dict[str, Any]:
    """For each task who is best of those that hold k, and by how much ours is behind."""
    holding = [name for name, own in entries.items() if own["least_people"] >= k]
    found: dict[str, Any] = {}
    for task in TASKS:
        scores = {n: own["scores"][task] for n, own in entries.items() if task in own["scores"]}
        if not scores:
            continue
        best = max(
            (name for name in holding if name in scores), key=lambda n: scores[n], default=None
        )
        found[task] = {
            "best": best,
            "score": None if best is None else scores[best],
            ours: scores.get(ours, 0.0),
            "within_a_tenth_of_raw": scores.get(ours, 0.0) >= HIGH,
        }
    return found


def which_k(points: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The k at which more people begin to cost much: where the curve bends.

    That is where it lies farthest above the straight line between its ends, k on a log scale
    (V. Satopää, J. Albrecht, D. Irwin, B. Raghavan: Finding a “kneedle” in a haystack, 2011).

    Args:
        points: for each k, ascending: `k`, and shares of which the mean is drawn.
    """
    ks = np.array([point["k"] for point in points])
    values = np.array([np.mean([v for n, v in point.items() if n != "k"]) for point in points])
    found: dict[str, Any] = {"curve": [dict(point) for point in points], "mean": values.tolist()}
    if len(ks) < 3:
        return {**found, "k": None, "bend": 0.0}
    across = np.log(ks / ks[0]) / np.log(ks[-1] / ks[0])
    above = values - (values[0] + across * (values[-1] - values[0]))
    best = int(np.argmax(above))
    return {**found, "k": int(ks[best]) if above[best] > 1e-9 else None, "bend": float(above[best])}
