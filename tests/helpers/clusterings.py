"""What must hold for the labels of any method."""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.problem import Problem
from tasks.core.records import Ints


def people(problem: Problem, labels: Ints, label: int) -> set[int]:
    """The users of a cluster, counted the slow way."""
    members = np.flatnonzero(labels == label).tolist()
    return {user for member in members for user in problem.users_of(member).tolist()}


def assert_valid(problem: Problem, labels: Ints) -> None:
    """All withheld if nothing is possible; else every set in a cluster of k users and l sets."""
    assert labels.shape == (len(problem),)
    users = {user for member in range(len(problem)) for user in problem.users_of(member).tolist()}
    if len(users) < problem.k or len(problem) < problem.l:
        assert (labels == -1).all()
        return
    assert set(labels.tolist()) == set(range(int(labels.max()) + 1))
    for label in range(int(labels.max()) + 1):
        assert len(people(problem, labels, label)) >= problem.k
        assert (labels == label).sum() >= problem.l


def renamed_users(problem: Problem, names: list[int]) -> Problem:
    """The same problem with user u called names[u]."""
    rows = [
        sorted(names[user] for user in problem.users_of(member).tolist())
        for member in range(len(problem))
    ]
    return Problem(
        costs=problem.costs,
        counts=problem.counts,
        user_offsets=problem.user_offsets,
        users=np.array([user for row in rows for user in row], dtype=np.int32),
        paths=problem.paths,
        k=problem.k,
        l=problem.l,
    )
