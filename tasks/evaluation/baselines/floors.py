"""Floors: what anybody could do without a method. A method has to beat them."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from tasks.core.arrays import people_per_label, split_ragged
from tasks.core.records import TIME_NONE, Clusters, Ints, Release
from tasks.core.rows.levels import VAGUEST, item_levels
from tasks.core.rows.told import release_of
from tasks.evaluation.method import (
    WITHHELD,
    Material,
    Method,
    Outcome,
    common_concepts,
    published_by_sets,
)
from tasks.evaluation.own_methods import outcome_by

SEED: Final = 6


def _random(material: Material, k: int) -> Outcome:
    """The records of adaptive's groups trade places at random."""
    table, adaptive = material.table, outcome_by("adaptive", material, k)
    members = np.flatnonzero(adaptive.labels >= 0)
    labels = np.full(len(table), WITHHELD, dtype=np.int32)
    labels[members] = np.random.default_rng(SEED).permutation(adaptive.labels[members])
    labels = united(labels, table.users, len(adaptive.published), k)
    none = np.full(labels.max(initial=-1) + 1, -1, dtype=np.int32)
    published = common_concepts(material, Clusters(labels, labels < 0, none))
    return Outcome(labels, published, rows=_one_row_each(material, labels, k))


def _one_row_each(material: Material, labels: Ints, k: int) -> Release:
    """All records of a group publish what they have in common, if that is anything."""
    table, levels = material.table, item_levels(material.table, material.taxonomy, vaguest=VAGUEST)
    tell = partial(release_of, table, k=k, precision=TIME_NONE, senses=material.senses)
    told = tell(labels.astype(np.int64), levels)
    speaking = np.append(np.diff(told.term_offsets) > 0, False)
    numbers = np.where(speaking, np.cumsum(speaking) - 1, -1)
    return tell(numbers[labels], levels)


def united(labels: Ints, users: Ints, count: int, k: int) -> Ints:
    """Groups short of k people, united with those after them until they hold k; numbered anew.

    What is left at the end joins the group before it.
    """
    people = [set(users[labels == label].tolist()) for label in range(count)]
    number, held, numbers = 0, set[int](), []
    for own in people:
        numbers.append(number)
        held |= own
        if len(held) >= k:
            number, held = number + 1, set()
    last = number - 1 if held and number else number
    return np.minimum(np.array([*numbers, WITHHELD], dtype=np.int32), last)[labels]


def _everything_to_the_root(material: Material, k: int) -> Outcome:
    root = np.array([material.taxonomy.root], dtype=np.int32)
    people = len(np.unique(material.table.users[material.holding]))
    return published_by_sets(material, [root if people >= k else None] * len(material.table.sets))


def _dropping(material: Material, k: int) -> Outcome:
    table = material.table
    people = people_per_label(table.set_of, table.users, len(table.sets))
    rows = split_ragged(table.sets.offsets, table.sets.concepts)
    held_by = zip(rows, people.tolist(), strict=True)
    return published_by_sets(material, [row if held >= k else None for row, held in held_by])


def _untouched(material: Material, k: int) -> Outcome:
    sets = material.table.sets
    return published_by_sets(material, split_ragged(sets.offsets, sets.concepts))


RANDOM: Final = Method(
    "random",
    "floor",
    True,
    _random,
    "groups of the same sizes at random: the floor of any clustering (the paper's Figure 6)",
    "sizes are adaptive's, in records; groups that fall short of k people are united",
)
ROOT: Final = Method(
    "root",
    "floor",
    False,
    _everything_to_the_root,
    "every record publishes WordNet's root: nothing is told",
    "",
)
DROPPING: Final = Method(
    "drop-rare",
    "floor",
    False,
    _dropping,
    "E. Adar: User 4XXXXX9: Anonymizing query logs, Query Log Analysis workshop, WWW 2007",
    "a query is its attribute set; published unchanged if k people hold it, else withheld",
)
UNTOUCHED: Final = Method(
    "untouched",
    "floor",
    False,
    _untouched,
    "doing nothing: the raw attribute sets",
    "",
)
