"""MDAV and V-MDAV: golden values on numbers, the same loops on sets of concepts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.clustering.mdav import SetSpace, mdav, mdav_labels, vmdav, vmdav_labels
from tasks.core.clustering.problem import Problem, UserSizes, between_sets
from tasks.core.records import Floats
from tests.helpers.clusterings import assert_valid
from tests.helpers.microdata import RowSizes, RowSpace, information_loss
from tests.helpers.strategies import example_problem, problems

CASC = Path(
    os.environ.get("LOGVEIL_CASC", Path(__file__).parents[3].parent / "shared" / "data" / "casc")
)
GOLDEN = {
    "Census": {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559},
    "Tarragona": {3: 16.9326, 4: 19.5460, 5: 22.4619, 10: 33.1929},
}


def casc_scores(name: str) -> Floats:
    """A CASC reference table as z-scores (n - 1)."""
    path = CASC / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    return np.asarray((rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1))


@pytest.mark.parametrize(
    ("name", "k", "loss"),
    [(name, k, loss) for name, losses in GOLDEN.items() for k, loss in losses.items()],
)
def test_information_loss_on_the_casc_tables(name: str, k: int, loss: float) -> None:
    """The values of sdcMicro and of an independent NumPy version (docs/decisions.md#mdav)."""
    scores = casc_scores(name)
    labels = mdav(RowSpace(scores), RowSizes(k), len(scores))
    assert information_loss(scores, labels) == pytest.approx(loss, abs=5e-5)


def test_two_clusters_at_a_time_then_one_then_the_rest() -> None:
    """k = 2: around 0, the farthest from the mean, and its opposite 99; around 40; the rest."""
    rows = np.array([0.0, 1.0, 40.0, 50.0, 60.0, 61.0, 98.0, 99.0])[:, None]
    labels = mdav(RowSpace(rows), RowSizes(2), len(rows))
    assert labels.tolist() == [0, 0, 2, 2, 3, 3, 1, 1]


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), st.lists(st.integers(0, 50), min_size=2, max_size=40))
def test_fixed_sizes_on_rows(k: int, values: list[int]) -> None:
    rows = np.array(values, dtype=np.float64)[:, None]
    sizes = np.bincount(mdav(RowSpace(rows), RowSizes(k), len(rows)))
    assert sizes.sum() == len(rows)
    if len(rows) >= k:
        assert sizes.min() >= k
        assert (sizes > k).sum() <= 1
        assert sizes.max() < 2 * k


@settings(max_examples=150, deadline=None)
@given(problems())
def test_every_cluster_holds_k_people_and_l_sets(problem: Problem) -> None:
    assert_valid(problem, mdav_labels(problem))


@settings(max_examples=50, deadline=None)
@given(problems(), st.data())
def test_the_medoid_follows_the_remaining_sets(problem: Problem, data: st.DataObject) -> None:
    """Distances from the centre are those from the set that costs the remaining records least."""
    between = between_sets(problem)
    space = SetSpace(problem, between)
    remaining = np.arange(len(problem))
    while len(remaining):
        totals = problem.counts[remaining] @ between[np.ix_(remaining, remaining)]
        medoids = remaining[totals <= totals.min() + 1e-4]
        found = space.from_centre(remaining)
        assert any(np.allclose(found, between[m, remaining], atol=1e-5) for m in medoids)
        kept = data.draw(st.integers(0, len(remaining) - 1))
        remaining = np.sort(data.draw(st.permutations(remaining.tolist()))[:kept]).astype(np.int64)


def test_needed_counts_people_not_sets() -> None:
    problem = example_problem(k=3)
    sizes = UserSizes(problem)
    assert sizes.needed(np.array([0, 1, 2, 3, 4, 5])) == 3
    assert sizes.needed(np.array([0, 1])) == 0
    assert not sizes.enough(np.array([0, 1]))


# V-MDAV: numbers where fixed sizes fail, and sets of concepts


@pytest.mark.parametrize("gamma", [0.2, 1.1])
def test_finds_groups_of_four_with_k_three(gamma: float) -> None:
    """Three groups of four: fixed clusters of three tear them apart."""
    rows = np.array([0, 1, 2, 3, 100, 101, 102, 103, 200, 201, 202, 203], dtype=float)[:, None]
    labels = vmdav(RowSpace(rows), RowSizes(3), len(rows), gamma=gamma)
    assert labels.tolist() == [0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1]
    fixed = mdav(RowSpace(rows), RowSizes(3), len(rows))
    assert information_loss(rows, labels) < information_loss(rows, fixed) / 10


@pytest.mark.parametrize(("gamma", "size"), [(0.2, 3), (1.1, 4)])
def test_gamma_says_how_near_a_newcomer_must_be(gamma: float, size: int) -> None:
    """7 is at 5² from the first cluster and at 10² from the rest: 25 < 1.1 · 100, but not < 20."""
    rows = np.array([-6, 0, 2, 7, 17, 18], dtype=float)[:, None]
    labels = vmdav(RowSpace(rows), RowSizes(3), len(rows), gamma=gamma)
    assert (labels[:4] == labels[0]).sum() == size


def test_without_gamma_sizes_are_fixed_and_the_rest_joins_the_nearest() -> None:
    rows = np.array([0, 1, 2, 3, 100, 101, 102], dtype=float)[:, None]
    labels = vmdav(RowSpace(rows), RowSizes(3), len(rows), gamma=0.0)
    assert labels.tolist() == [1, 1, 1, 1, 0, 0, 0]


@settings(max_examples=100, deadline=None)
@given(
    st.integers(2, 6),
    st.lists(st.integers(0, 50), min_size=6, max_size=40),
    st.sampled_from([0.0, 0.2, 1.1]),
)
def test_vmdav_sizes_on_rows(k: int, values: list[int], gamma: float) -> None:
    rows = np.array(values, dtype=np.float64)[:, None]
    sizes = np.bincount(vmdav(RowSpace(rows), RowSizes(k), len(rows), gamma=gamma))
    assert sizes.sum() == len(rows)
    assert sizes.min() >= k
    # 2k - 1 as built, and fewer than k left over at the end.
    assert sizes.max() <= (2 * k - 1) + (k - 1)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_every_vmdav_cluster_holds_k_people_and_l_sets(problem: Problem) -> None:
    assert_valid(problem, vmdav_labels(problem))
