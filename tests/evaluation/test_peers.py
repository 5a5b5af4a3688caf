"""Other people's programs: what they are given, and what is said where they are absent."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.evaluation.peers import coordinates, peers
from tests.evaluation.materials import held_by
from tests.helpers.strategies import mini_taxonomy


def test_sets_under_the_same_concepts_stand_nearer_than_others() -> None:
    material = held_by(mini_taxonomy(), (0, [5]), (1, [6]), (2, [8]), (3, [4]))
    rows = coordinates(material)
    near, far = np.linalg.norm(rows[1] - rows[2]), np.linalg.norm(rows[1] - rows[3])
    assert material.table.sets.concepts.tolist() == [4, 5, 6, 8]
    assert near < far
    assert np.array_equal(rows, coordinates(material))


def test_a_peer_that_is_not_installed_says_how_to_install_it() -> None:
    found = {peer.name: peer for peer in peers(is_installed=lambda name: False)}
    assert found["AnonyPyx"].partition is None
    assert "pip install anonypyx" in found["AnonyPyx"].reason
    assert all(peer.reason for peer in found.values())


def test_anonypyx_puts_every_set_into_a_group_of_k() -> None:
    pytest.importorskip("anonypyx")
    partition = peers()[0].partition
    assert partition is not None
    rows = np.random.default_rng(1).normal(size=(23, 3))
    sizes = np.bincount(partition(rows, 4))
    assert sizes.sum() == 23
    assert sizes.min() >= 4
