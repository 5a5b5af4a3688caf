"""V-MDAV on numbers where fixed sizes fail, and on sets of concepts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.clustering.mdav import mdav
from tasks.core.clustering.problem import Problem
from tasks.core.clustering.vmdav import vmdav, vmdav_labels
from tests.clusterings import assert_valid
from tests.microdata import RowSizes, RowSpace, information_loss
from tests.strategies import problems


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
def test_sizes_on_rows(k: int, values: list[int], gamma: float) -> None:
    rows = np.array(values, dtype=np.float64)[:, None]
    sizes = np.bincount(vmdav(RowSpace(rows), RowSizes(k), len(rows), gamma=gamma))
    assert sizes.sum() == len(rows)
    assert sizes.min() >= k
    # 2k - 1 as built, and fewer than k left over at the end.
    assert sizes.max() <= (2 * k - 1) + (k - 1)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_every_cluster_holds_k_people_and_l_sets(problem: Problem) -> None:
    assert_valid(problem, vmdav_labels(problem))
