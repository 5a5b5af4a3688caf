"""What clusters publish, against a slow count of what it costs and against all small sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import ragged_of
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import Members, members_of
from tasks.core.records import Ints, RecordTable
from tasks.core.similarity.nearest import nearest_values
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy, build_taxonomy
from tests.helpers.strategies import clustered, logs, mini_taxonomy
from tests.oracles.paper import concept_distance

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


def paid(
    taxonomy: Taxonomy,
    members: Members,
    label: int,
    published: Iterable[int],
    *,
    inclusive: bool = False,
) -> float:
    """What the records of a cluster lose, plus what is made up for them."""

    def square(own: int, other: int) -> float:
        return concept_distance(taxonomy, own, other, inclusive=inclusive) ** 2

    chosen = list(published)
    total = 0.0
    for count, attributes in rows_of(members, label):
        for own, weight in attributes.items():
            total += weight * min((square(own, other) for other in chosen), default=1.0)
        total += count * sum(min(square(own, other) for own in attributes) for other in chosen)
    return total


def published(sets: list[Ints], label: int) -> list[int]:
    return [int(concept) for concept in sets[label]]


def candidates(taxonomy: Taxonomy, members: Members, label: int) -> list[int]:
    """The members' concepts and all their ancestors."""
    own = {concept for _, row in rows_of(members, label) for concept in row}
    return sorted(own.union(*(taxonomy.ancestors_of(concept).tolist() for concept in own)))


@settings(max_examples=60, deadline=None)
@given(clustered(), st.booleans())
def test_no_worse_than_the_medoid_and_no_better_than_possible(
    case: tuple[Taxonomy, Members], inclusive: bool
) -> None:
    taxonomy, members = case
    sets = generalise(members, taxonomy, inclusive=inclusive)
    for label in range(members.cluster_count):
        costs = partial(paid, taxonomy, members, label, inclusive=inclusive)
        chosen = published(sets, label)
        assert costs(chosen) <= min(costs(row) for _, row in rows_of(members, label)) + 1e-6
        possible = candidates(taxonomy, members, label)
        assert set(chosen) <= set(possible)
        if len(chosen) <= LARGEST_TRIED:
            assert costs(chosen) >= min(map(costs, small_sets(possible))) - 1e-9


def small_sets(concepts: list[int]) -> Iterator[tuple[int, ...]]:
    return (c for size in range(LARGEST_TRIED + 1) for c in combinations(concepts, size))


@settings(max_examples=60, deadline=None)
@given(clustered(), st.booleans())
def test_no_slot_can_be_dropped_or_given_to_a_members_concept(
    case: tuple[Taxonomy, Members], inclusive: bool
) -> None:
    taxonomy, members = case
    sets = generalise(members, taxonomy, inclusive=inclusive)
    for label in range(members.cluster_count):
        costs = partial(paid, taxonomy, members, label, inclusive=inclusive)
        chosen = published(sets, label)
        own = {concept for _, row in rows_of(members, label) for concept in row}
        for slot in range(len(chosen)):
            kept = chosen[:slot] + chosen[slot + 1 :]
            for changed in [kept, *([*kept, other] for other in own)]:
                assert costs(changed) >= costs(chosen) - 1e-6


def test_close_to_the_best_set_on_the_whole() -> None:
    taxonomy = mini_taxonomy()
    generator = np.random.default_rng(5)
    found = best = 0.0
    for _ in range(60):
        sizes = generator.integers(1, 4, size=5)
        drawn = [generator.choice(np.arange(1, 9), size, replace=False) for size in sizes]
        members = cluster(*(tuple(sorted(row.tolist())) for row in drawn))
        found += paid(taxonomy, members, 0, published(generalise(members, taxonomy), 0))
        tried = small_sets(candidates(taxonomy, members, 0))
        best += min(paid(taxonomy, members, 0, concepts) for concepts in tried)
    assert found <= 1.02 * best


@settings(max_examples=60, deadline=None)
@given(clustered())
def test_attributes_find_the_nearest_published(case: tuple[Taxonomy, Members]) -> None:
    taxonomy, members = case
    sets = generalise(members, taxonomy)
    facing = ragged_of([sets[label] for label in members.labels.tolist()])
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
@given(clustered(), st.data())
def test_clusters_do_not_influence_each_other(
    case: tuple[Taxonomy, Members], data: st.DataObject
) -> None:
    """Repeated and in another order each publishes the same."""
    taxonomy, members = case
    every = list(range(members.cluster_count))
    order = data.draw(st.permutations([*every, *every, 0]))
    apart = generalise(members, taxonomy)
    together = generalise(rearranged(members, order), taxonomy)
    assert [published(together, place) for place in range(len(order))] == [
        published(apart, label) for label in order
    ]


