"""What clusters publish, against a slow count of what it costs and against all small sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from tasks.core.losses import nearest_values
from tasks.core.records import Ints
from tasks.core.rows import compress
from tasks.core.slots.members import Members
from tasks.core.slots.publish import publish_sets
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy, build_taxonomy
from tests.oracles import concept_distance
from tests.strategies import clustered, mini_taxonomy

LARGEST_TRIED = 3


def cluster(*sets: tuple[int, ...], counts: tuple[int, ...] = ()) -> Members:
    """One cluster of the given sets, all weights 1."""
    records = np.array(counts or (1,) * len(sets), dtype=np.int64)
    sizes = [len(row) for row in sets]
    return Members(
        labels=np.zeros(len(sets), dtype=np.int64),
        counts=records,
        offsets=np.cumsum([0, *sizes], dtype=np.int64),
        concepts=np.array([concept for row in sets for concept in row], dtype=np.int32),
        weights=np.repeat(records, sizes).astype(np.float64),
    )


def rows_of(members: Members, label: int) -> list[tuple[int, dict[int, float]]]:
    """Records, and attributes with their weights, of each member of a cluster."""
    rows = []
    for member in np.flatnonzero(members.labels == label).tolist():
        own = slice(members.offsets[member], members.offsets[member + 1])
        attributes = dict(
            zip(members.concepts[own].tolist(), members.weights[own].tolist(), strict=True)
        )
        rows.append((int(members.counts[member]), attributes))
    return rows


def paid(taxonomy: Taxonomy, members: Members, label: int, published: Iterable[int]) -> float:
    """What the records of a cluster lose, plus what is made up for them."""
    chosen = list(published)
    total = 0.0
    for count, attributes in rows_of(members, label):
        for own, weight in attributes.items():
            squares = [concept_distance(taxonomy, own, other) ** 2 for other in chosen]
            total += weight * min(squares, default=1.0)
        for other in chosen:
            total += count * min(concept_distance(taxonomy, own, other) ** 2 for own in attributes)
    return total


def published(sets: list[Ints], label: int) -> list[int]:
    return [int(concept) for concept in sets[label]]


def candidates(taxonomy: Taxonomy, members: Members, label: int) -> list[int]:
    """The members' concepts and all their ancestors."""
    own = {concept for _, row in rows_of(members, label) for concept in row}
    return sorted(own.union(*(taxonomy.ancestors_of(concept).tolist() for concept in own)))


@settings(max_examples=60, deadline=None)
@given(clustered())
def test_no_worse_than_medoid_or_nothing_and_no_better_than_possible(
    case: tuple[Taxonomy, Members],
) -> None:
    taxonomy, members = case
    sets = publish_sets(members, taxonomy)
    for label in range(members.cluster_count):
        chosen = published(sets, label)
        cost = paid(taxonomy, members, label, chosen)
        medoid = min(paid(taxonomy, members, label, row) for _, row in rows_of(members, label))
        assert cost <= min(medoid, paid(taxonomy, members, label, [])) + 1e-6
        possible = candidates(taxonomy, members, label)
        assert set(chosen) <= set(possible)
        if len(chosen) <= LARGEST_TRIED:
            every = (c for size in range(LARGEST_TRIED + 1) for c in combinations(possible, size))
            assert cost >= min(paid(taxonomy, members, label, c) for c in every) - 1e-9


@settings(max_examples=60, deadline=None)
@given(clustered())
def test_no_slot_can_be_dropped_or_given_to_a_members_concept(
    case: tuple[Taxonomy, Members],
) -> None:
    taxonomy, members = case
    sets = publish_sets(members, taxonomy)
    for label in range(members.cluster_count):
        chosen = published(sets, label)
        cost = paid(taxonomy, members, label, chosen)
        own = {concept for _, row in rows_of(members, label) for concept in row}
        for slot in range(len(chosen)):
            kept = chosen[:slot] + chosen[slot + 1 :]
            for changed in [kept, *([*kept, other] for other in own)]:
                assert paid(taxonomy, members, label, changed) >= cost - 1e-6


