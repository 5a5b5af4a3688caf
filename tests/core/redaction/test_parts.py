"""A log redacted in parts publishes what it publishes as a whole, and no part tells more."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import Lineage, members_of
from tasks.core.records import NO_TIME, TIME_HOUR, WORD, Clusters, RecordTable, Release
from tasks.core.redaction import parts
from tasks.core.redaction.parts import narrowed, words_said
from tasks.core.redaction.published import dissolve_bare, place_attributes
from tasks.core.redaction.strict import redact_strictly
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import HOUR, WORDS, table_of, taxonomies

Row = tuple[int, list[int], list[str], int]


def as_a_whole(
    table: RecordTable,
    clusters: Clusters,
    taxonomy: Taxonomy,
    k: int,
    inclusive: bool,
    finest: int = TIME_HOUR,
) -> Release:
    """The redaction of all clusters at once."""
    sets = generalise(members_of(table, clusters.labels), taxonomy, inclusive=inclusive)
    speaking, rows = dissolve_bare(clusters, sets)
    published = place_attributes(table, speaking, rows, taxonomy, inclusive=inclusive)
    return redact_strictly(table, speaking, published, k=k, finest=finest)


def in_parts(
    table: RecordTable,
    clusters: Clusters,
    taxonomy: Taxonomy,
    k: int,
    inclusive: bool,
    *,
    size: int,
) -> Release:
    own = parts.cut_into_parts(clusters.labels, records_per_part=size)
    lineage = parts.lineage_of(table, clusters.labels, taxonomy, inclusive=inclusive)
    cuts = [parts.part_of(table, clusters.labels, each, lineage, taxonomy) for each in own]
    redacted = [parts.redact_part(part, taxonomy, k=k) for part in cuts]
    left = parts.left_by_parts(clusters, redacted)
    alone = parts.redact_without_cluster(table, left, taxonomy, k=k)
    return parts.join(table, (left, alone), own, redacted)


def differences(left: Release, right: Release) -> list[str]:
    pairs = [(f.name, getattr(left, f.name), getattr(right, f.name)) for f in fields(Release)]
    return [n for n, a, b in pairs if a.dtype != b.dtype or not np.array_equal(a, b)]


@st.composite
def clustered(draw: st.DrawFn) -> tuple[Taxonomy, RecordTable, Clusters]:
    """Random records, some without attributes or times, in any clusters; some are withheld."""
    taxonomy = draw(taxonomies())
    row = st.tuples(
        st.integers(0, 12),
        st.lists(st.integers(0, len(taxonomy) - 1), max_size=3, unique=True),
        st.lists(st.sampled_from(WORDS), max_size=3, unique=True),
        st.one_of(st.just(NO_TIME), st.integers(0, 40).map(lambda hour: hour * 5 * HOUR)),
    )
    table = table_of(taxonomy, draw(st.lists(row, min_size=1, max_size=60)))
    count = len(table)
    drawn = draw(st.lists(st.integers(-2, 6), min_size=count, max_size=count))
    chosen = np.where(table.set_of >= 0, drawn, -1)
    held = chosen >= 0
    labels = np.full(count, -1, dtype=np.int32)
    labels[held] = np.unique(chosen[held], return_inverse=True)[1]
    centroids = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int32)
    return taxonomy, table, Clusters(labels, chosen == -2, centroids)


@pytest.mark.parametrize("size", [1, 7, 20], ids=["one cluster each", "some", "more"])
@settings(max_examples=150)
@given(clustered(), st.integers(1, 4), st.booleans())
def test_parts_publish_what_the_whole_does(
    size: int, case: tuple[Taxonomy, RecordTable, Clusters], k: int, inclusive: bool
) -> None:
    taxonomy, table, clusters = case
    given_to = (table, clusters, taxonomy, k, inclusive)
    assert differences(in_parts(*given_to, size=size), as_a_whole(*given_to)) == []


# What a part holds


def taxonomy_of(*parents: list[int]) -> Taxonomy:
    names = [f"c{number}.n.01" for number in range(len(parents))]
    return build_taxonomy(names, names, parents, root="c0.n.01", version="by hand")


def numbered_log() -> RecordTable:
    """Four records with attributes, with a word, a name and a time each, and one without."""
    taxonomy = taxonomy_of([], [0], [0], [1], [1], [2], [2])
    rows = [
        (4, [5], ["near", "the"], 7209),
        (2, [3, 5], ["cheap"], NO_TIME),
        (7, [6], ["best"], 7),
        (4, [3, 5], ["the", "free"], 3608),
        (1, [], ["cheap", "near"], 6),
    ]
    return table_of(taxonomy, rows)


def test_numbers_of_a_part_are_ranks() -> None:
    """Users 4 and 4, words and sets of the log by rank; fillers stay, times to the hour."""
    table = numbered_log()
    records = np.flatnonzero((table.users == 4) & (table.set_of >= 0))
    own = narrowed(table, records)
    assert own.users.tolist() == [0, 0]
    assert table.times[records].tolist() == [3608, 7209]
    assert own.times.tolist() == [3600, 7200]
    assert own.form_of.tolist() == [0, 1]
    assert own.set_of.tolist() == [0, 1]
    rows = [table.sets.row(own_set).tolist() for own_set in table.set_of[records].tolist()]
    assert [own.sets.row(own_set).tolist() for own_set in (0, 1)] == rows == [[3, 5], [5]]
    words = words_said(table, records)
    assert table.words[words].tolist() == ["free", "near", "the"]
    assert own.fillers.tolist() == [False, False, True]
    plain = own.forms.item_kinds == WORD
    assert own.forms.item_words[plain].tolist() == [2, 0, 1, 2]


def test_a_part_tells_no_more_than_its_redaction_needs() -> None:
    table = numbered_log()
    own = narrowed(table, np.arange(len(table)))
    assert (len(own.words), len(own.log_rows), own.in_doubt) == (0, 0, 0)
    assert not own.identifiers.any()
    other = own.forms.item_kinds != WORD
    assert other.any()
    assert set(own.forms.item_words[other].tolist()) == {-1}
    assert set(own.forms.item_concepts.tolist()) == {-1}


def test_classes_of_a_part_keep_the_order_of_the_log() -> None:
    """3 and 6 have the same ancestors, and so have 4 and 5: that of 3 comes first, also for 6."""
    taxonomy = taxonomy_of([], [0], [0], [1], [2], [2], [1])
    whole = Lineage.of(np.array([3, 4, 5, 6], dtype=np.int32), taxonomy, inclusive=False)
    part = whole.part(np.array([5, 6], dtype=np.int32), taxonomy)
    assert part.concepts.tolist() == [1, 2, 5, 6]
    assert part.class_of(np.array([6, 5])).tolist() == [2, 3]
    assert part.examples.tolist() == [1, 2, 3, 4]
    assert (part.above_offsets.tolist(), part.above.tolist()) == ([0, 0, 0, 1, 2], [0, 1])
    smaller = part.part(np.array([5], dtype=np.int32), taxonomy)
    assert (smaller.examples.tolist(), smaller.above.tolist()) == ([2, 4], [0])


def test_a_tie_is_decided_as_in_the_whole_log() -> None:
    """Beside 1 it costs the first cluster the same to publish 3 or 4.

    The class that comes first is taken: that of 3, but for 2 in another part, which is in the
    class of 4.
    """
    taxonomy = taxonomy_of([], [0], [3], [1], [3])
    sets = ([1], [3, 4], [2])
    rows: list[Row] = [(user, concepts, [], 0) for user in (1, 2) for concepts in sets]
    table = table_of(taxonomy, rows)
    alone = [int(row[0]) == 2 for row in map(table.sets.row, table.set_of.tolist())]
    clusters = Clusters(
        labels=np.array(alone, dtype=np.int32),
        suppressed=np.zeros(len(rows), dtype=np.bool_),
        centroids=np.zeros(2, dtype=np.int32),
    )
    assert len(parts.cut_into_parts(clusters.labels, records_per_part=4)) == 2
    release = in_parts(table, clusters, taxonomy, 2, inclusive=False, size=4)
    assert differences(release, as_a_whole(table, clusters, taxonomy, 2, inclusive=False)) == []
    assert set(release.concepts[: release.concept_offsets[1]].tolist()) == {1, 4}


# Where a log is cut


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([3], [[0]]),
        ([3, 3, 4, 1, 9, 10], [[0, 1, 2], [3, 4], [5]]),
        ([1, 25, 1, 1], [[0], [1], [2, 3]]),
    ],
    ids=["no clusters", "one", "full", "a large one"],
)
def test_parts_are_as_many_whole_clusters_as_fit(
    sizes: list[int], expected: list[list[int]]
) -> None:
    labels = np.repeat(np.arange(-1, len(sizes)), [4, *sizes]).astype(np.int32)
    mixed = np.random.default_rng(1).permutation(labels)
    found = parts.cut_into_parts(mixed, records_per_part=10)
    assert [np.unique(mixed[records]).tolist() for records in found] == expected
    assert sorted(np.concatenate([*found, []]).tolist()) == np.flatnonzero(mixed >= 0).tolist()
    assert all((np.diff(records) > 0).all() for records in found)