def rearranged(members: Members, order: list[int]) -> Members:
    """The members of the clusters given, in that order."""
    groups = [rows_of(members, label) for label in order]
    rows = [row for group in groups for row in group]
    return Members(
        labels=np.repeat(np.arange(len(order)), [len(group) for group in groups]),
        counts=np.array([count for count, _ in rows], dtype=np.int64),
        offsets=np.cumsum([0, *(len(row) for _, row in rows)], dtype=np.int64),
        concepts=np.array([c for _, row in rows for c in row], dtype=np.int32),
        weights=np.array([w for _, row in rows for w in row.values()], dtype=np.float64),
    )


@settings(max_examples=40, deadline=None)
@given(logs(), st.data())
def test_members_are_the_sets_of_each_cluster(
    case: tuple[Taxonomy, RecordTable], data: st.DataObject
) -> None:
    """Records and mentions, counted record by record."""
    _, table = case
    labels = np.array([data.draw(st.integers(-1, 2)) for _ in range(len(table))], dtype=np.int32)
    records: Counter[tuple[int, tuple[int, ...]]] = Counter()
    mentions: Counter[tuple[int, tuple[int, ...], int]] = Counter()
    for label, form in zip(labels.tolist(), table.form_of.tolist(), strict=True):
        own = slice(*table.forms.attribute_offsets[form : form + 2])
        row = tuple(table.forms.attributes[own].tolist())
        if label >= 0:
            records[label, row] += 1
            for concept, weight in zip(row, table.forms.weights[own].tolist(), strict=True):
                mentions[label, row, concept] += weight
    members = members_of(table, labels)
    found = {
        (label, tuple(row)): (count, row)
        for label in set(members.labels.tolist())
        for count, row in rows_of(members, label)
    }
    assert {key: count for key, (count, _) in found.items()} == records
    assert {(*key, c): w for key, (_, row) in found.items() for c, w in row.items()} == mentions


@pytest.mark.parametrize("row", [(5,), (5, 8), (1, 5), (3, 6), (3, 4, 5, 8)])
@pytest.mark.parametrize("inclusive", [False, True])
def test_equal_members_publish_exactly_their_set(row: tuple[int, ...], inclusive: bool) -> None:
    members = cluster(row, row, counts=(3, 1))
    sets = generalise(members, mini_taxonomy(), inclusive=inclusive)
    assert published(sets, 0) == list(row)


def test_of_siblings_the_most_frequent_is_published() -> None:
    sets = generalise(cluster((5,), (6,), (7,), counts=(1, 3, 2)), mini_taxonomy())
    assert published(sets, 0) == [6]


def test_a_name_is_true_of_what_it_stands_for() -> None:
    """2 and 3 have the same ancestors; 2 is true of many 4s, but it is 3 that the slot is for."""
    parents: list[list[int]] = [[], [0], [1], [1], [2]]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="uncle")
    assert published(generalise(cluster((3, 4), counts=(9,)), taxonomy), 0) == [3, 4]


def test_a_rare_slot_is_dropped() -> None:
    """Keeping 8 would make it up for nine records to save it for one."""
    sets = generalise(cluster((5,), (5, 8), counts=(9, 1)), mini_taxonomy())
    assert published(sets, 0) == [5]


def test_a_common_branch_node_stands_for_scattered_members() -> None:
    """Three leaves two steps below three children of one node: such a child is nearest to all."""
    parents: list[list[int]] = [[], [0], [1], [2], [3], [3], [3], [4], [5], [6], [7], [8], [9]]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="fan")
    sets = generalise(cluster((10,), (11,), (12,)), taxonomy)
    assert published(sets, 0) == [4]


def test_weights_count() -> None:
    """An attribute that stands for five mentions outweighs four records of another."""
    light = cluster((5,), (8,), counts=(4, 1))
    heavy = replace(light, weights=np.array([4.0, 30.0]))
    assert published(generalise(light, mini_taxonomy()), 0) == [5]
    assert 8 in published(generalise(heavy, mini_taxonomy()), 0)


def test_no_clusters() -> None:
    assert generalise(cluster(), mini_taxonomy()) == []
