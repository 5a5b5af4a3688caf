"""Append mode the slow and obvious way: sets of Python numbers, everything counted anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.records import Clusters, Ints, RecordTable
from tasks.core.taxonomy import Taxonomy
from tests.oracles.paper import concept_distance

Unit = tuple[int, int]
"""A set, and the new cluster it was put in."""


def graded_cost(
    taxonomy: Taxonomy, own: Sequence[int], published: Sequence[int], *, inclusive: bool
) -> float:
    """Σ min δ² both ways; what nothing is published for is lost."""
    if not len(published):
        return float(len(own))

    def square(a: int, b: int) -> float:
        return concept_distance(taxonomy, a, b, inclusive=inclusive) ** 2

    lost = sum(min(square(a, b) for b in published) for a in own)
    made_up = sum(min(square(a, b) for a in own) for b in published)
    return round(lost + made_up, 9)


@dataclass
class SlowPool:
    table: RecordTable
    taxonomy: Taxonomy
    inclusive: bool
    k: int
    l: int  # noqa: E741
    records: dict[Unit, list[int]] = field(default_factory=dict)
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)

    def enough(self, units: Sequence[Unit]) -> bool:
        return self.people(units) >= self.k and len({own for own, _ in units}) >= self.l

    def people(self, units: Sequence[Unit]) -> int:
        return len({int(self.table.users[r]) for unit in units for r in self.records[unit]})

    def size(self, unit: Unit) -> int:
        return len(self.table.sets.row(unit[0]))

    def cost(self, unit: Unit, row: Sequence[int]) -> float:
        key = unit[0], tuple(row)
        if key not in self.known:
            own = self.table.sets.row(unit[0]).tolist()
            self.known[key] = graded_cost(self.taxonomy, own, row, inclusive=self.inclusive)
        return self.known[key]

    def publish(self, units: Sequence[Unit]) -> list[int]:
        labels = np.full(len(self.table), -1, dtype=np.int32)
        labels[[r for unit in units for r in self.records[unit]]] = 0
        members = members_of(self.table, labels)
        (row,) = generalise(members, self.taxonomy, inclusive=self.inclusive)
        return [int(concept) for concept in row]


def slow_assign(
    table: RecordTable,
    clusters: Clusters,
    rows: Sequence[Ints],
    published: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    k: int,
    l: int,  # noqa: E741
) -> tuple[list[int], list[list[int]]]:
    """The label of each record, and the rows of the new clusters."""
    pool = SlowPool(table, taxonomy, inclusive, k, l)
    for record, own in enumerate(table.set_of.tolist()):
        if own >= 0:
            pool.records.setdefault((own, int(clusters.labels[record])), []).append(record)
    groups = {
        label: sorted(unit for unit in pool.records if unit[1] == label)
        for label in range(len(rows))
    }
    groups = {label: units for label, units in groups.items() if pool.enough(units)}
    said = {label: row.tolist() for label, row in enumerate(rows)}
    old = [row.tolist() for row in published]
    joined: dict[Unit, int] = {}
    while True:
        _drop_misfits(pool, groups, said)
        moves = _joins(pool, groups, said, old, joined) or {
            unit: old.index(said[label])
            for label, units in groups.items()
            if said[label] in old
            for unit in units
        }
        if not moves:
            break
        joined |= moves
        _leave(pool, groups, said, set(moves))
    return _labels(pool, groups, joined, len(old)), _new_rows(groups, said)


def _leave(
    pool: SlowPool, groups: dict[int, list[Unit]], said: dict[int, list[int]], leaving: set[Unit]
) -> None:
    for label, units in list(groups.items()):
        rest = [unit for unit in units if unit not in leaving]
        if len(rest) == len(units):
            continue
        if pool.enough(rest):
            groups[label], said[label] = rest, pool.publish(rest)
        else:
            del groups[label]


def _drop_misfits(
    pool: SlowPool, groups: dict[int, list[Unit]], said: dict[int, list[int]]
) -> None:
    while misfits := {
        unit
        for label, units in groups.items()
        for unit in units
        if pool.cost(unit, said[label]) >= pool.size(unit)
    }:
        _leave(pool, groups, said, misfits)


def _joins(
    pool: SlowPool,
    groups: dict[int, list[Unit]],
    said: dict[int, list[int]],
    old: list[list[int]],
    joined: dict[Unit, int],
) -> dict[Unit, int]:
    cluster_of = {unit: label for label, units in groups.items() for unit in units}
    wishes: dict[Unit, list[int]] = {}
    for unit in pool.records:
        if unit not in joined:
            costs = {
                number: pool.cost(unit, row)
                for number, row in enumerate(old)
                if old.index(row) == number and pool.cost(unit, row) < pool.size(unit)
            }
            limit = pool.cost(unit, said[cluster_of[unit]]) if unit in cluster_of else np.inf
            nearest = sorted((cost, number) for number, cost in costs.items() if cost <= limit)
            wishes[unit] = [number for _, number in nearest]
    while True:
        choices = {unit: numbers[0] for unit, numbers in wishes.items() if numbers}
        crowd: dict[int, list[Unit]] = {}
        for unit, number in (joined | choices).items():
            crowd.setdefault(number, []).append(unit)
        short = [number for number, units in crowd.items() if not pool.enough(units)]
        short.sort(key=lambda number: (pool.people(crowd[number]), -number))
        if short:
            closed = short[: (len(short) + 1) // 2]
            wishes = {u: [n for n in ns if n not in closed] for u, ns in wishes.items()}
            continue
        torn = set()
        for units in groups.values():
            rest = [unit for unit in units if unit not in choices]
            if rest and not pool.enough(rest):
                torn.update(units)
        if not torn & set(choices):
            return choices
        wishes = {u: [] if u in torn else ns for u, ns in wishes.items()}


def _labels(
    pool: SlowPool, groups: dict[int, list[Unit]], joined: dict[Unit, int], known: int
) -> list[int]:
    labels = [-1] * len(pool.table)
    numbered = {unit: known + n for n, label in enumerate(_order(groups)) for unit in groups[label]}
    for unit, number in (joined | numbered).items():
        for record in pool.records[unit]:
            labels[record] = number
    return labels


def _order(groups: dict[int, list[Unit]]) -> list[int]:
    return sorted(groups, key=lambda label: groups[label][0])


def _new_rows(groups: dict[int, list[Unit]], said: dict[int, list[int]]) -> list[list[int]]:
    return [said[label] for label in _order(groups)]
