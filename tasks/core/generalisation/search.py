"""The best few of many candidates for many small clusters at once: a local search.

A cluster pays for each of its entries the square to the nearest chosen candidate, 1 if none is
chosen, times the entry's weight; and for each chosen candidate what it makes up. The search
adds a candidate, drops one or replaces one, whatever saves most, until nothing saves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.records import Flags, Floats, Longs

DROPPED_SQUARE = 1.0
"""What an attribute costs for which nothing is published: δ = 1."""
SAVING = 1e-9
DECIMALS = 9
"""Savings are compared after rounding, so that ties go to the first candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class SlotChoices:
    """B clusters of up to E entries and C candidates, padded with weight 0 and endless cost.

    Attributes:
        squares: δ² of entry and candidate, shape (B, E, C).
        weights: shape (B, E).
        made_up: cost of publishing a candidate, shape (B, C).
    """

    squares: Floats
    weights: Floats
    made_up: Floats

    def take(self, chosen: Longs) -> SlotChoices:
        return SlotChoices(self.squares[chosen], self.weights[chosen], self.made_up[chosen])

    def totals(self, published: Flags) -> Floats:
        """What each cluster pays if it publishes the marked candidates, shape (B,)."""
        nearest = np.where(published[:, None, :], self.squares, DROPPED_SQUARE).min(axis=2)
        made_up = np.where(published, self.made_up, 0.0).sum(axis=1)
        return np.asarray((nearest * self.weights).sum(axis=1) + made_up)


def search_slots(choices: SlotChoices, start: Flags) -> Flags:
    """Improve the marked candidates of each cluster until no single change saves anything."""
    published = start.copy()
    active = np.arange(len(published))
    while len(active):
        part = choices.take(active)
        dropped, added, saved = _best_changes(part, published[active])
        improving = saved > SAVING
        active, dropped, added = active[improving], dropped[improving], added[improving]
        published[active[dropped >= 0], dropped[dropped >= 0]] = False
        published[active[added >= 0], added[added >= 0]] = True
    return published


def _best_changes(choices: SlotChoices, published: Flags) -> tuple[Longs, Longs, Floats]:
    """For each cluster the candidate to drop and the one to add (-1: none), and what it saves."""
    rows = np.arange(len(published))
    paid = choices.totals(published)
    best_drop = np.full(len(rows), -1)
    best_add, best_saved = np.full(len(rows), -1), np.zeros(len(rows))
    slots = _slot_table(published)
    for column in range(-1, slots.shape[1]):
        dropped = slots[:, column] if column >= 0 else np.full(len(rows), -1)
        if column >= 0 and not (dropped >= 0).any():
            break
        kept = published.copy()
        kept[rows[dropped >= 0], dropped[dropped >= 0]] = False
        added, total = _best_addition(choices, kept)
        saved = np.round(paid - total, DECIMALS)
        saved[(dropped < 0) & (column >= 0)] = 0.0
        better = saved > best_saved
        best_drop[better], best_add[better] = dropped[better], added[better]
        best_saved[better] = saved[better]
    return best_drop, best_add, best_saved


def _best_addition(choices: SlotChoices, kept: Flags) -> tuple[Longs, Floats]:
    """The candidate that helps most beside the kept ones, or -1, and what is then paid."""
    rows = np.arange(len(kept))
    nearest = np.where(kept[:, None, :], choices.squares, DROPPED_SQUARE).min(axis=2)
    gains = np.maximum(nearest[:, :, None] - choices.squares, 0.0)
    saved = np.einsum("be,bec->bc", choices.weights, gains) - choices.made_up
    best = np.argmax(np.round(saved, DECIMALS), axis=1)
    helps = saved[rows, best] > SAVING
    paid = choices.totals(kept) - np.where(helps, saved[rows, best], 0.0)
    return np.where(helps, best, -1), paid


def _slot_table(published: Flags) -> Longs:
    """The marked candidates of each cluster in order, padded with -1."""
    counts = published.sum(axis=1)
    table = np.full((len(published), int(counts.max(initial=0))), -1)
    rows, columns = np.nonzero(published)
    first = np.cumsum(counts) - counts
    table[rows, np.arange(len(rows)) - np.repeat(first, counts)] = columns
    return table