def test_close_to_the_best_set_on_the_whole() -> None:
    taxonomy = mini_taxonomy()
    generator = np.random.default_rng(5)
    found = best = 0.0
    for _ in range(60):
        sizes = generator.integers(1, 4, size=5)
        drawn = [generator.choice(np.arange(1, 9), size, replace=False) for size in sizes]
        members = cluster(*(tuple(sorted(row.tolist())) for row in drawn))
        found += paid(taxonomy, members, 0, published(publish_sets(members, taxonomy), 0))
        possible = candidates(taxonomy, members, 0)
        every = (c for size in range(LARGEST_TRIED + 1) for c in combinations(possible, size))
        best += min(paid(taxonomy, members, 0, c) for c in every)
    assert found <= 1.02 * best


@settings(max_examples=60, deadline=None)
@given(clustered())
def test_attributes_find_the_nearest_published(case: tuple[Taxonomy, Members]) -> None:
    taxonomy, members = case
    sets = publish_sets(members, taxonomy)
    facing = compress([sets[label] for label in members.labels.tolist()])
    found = nearest_values(taxonomy, (members.offsets, members.concepts), facing, inclusive=False)
    for place, label in enumerate(members.attribute_labels.tolist()):
        own = int(members.concepts[place])
        nearest = min(
            published(sets, label),
            key=lambda other: (round(concept_distance(taxonomy, own, other), 12), other),
            default=NO_CONCEPT,
        )
        assert found[place] == nearest


@settings(max_examples=40, deadline=None)
@given(clustered())
def test_clusters_do_not_influence_each_other(case: tuple[Taxonomy, Members]) -> None:
    taxonomy, members = case
    together = publish_sets(members, taxonomy)
    for label in range(members.cluster_count):
        rows = rows_of(members, label)
        alone = Members(
            labels=np.zeros(len(rows), dtype=np.int64),
            counts=np.array([count for count, _ in rows], dtype=np.int64),
            offsets=np.cumsum([0, *(len(row) for _, row in rows)], dtype=np.int64),
            concepts=np.array([c for _, row in rows for c in row], dtype=np.int32),
            weights=np.array([w for _, row in rows for w in row.values()], dtype=np.float64),
        )
        assert published(publish_sets(alone, taxonomy), 0) == published(together, label)


@pytest.mark.parametrize("row", [(5,), (5, 8), (1, 5), (3, 6), (3, 4, 5, 8)])
@pytest.mark.parametrize("inclusive", [False, True])
def test_equal_members_publish_exactly_their_set(row: tuple[int, ...], inclusive: bool) -> None:
    members = cluster(row, row, counts=(3, 1))
    sets = publish_sets(members, mini_taxonomy(), inclusive=inclusive)
    assert published(sets, 0) == list(row)


def test_of_siblings_the_most_frequent_is_published() -> None:
    sets = publish_sets(cluster((5,), (6,), (7,), counts=(1, 3, 2)), mini_taxonomy())
    assert published(sets, 0) == [6]


def test_a_rare_slot_is_dropped() -> None:
    """Keeping 8 would make it up for nine records to save it for one."""
    sets = publish_sets(cluster((5,), (5, 8), counts=(9, 1)), mini_taxonomy())
    assert published(sets, 0) == [5]


def test_a_common_branch_node_stands_for_scattered_members() -> None:
    """Three leaves two steps below three children of one node: such a child is nearest to all."""
    parents: list[list[int]] = [[], [0], [1], [2], [3], [3], [3], [4], [5], [6], [7], [8], [9]]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="fan")
    sets = publish_sets(cluster((10,), (11,), (12,)), taxonomy)
    assert published(sets, 0) == [4]


def test_weights_count() -> None:
    """An attribute that stands for five mentions outweighs four records of another."""
    light = cluster((5,), (8,), counts=(4, 1))
    heavy = replace(light, weights=np.array([4.0, 30.0]))
    assert published(publish_sets(light, mini_taxonomy()), 0) == [5]
    assert 8 in published(publish_sets(heavy, mini_taxonomy()), 0)


def test_no_clusters() -> None:
    assert publish_sets(cluster(), mini_taxonomy()) == []
