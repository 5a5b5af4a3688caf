"""A partition of the sets of a block that is being improved, always valid between two steps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tasks.core.centres import improved_centres
from tasks.core.cost_table import CostTable
from tasks.core.costs import Costs
from tasks.core.problem import Problem, renumbered
from tasks.core.records import Flags, Ints, Longs


class Partition:
    """Sets in clusters, the centre of each cluster, and what every set would pay at each centre.

    Attributes:
        labels: cluster of each set.
        sizes: sets in each cluster; 0 for one that was dissolved.
        costs: what the records of a set pay at a centre, shape (clusters, sets).
    """

    def __init__(self, problem: Problem, table: CostTable, labels: Ints) -> None:
        self.problem = problem
        self.table = table
        self.labels = renumbered(labels).astype(np.int64)
        self._users = [problem.users_of(index).tolist() for index in range(len(problem))]
        count = int(self.labels.max()) + 1
        self.sizes = [0] * count
        self._holders: list[dict[int, int]] = [{} for _ in range(count)]
        self._centres: list[Ints] = [np.zeros(0, dtype=np.int32)] * count
        self.costs: Costs = table.of_centres(self._centres)
        for index, label in enumerate(self.labels.tolist()):
            self._join(index, label)
        self.refresh(range(count))

    @property
    def own_costs(self) -> Costs:
        """What each set pays in its own cluster, shape (sets,)."""
        return self.costs[self.labels, np.arange(len(self.labels))]

    @property
    def total(self) -> float:
        return float(self.own_costs.sum(dtype=np.float64))

    @property
    def living(self) -> Flags:
        return np.array(self.sizes) > 0

    def groups(self) -> list[Longs]:
        """The sets of each cluster, ascending."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1])

    def users_of(self, index: int) -> list[int]:
        return self._users[index]

    def holders(self, label: int) -> dict[int, int]:
        """The users of a cluster, and how many of its sets each of them holds."""
        return self._holders[label]

    def is_valid(self, label: int) -> bool:
        problem = self.problem
        return len(self._holders[label]) >= problem.k and self.sizes[label] >= problem.l

    def can_spare(self, index: int) -> bool:
        """Whether the cluster of a set is still one without it."""
        label = int(self.labels[index])
        held = self._holders[label]
        leaving = sum(held[user] == 1 for user in self._users[index])
        problem = self.problem
        return len(held) - leaving >= problem.k and self.sizes[label] > problem.l

    def move(self, index: int, label: int) -> None:
        old = int(self.labels[index])
        held = self._holders[old]
        for user in self._users[index]:
            held[user] -= 1
            if not held[user]:
                del held[user]
        self.sizes[old] -= 1
        self._join(index, label)

    def _join(self, index: int, label: int) -> None:
        held = self._holders[label]
        for user in self._users[index]:
            held[user] = held.get(user, 0) + 1
        self.sizes[label] += 1
        self.labels[index] = label

    def open(self, index: int) -> int:
        """A new, empty cluster around a set; its costs follow with the next `refresh`."""
        self.sizes.append(0)
        self._holders.append({})
        self._centres.append(self.problem.costs.row(index))
        return len(self.sizes) - 1

    def refresh(self, labels: Iterable[int]) -> None:
        """Look for better centres of clusters whose members have changed."""
        missing = len(self.sizes) - len(self.costs)
        if missing:
            self.costs = np.concatenate(
                [self.costs, self.table.of_centres(self._centres[-missing:])]
            )
        living = [label for label in sorted(set(labels)) if self.sizes[label]]
        groups = self.groups()
        found, _ = improved_centres(
            self.problem, [groups[i] for i in living], [self._centres[i] for i in living]
        )
        changed = [
            (label, centre)
            for label, centre in zip(living, found, strict=True)
            if not np.array_equal(centre, self._centres[label])
        ]
        for label, centre in changed:
            self._centres[label] = centre
        if changed:
            self.costs[[label for label, _ in changed]] = self.table.of_centres(
                [centre for _, centre in changed]
            )

    def compact(self) -> None:
        """Forget dissolved clusters."""
        kept = np.flatnonzero(self.living)
        if len(kept) == len(self.sizes):
            return
        numbers = np.full(len(self.sizes), -1)
        numbers[kept] = np.arange(len(kept))
        self.labels = numbers[self.labels]
        self.sizes = [self.sizes[label] for label in kept]
        self._holders = [self._holders[label] for label in kept]
        self._centres = [self._centres[label] for label in kept]
        self.costs = self.costs[kept]
