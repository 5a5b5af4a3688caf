"""What a cluster publishes: one set of concepts for all its records (paper §3.3, lines 16–17).

Candidates are the members' concepts and the ancestors that several of them have in common: a
centroid value where members are similar, a node of their common branch where they are not. From
the cluster's medoid, concepts are added, dropped and replaced while that lowers what the records
lose plus what is made up (Eq. 12 in both directions). Measured, other starts end within 0.01 %.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tasks.core.arrays import split_ragged, sums_by, take_ragged
from tasks.core.generalisation.members import Lineage, Members
from tasks.core.generalisation.search import (
    SAVING,
    CandidateCosts,
    Candidates,
    ClusterGroup,
    Entries,
    cluster_groups,
    gather_candidates,
    gather_entries,
    group_costs,
    marks_of,
    search_candidates,
)
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.core.similarity.nearest import nearest_values
from tasks.core.taxonomy import Taxonomy

MOST_MEDOIDS = 16
"""The medoid is looked for among so many of the most frequent members."""


def generalise(members: Members, taxonomy: Taxonomy, *, inclusive: bool = False) -> list[Ints]:
    """For each cluster the set that costs its records least, as far as the search sees.

    Returns:
        The published concepts of each cluster, ascending.
    """
    return generalise_along(
        Lineage.of(members.concepts, taxonomy, inclusive=inclusive), members, taxonomy
    )


def generalise_along(lineage: Lineage, members: Members, taxonomy: Taxonomy) -> list[Ints]:
    """The same, if the lineage of the members' concepts is known."""
    entries = gather_entries(members, lineage.class_of(members.concepts), len(lineage))
    candidates = gather_candidates(entries, *_common_ancestors(entries, lineage))
    chosen = np.zeros(len(candidates.classes), dtype=np.bool_)
    for group in cluster_groups(entries, candidates):
        choices = group_costs(
            members, entries, candidates, group, partial(lineage.squares, taxonomy)
        )
        start = _medoid_marks(choices, members, entries, candidates, group)
        marks = search_candidates(choices, start)
        real = group.candidates >= 0
        chosen[group.candidates[real]] = marks[real]
    return split_ragged(*_named(members, candidates, chosen, lineage, taxonomy))


def _common_ancestors(entries: Entries, lineage: Lineage) -> tuple[Longs, Longs, Floats]:
    """Label, class and weight of the ancestors that several entries of a cluster have.

    An ancestor of one entry only is no nearer to the others than the entry itself, as a rule.
    """
    offsets, places = take_ragged(lineage.above_offsets, entries.classes)
    owner = np.repeat(np.arange(len(entries.classes)), np.diff(offsets))
    keys, inverse, support = np.unique(
        entries.labels[owner] * entries.width + lineage.above[places],
        return_inverse=True,
        return_counts=True,
    )
    weights = sums_by(inverse, entries.weights[owner], len(keys))
    common = support > 1
    labels, classes = np.divmod(keys[common], entries.width)
    return labels, classes, weights[common]


def _medoid_marks(
    choices: CandidateCosts,
    members: Members,
    entries: Entries,
    candidates: Candidates,
    group: ClusterGroup,
) -> Flags:
    """The classes of the member that costs its cluster least, ties to the more frequent one."""
    best = np.zeros(group.candidates.shape, dtype=np.bool_)
    least = np.full(len(best), np.inf)
    starts, sizes = members.cluster_offsets[group.clusters], members.cluster_sizes[group.clusters]
    by_frequency = members.by_frequency
    for rank in range(min(MOST_MEDOIDS, int(sizes.max()))):
        ranked = by_frequency[starts + np.minimum(rank, sizes - 1)]
        offsets, attributes = take_ragged(members.offsets, ranked)
        rows = np.repeat(np.arange(len(ranked)), np.diff(offsets))
        classes = entries.classes[entries.of_attribute[attributes]]
        marks = marks_of(candidates, group, rows, classes)
        totals = choices.totals(marks)
        better = totals < least - SAVING
        best[better], least[better] = marks[better], totals[better]
    return best


def _named(
    members: Members, candidates: Candidates, chosen: Flags, lineage: Lineage, taxonomy: Taxonomy
) -> tuple[Longs, Ints]:
    """A concept for each chosen class: at or above most mentions that it stands for, ties by id.

    Concepts of a class are equally far from everything, but only some are true of the members.
    """
    offsets = np.concatenate(([0], np.cumsum(chosen)))[candidates.offsets]
    classes = candidates.classes[chosen]
    member_offsets, places = take_ragged(offsets, members.labels)
    stands_for = nearest_values(
        taxonomy,
        (members.offsets, members.concepts),
        (member_offsets, lineage.examples[classes[places]]),
        inclusive=lineage.inclusive,
    )
    attribute, above = _at_or_above(members.concepts, taxonomy)
    labels = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    chosen_keys = labels * len(lineage) + classes
    keys = members.attribute_labels[attribute] * len(lineage) + lineage.class_of(above)
    held = np.isin(keys, chosen_keys)
    attribute, above, keys = attribute[held], above[held], keys[held]
    published = np.searchsorted(chosen_keys, keys)
    own = stands_for[attribute] == lineage.examples[classes[published]]
    names = _heaviest_names(published, above, own * members.weights[attribute], len(taxonomy))
    order = np.lexsort((names, labels))
    return offsets, names[order]


def _at_or_above(concepts: Ints, taxonomy: Taxonomy) -> tuple[Longs, Ints]:
    """Each concept with itself and with each of its ancestors: its place, and the other one."""
    offsets, places = take_ragged(taxonomy.ancestor_offsets, concepts)
    owner = np.repeat(np.arange(len(concepts)), np.diff(offsets))
    every = np.arange(len(concepts))
    return np.concatenate([every, owner]), np.concatenate([concepts, taxonomy.ancestors[places]])


def _heaviest_names(published: Longs, names: Ints, weights: Floats, width: int) -> Ints:
    """For each published class 0, 1, … the name of greatest total weight, ties by name."""
    keys, inverse = np.unique(published * width + names, return_inverse=True)
    totals = sums_by(inverse, weights, len(keys))
    order = np.lexsort((keys, -totals, keys // width))
    first = np.unique(keys[order] // width, return_index=True)[1]
    return np.asarray(keys[order][first] % width, dtype=np.int32)
