"""Which row tells each unit: as much information as k people per row allow.

Every unit chooses among the candidate rows that are true of it, and a row needs k people to be
published (lower-bounded facility location, Z. Svitkina, ACM TALG 6, 2010). From a greedy start rows
are opened and closed as long as more is told than before:

- *open* a row: whoever gains by it joins. If they are too few, people of rows with more than k are
  sent along, those first who lose least. A row that is left by too many closes, and who stood
  behind it goes to the best open row. All of that is done if it tells more in sum, else none of it.
- *close* a row if who stands behind it is told better elsewhere.
- *move* a unit to a better open row if its own keeps k people.

At last some rows are closed at random and the search goes on from there, as long as that pays.
No step tells less than before. Ties go to the lower number, so the result is the same every time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from tasks.core.records import Flags, Longs
from tasks.core.rows.candidates import Candidates
from tasks.core.rows.problem import RowProblem

NOWHERE: Final = -1
LEAST_GAIN: Final = 1e-6
MOST_ROUNDS: Final = 12
MOST_SHAKES: Final = 40
SHAKEN: Final = 16
ROUNDS_AFTER_SHAKE: Final = 3
SHAKE_WORK: Final = 4_000_000
"""Shakes take time with the units that support the candidates: in all, no more than these."""
SEED: Final = 5
ENOUGH_GAINED: Final = 2e-5
"""The search ends with a round that adds less than this part of what is told."""


def choose_rows(
    problem: RowProblem, candidates: Candidates, *, most_rounds: int = MOST_ROUNDS
) -> Longs:
    """The row of each unit, or NOWHERE; every row in use holds at least k people and l sets."""
    search = RowSearch(problem, candidates)
    search.start()
    search.improve(most_rounds)
    search.shake(min(MOST_SHAKES, SHAKE_WORK // max(1, len(candidates.units))))
    return np.array(search.row_of, dtype=np.int64)


class RowSearch:
    """Units in rows, and who stands behind each row.

    Plain lists and dicts: steps touch a few units each, for which arrays are slower.
    """

    def __init__(self, problem: RowProblem, candidates: Candidates) -> None:
        self._candidates = candidates
        self._k, self._l = problem.k, problem.l
        self._users = problem.users.tolist()
        self._sets = problem.sets.tolist()
        self._weights = problem.weights.tolist()
        self._weights_of = problem.weights
        self._bounds = candidates.offsets.tolist()
        self._rows = np.repeat(np.arange(len(candidates)), np.diff(candidates.offsets))
        order = np.argsort(-candidates.bits, kind="stable")
        order = order[np.argsort(candidates.units[order], kind="stable")]
        self._choices, self._choice_bits = self._rows[order], candidates.bits[order]
        choice_bounds = np.searchsorted(candidates.units[order], np.arange(len(problem) + 1))
        self._choice_bounds = choice_bounds.tolist()
        self.row_of = [NOWHERE] * len(problem)
        self.bits = [0.0] * len(problem)
        self._members: defaultdict[int, set[int]] = defaultdict(set)
        self._people: defaultdict[int, Counter[int]] = defaultdict(Counter)

    @property
    def total(self) -> float:
        """What is told of all records."""
        return float(np.array(self.bits) @ self._weights_of)

    def start(self) -> None:
        """The rows that tell most first; whoever has none yet and supports one joins it."""
        most = np.zeros(len(self._candidates))
        np.maximum.at(most, self._rows, self._candidates.bits)
        for row in np.argsort(-most, kind="stable").tolist():
            units, bits = self._supporters(row)
            free = [place for place, unit in enumerate(units) if self.row_of[unit] == NOWHERE]
            if len(free) >= self._k and self._is_enough([units[place] for place in free]):
                for place in free:
                    self._move(units[place], row, bits[place])

    def improve(self, most_rounds: int, touched: Flags | None = None) -> None:
        """Rounds of steps until hardly anything is gained.

        Args:
            touched: rows that are looked at first; if not given, all.
        """
        for _ in range(most_rounds):
            before = np.array(self.row_of)
            gain = self._move_units()
            for row in self._promising(touched):
                gain += self._open(row)
            for row in self._open_rows():
                gain += self._close(row)
            if gain <= ENOUGH_GAINED * self.total:
                return
            touched = self._touched(before)

    def shake(self, times: int) -> None:
        """Close some rows at random and improve what comes of it; again if that tells no more."""
        random = np.random.default_rng(SEED)
        for _ in range(times):
            before, rows, bits = self.total, np.array(self.row_of), list(self.bits)
            self._scatter(random)
            self.improve(ROUNDS_AFTER_SHAKE, self._touched(rows))
            if self.total <= before + LEAST_GAIN:
                for unit in np.flatnonzero(np.array(self.row_of) != rows).tolist():
                    self._move(unit, int(rows[unit]), bits[unit])

    def _scatter(self, random: np.random.Generator) -> None:
        """Close one row in SHAKEN; who stood behind it goes to the best row that stays open."""
        rows = self._open_rows()
        if not rows:
            return
        chosen = random.choice(rows, max(1, len(rows) // SHAKEN), replace=False).tolist()
        closed = set(chosen)
        for row in chosen:
            for unit in sorted(self._members[row]):
                self._move(unit, *self._best_open(unit, closed))

    def _open_rows(self) -> list[int]:
        return [row for row in sorted(self._members) if self._members[row]]

    def _touched(self, before: Longs) -> Flags:
        """Rows that could tell somebody who has moved since."""
        moved = np.array(self.row_of) != before
        touched = np.zeros(len(self._candidates), dtype=np.bool_)
        touched[self._rows[moved[self._candidates.units]]] = True
        return touched

    def _promising(self, touched: Flags | None) -> list[int]:
        """Rows that could gain something by being opened, the most first.

        At best all who gain by a row join it and, if they are fewer than k, those who lose least.
        Later on only rows are looked at whose supporters have moved since.
        """
        entries = (
            np.arange(len(self._rows)) if touched is None else np.flatnonzero(touched[self._rows])
        )
        rows, units = self._rows[entries], self._candidates.units[entries]
        gains = (self._candidates.bits[entries] - np.array(self.bits)[units]) * self._weights_of[
            units
        ]
        order = np.lexsort((-gains, rows))
        rows, gains = rows[order], gains[order]
        joins = (gains > 0) | (np.arange(len(rows)) - np.searchsorted(rows, rows) < self._k)
        totals = np.bincount(rows[joins], gains[joins], minlength=len(self._candidates))
        best_first = np.argsort(-totals, kind="stable")
        return [int(row) for row in best_first[: np.count_nonzero(totals > LEAST_GAIN)]]

    def _move_units(self) -> float:
        """Units go to better open rows while theirs keep enough."""
        is_open = np.zeros(len(self._candidates), dtype=np.bool_)
        is_open[[row for row, people in self._people.items() if len(people)]] = True
        units = self._candidates.units
        better = is_open[self._rows] & (
            self._candidates.bits > np.array(self.bits)[units] + LEAST_GAIN
        )
        gained = 0.0
        for unit in sorted(set(units[better].tolist())):
            row, bits = self._best_open(unit, ())
            own = self.row_of[unit]
            if bits > self.bits[unit] + LEAST_GAIN and (
                own == NOWHERE or self._stays_enough(own, [unit])
            ):
                gained += (bits - self.bits[unit]) * self._weights[unit]
                self._move(unit, row, bits)
        return gained

    def _open(self, row: int) -> float:
        """Open or enlarge a row if that tells more; what is gained."""
        units, bits = self._supporters(row)
        told, row_of, weights, users = self.bits, self.row_of, self._weights, self._users
        joining = {
            unit: own
            for unit, own in zip(units, bits, strict=True)
            if own > told[unit] + LEAST_GAIN and row_of[unit] != row
        }
        if not joining:
            return 0.0
        gain = sum((own - told[unit]) * weights[unit] for unit, own in joining.items())
        people = set(self._people[row]) if row in self._people else set()
        people.update(users[unit] for unit in joining)
        if len(people) < self._k:
            others = [
                ((told[unit] - own) * weights[unit], unit, own)
                for unit, own in zip(units, bits, strict=True)
                if unit not in joining and row_of[unit] != row and users[unit] not in people
            ]
            gain = self._send_along(others, joining, people, gain)
            if len(people) < self._k:
                return 0.0
        if self._l > 1 and not self._is_enough([*joining, *self._members.get(row, ())]):
            return 0.0
        left, gain = self._left_behind(row, joining, dict(zip(units, bits, strict=True)), gain)
        if gain <= LEAST_GAIN:
            return 0.0
        for unit, own in joining.items():
            self._move(unit, row, own)
        for unit, other, own in left:
            self._move(unit, other, own)
        return gain

    def _send_along(
        self,
        others: list[tuple[float, int, float]],
        joining: dict[int, float],
        people: set[int],
        gain: float,
    ) -> float:
        """People of rows that can spare them join until there are k; what is gained then."""
        leaving: defaultdict[int, list[int]] = defaultdict(list)
        for unit in joining:
            leaving[self.row_of[unit]].append(unit)
        for loss, unit, own in sorted(others):
            if gain - loss <= LEAST_GAIN:
                break
            if self._users[unit] in people:
                continue
            from_row = self.row_of[unit]
            if not self._stays_enough(from_row, [*leaving[from_row], unit]):
                continue
            leaving[from_row].append(unit)
            joining[unit] = own
            people.add(self._users[unit])
            gain -= loss
            if len(people) >= self._k:
                break
        return gain

    def _left_behind(
        self, row: int, joining: dict[int, float], open_bits: dict[int, float], gain: float
    ) -> tuple[list[tuple[int, int, float]], float]:
        """Where everybody goes whose row must close because of who joins; what is gained then."""
        leaving: defaultdict[int, list[int]] = defaultdict(list)
        for unit in joining:
            if self.row_of[unit] != NOWHERE:
                leaving[self.row_of[unit]].append(unit)
        closing = {own for own, units in leaving.items() if not self._stays_enough(own, units)}
        left = []
        for own in sorted(closing):
            for unit in sorted(self._members[own]):
                if unit not in joining:
                    other, bits = self._best_open(unit, closing)
                    if open_bits.get(unit, 0.0) > bits:
                        other, bits = row, open_bits[unit]
                    gain -= (self.bits[unit] - bits) * self._weights[unit]
                    left.append((unit, other, bits))
                    if gain <= LEAST_GAIN:
                        return [], 0.0
        return left, gain

    def _close(self, row: int) -> float:
        """Close a row if that tells more; what is gained."""
        gain, moves = 0.0, []
        for unit in sorted(self._members[row]):
            other, bits = self._best_open(unit, (row,))
            gain += (bits - self.bits[unit]) * self._weights[unit]
            moves.append((unit, other, bits))
        if gain <= LEAST_GAIN:
            return 0.0
        for unit, other, bits in moves:
            self._move(unit, other, bits)
        return gain

    def _best_open(self, unit: int, closed: set[int] | tuple[int, ...]) -> tuple[int, float]:
        """The open row that tells most of a unit, and how much."""
        start, end = self._choice_bounds[unit], self._choice_bounds[unit + 1]
        for place, row in enumerate(self._choices[start:end].tolist(), start):
            if row in self._people and self._people[row] and row not in closed:
                return row, float(self._choice_bits[place])
        return NOWHERE, 0.0

    def _supporters(self, row: int) -> tuple[list[int], list[float]]:
        start, end = self._bounds[row], self._bounds[row + 1]
        found = self._candidates
        return found.units[start:end].tolist(), found.bits[start:end].tolist()

    def _is_enough(self, units: Iterable[int]) -> bool:
        """Whether some units are enough for a row."""
        chosen = list(units)
        if len({self._users[unit] for unit in chosen}) < self._k:
            return False
        sets = {self._sets[unit] for unit in chosen} if self._l > 1 else set()
        # Of whoever has no attribute no concept is true: such a row tells words alone.
        return self._l == 1 or NOWHERE in sets or len(sets) >= self._l

    def _stays_enough(self, row: int, leaving: list[int]) -> bool:
        """Whether a row keeps enough if some of its units leave it; nobody's is always enough."""
        if row == NOWHERE:
            return True
        people, gone = self._people[row], Counter(self._users[unit] for unit in leaving)
        if len(people) - sum(people[user] == count for user, count in gone.items()) < self._k:
            return False
        return self._l == 1 or self._is_enough(self._members[row].difference(leaving))

    def _move(self, unit: int, row: int, bits: float) -> None:
        own, user = self.row_of[unit], self._users[unit]
        if own != NOWHERE:
            self._members[own].discard(unit)
            people = self._people[own]
            people[user] -= 1
            if not people[user]:
                del people[user]
        if row != NOWHERE:
            self._members[row].add(unit)
            self._people[row][user] += 1
        self.row_of[unit], self.bits[unit] = row, bits
