"""What the report draws, against cases worked by hand, and what holds for all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.measures.counts import (
    MOST_POINTS,
    WIDEST_LINEAR,
    count_release,
    distributions,
    histogram,
    ordered_points,
    unchanged,
)
from tasks.core.measures.standing import standing_of
from tasks.core.members import members_of
from tasks.core.records import PUBLISHED, TOO_FEW, TOO_VAGUE, WITHHELD, QueryLog
from tasks.core.taxonomy import build_taxonomy
from tasks.core.texts import TextColumn
from tasks.schema import Histogram
from tests.core.measures.test_information import release_of
from tests.core.measures.test_information_loss import one_cluster, publishing
from tests.helpers.random_logs import table_of


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_close_numbers_are_counted_one_by_one() -> None:
    found = histogram(numbers(5, 5, 7), k=5)
    assert found == {"scale": "linear", "edges": [5, 6, 7, 8], "counts": [2, 0, 1]}


def test_an_axis_begins_at_k_or_below() -> None:
    assert histogram(numbers(8), k=6)["edges"] == [6, 7, 8, 9]
    assert histogram(numbers(1), k=3)["counts"] == [1, 0, 0]


def test_distant_numbers_are_counted_in_bins_of_equal_ratio() -> None:
    found = histogram(numbers(3, 5, 6, 100), k=5)
    assert found["scale"] == "log"
    assert found["edges"] == [2, 4, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113]
    assert found["counts"] == [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]


def test_nothing_has_an_empty_histogram() -> None:
    empty: Histogram = {"scale": "linear", "edges": [], "counts": []}
    assert histogram(numbers(), k=5) == empty


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60), st.integers(2, 1000))
def test_histograms_add_up_and_never_cut_through_k(values: list[int], k: int) -> None:
    found = histogram(numbers(*values), k=k)
    edges, counts = found["edges"], found["counts"]
    assert sum(counts) == len(values)
    assert k in edges
    assert edges == sorted(set(edges))
    assert len(edges) == len(counts) + 1 <= WIDEST_LINEAR + 10
    below = sum(count for edge, count in zip(edges, counts, strict=False) if edge < k)
    assert below == sum(value < k for value in values)


@given(st.lists(st.floats(0, 1), max_size=3 * MOST_POINTS))
def test_points_are_ordered_few_and_reach_both_ends(values: list[float]) -> None:
    points = ordered_points(np.array(values))
    assert points == sorted(points)
    assert len(points) == min(len(values), MOST_POINTS)
    if values:
        assert (points[0], points[-1]) == (round(min(values), 4), round(max(values), 4))


def test_withheld_records_are_counted_by_the_reasons_that_occur() -> None:
    names = ["entity", "a"]
    taxonomy = build_taxonomy(names, names, [[], [0]], root="entity", version="")
    table = table_of(taxonomy, [(user, [1], [], 0) for user in range(4)])
    withheld = np.array([PUBLISHED, TOO_VAGUE, TOO_FEW, TOO_VAGUE], dtype=np.int32)
    release = replace(release_of([0, -1, -1, -1], [([-2], [1], 0)]), reasons=withheld)
    standing, same = standing_of(table, release), unchanged(table, release)
    found = count_release(rejecting("no query"), standing, members_of(table.set_of, 1), same)
    assert found["withheld_by_reason"] == {WITHHELD[TOO_FEW]: 1, WITHHELD[TOO_VAGUE]: 2}
    assert list(found["withheld_by_reason"]) == [WITHHELD[TOO_FEW], WITHHELD[TOO_VAGUE]]
    assert found["records"]["withheld"] == 3
    shares = found["shares"]
    assert shares["with_attributes_published"] * 4 == shares["with_attributes"]


def test_the_distributions_of_a_small_release() -> None:
    names = ["entity", "a", "b"]
    taxonomy = build_taxonomy(names, names, [[], [0], [0]], root="entity", version="")
    rows = [(0, [1], [], 0), (1, [1], [], 0), (2, [2], ["best"], 0), (2, [], ["best"], 0)]
    table = table_of(taxonomy, rows)
    found = distributions(
        rejecting("blank line", "no query", "blank line"),
        standing_of(table, publishing(table, [1])),
        members_of(one_cluster(table).labels, 1),
        np.array([0.5]),
        k=2,
    )
    assert found["distinct"]["queries"] == 3
    assert found["distinct"]["sets"] == 2
    assert found["cohesion"] == [0.5]
    assert found["cluster_sizes"]["counts"] == [0, 1]
    assert found["risk"]["raw"] == [0.5, 0.5, 1.0, 1.0]
    assert max(found["risk"]["released"]) <= 1.0
    assert found["rejects"] == {"blank line": 2, "no query": 1}
    assert sum(found["people_per_row"]["counts"]) == found["distinct"]["published_rows"]


def rejecting(*reasons: str) -> QueryLog:
    """A log of which nothing but the rejects matters."""
    none = np.zeros(0, dtype=np.int32)
    return QueryLog(
        texts=TextColumn.of([]),
        users=none,
        times=none.astype(np.int64),
        people=none.astype(np.int64),
        origins=none,
        rows=none.astype(np.int64),
        sources=("a.tsv",),
        reject_sources=np.zeros(len(reasons), dtype=np.int32),
        reject_rows=np.arange(1, len(reasons) + 1),
        reject_reasons=np.array(reasons, dtype=object),
        has_times=True,
    )
