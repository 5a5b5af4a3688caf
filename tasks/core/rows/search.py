"""Which row tells each unit: as much information as k people per row allow.

Every unit chooses among the candidate rows that are true of it, and a row needs k people to be
published (lower-bounded facility location, Z. Svitkina, ACM TALG 6, 2010). It starts from the rows
that prices speak for (`prices.py`); rows are opened and closed as long as more is told than before:

- *open* a row: whoever gains by it joins. If they are too few, people of rows with more than k are
  sent along, those first who lose least. A row that is left by too many closes, and who stood
  behind it goes to the best open row. All of that is done if it tells more in sum, else none of it.
- *close* a row if who stands behind it is told better elsewhere.
- *move* a unit to a better open row if its own keeps k people.

At last a row and some of its rivals are closed at random and the search goes on around them; what
does not tell more is undone. So no step tells less than before. Ties go to the lower number, so
the result is the same every time.

Where one person has most of a row's records, the surplus will be withheld. In the end others are
sent to such a row, or that person leaves it, if more is told then of what is not withheld.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from tasks.core.arrays import distinct, take_ragged
from tasks.core.diversity import is_diverse
from tasks.core.records import Flags, Longs
from tasks.core.rows.candidates import Candidates
from tasks.core.rows.prices import ROUNDS, price_rows
from tasks.core.rows.problem import RowProblem

NOWHERE: Final = -1
LEAST_GAIN: Final = 1e-6
MOST_ROUNDS: Final = 12
MOST_SHAKES: Final = 2000
SHAKES_PER_ROW: Final = 8
RIVALS: Final = 3
"""Rows that are closed beside the one that a shake begins with."""
ROUNDS_AFTER_SHAKE: Final = 2
SHAKE_WORK: Final = 5_000_000
"""Shakes end when so many units have been looked at: it is these that take time."""
PRICE_WORK: Final = 60_000_000
"""Prices take time with the units that support the candidates: in all rounds, no more of them."""
ROUNDS_OF_RELIEF: Final = 2
LIKELY: Final = 0.5
"""The search starts from rows that paid in this share of rounds."""
SEED: Final = 5
ENOUGH_GAINED: Final = 2e-5
"""The search ends with a round that adds less than this part of what is told."""


def choose_rows(
    problem: RowProblem, candidates: Candidates, *, most_rounds: int = MOST_ROUNDS
) -> Longs:
    """The row of each unit, or NOWHERE; every row in use holds at least k people, l of them
    with different sensitive sets."""
    search = RowSearch(problem, candidates)
    rounds = min(ROUNDS, PRICE_WORK // max(1, len(candidates.units)))
    search.start(price_rows(problem, candidates, rounds).paid > LIKELY)
    search.improve(most_rounds)
    search.shake()
    search.relieve()
    return np.array(search.row_of, dtype=np.int64)


class RowSearch:
    """Units in rows, and who stands behind each row.

    Plain lists and dicts: steps touch a few units each, for which arrays are slower.
    """

    def __init__(self, problem: RowProblem, candidates: Candidates) -> None:
        self._candidates = candidates
        self._k, self._l, self._dominance = problem.k, problem.l, problem.dominance
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
        self._moved: dict[int, tuple[int, float]] = {}

    @property
    def total(self) -> float:
        """What is told of all records."""
        return float(np.array(self.bits) @ self._weights_of)

    def start(self, opened: Flags) -> None:
        """Everybody goes to the best of some rows; those that are left with too few close again."""
        places = np.flatnonzero(opened[self._choices])
        units = np.searchsorted(self._choice_bounds, places, side="right") - 1
        first = np.diff(units, prepend=-1) > 0
        for place, unit in zip(places[first].tolist(), units[first].tolist(), strict=True):
            self._move(unit, int(self._choices[place]), float(self._choice_bits[place]))
        while short := self._short_rows():
            for row in short:
                if not self._is_enough(self._members[row]):
                    self._scatter({row})

    def _short_rows(self) -> list[int]:
        """Open rows with too few people, the fewest first."""
        short = [row for row in self._open_rows() if not self._is_enough(self._members[row])]
        return sorted(short, key=lambda row: len(self._people[row]))

    def improve(self, most_rounds: int) -> None:
        """Rounds of steps until hardly anything is gained.

        After the first, only rows are opened whose supporters have moved since.
        """
        everything, touched = np.arange(len(self._rows)), None
        for _ in range(most_rounds):
            before = np.array(self.row_of)
            gain = self._move_units()
            seen = everything if touched is None else np.flatnonzero(touched[self._rows])
            for row in self._promising(self._rows[seen], seen):
                gain += self._open(row)
            for row in self._open_rows():
                gain += self._close(row)
            if gain <= ENOUGH_GAINED * self.total:
                return
            touched = self._touched(before)

    def shake(self) -> None:
        """Close a row and some rivals, improve what is around them; undo it if that tells less."""
        random, work = np.random.default_rng(SEED), 0
        for _ in range(min(MOST_SHAKES, SHAKES_PER_ROW * len(self._open_rows()))):
            rows = self._open_rows()
            if not rows or work > SHAKE_WORK:
                return
            closed = self._rivals(rows[int(random.integers(len(rows)))], random)
            self._moved = {}
            gain = self._scatter(closed)
            for _ in range(ROUNDS_AFTER_SHAKE):
                more, looked = self._improve_around(np.array(sorted(self._moved), dtype=np.int64))
                gain, work = gain + more, work + looked
            if gain <= LEAST_GAIN:
                for unit, (row, bits) in list(self._moved.items()):
                    self._move(unit, row, bits)

    def _rivals(self, row: int, random: np.random.Generator) -> set[int]:
        """A row, and some open rows that its people could be told by."""
        bounds = self._choice_bounds
        others = {
            other
            for unit in self._members[row]
            for other in self._choices[bounds[unit] : bounds[unit + 1]].tolist()
            if other != row and self._people.get(other)
        }
        return {row, *random.permutation(sorted(others))[:RIVALS].tolist()}

    def _scatter(self, closed: set[int]) -> float:
        """Close rows; who stood behind them goes to the best row that stays open."""
        gain = 0.0
        for unit in sorted(unit for row in closed for unit in self._members[row]):
            other, bits = self._best_open(unit, closed)
            gain += (bits - self.bits[unit]) * self._weights[unit]
            self._move(unit, other, bits)
        return gain

    def _improve_around(self, units: Longs) -> tuple[float, int]:
        """Open and close rows that could tell some units; what is gained, and the work of it."""
        _, places = take_ragged(np.asarray(self._choice_bounds), units)
        rows = distinct(self._choices[places])
        offsets, entries = take_ragged(self._candidates.offsets, rows)
        owners = np.repeat(rows, np.diff(offsets))
        gain = sum(self._open(row) for row in self._promising(owners, entries))
        gain += sum(self._close(row) for row in rows.tolist() if self._people.get(row))
        return gain, len(entries)

    def relieve(self) -> None:
        """Fewer records are withheld because one person has most of a row's."""
        for _ in range(ROUNDS_OF_RELIEF if self._dominance < 1 else 0):
            for row in self._open_rows():
                self._bring_others(row)
            for row in self._open_rows():
                self._send_away(row)

    def _heaviest(self, row: int) -> tuple[int, float]:
        """Who has most records of a row, and how many of these are too many."""
        held: Counter[int] = Counter()
        for unit in self._members[row]:
            held[self._users[unit]] += self._weights[unit]
        user = min(held, key=lambda own: (-held[own], own))
        others = held.total() - held[user]
        return user, max(0.0, held[user] - others * self._dominance / (1 - self._dominance))

    def _units_of(self, row: int, user: int) -> list[int]:
        return sorted(unit for unit in self._members[row] if self._users[unit] == user)

    def _mean_bits(self, units: list[int]) -> float:
        weights = [self._weights[unit] for unit in units]
        told = sum(self.bits[unit] * own for unit, own in zip(units, weights, strict=True))
        return float(told / sum(weights))

    def _worth(self, row: int) -> float:
        """What a row tells without the surplus of its heaviest person."""
        user, surplus = self._heaviest(row)
        told = float(sum(self.bits[unit] * self._weights[unit] for unit in self._members[row]))
        return told - surplus * self._mean_bits(self._units_of(row, user)) if surplus else told

    def _bring_others(self, row: int) -> None:
        """Supporters join a row, those first who lose least: each makes room for the heaviest."""
        user, surplus = self._heaviest(row)
        if not surplus:
            return
        bits = self._mean_bits(self._units_of(row, user))
        losses = sorted(
            (self.bits[unit] - own, unit, own)
            for unit, own in zip(*self._supporters(row), strict=True)
            if self.row_of[unit] != row and self._users[unit] != user
        )
        for loss, unit, own in losses:
            weight = self._weights[unit]
            if surplus <= 0 or loss >= bits:
                return
            # So many records of the heaviest may stay for one of somebody else's.
            room = weight * self._dominance / (1 - self._dominance)
            if min(surplus, room) * bits > loss * weight and self._may_leave(unit):
                self._move(unit, row, own)
                surplus -= room

    def _may_leave(self, unit: int) -> bool:
        """Whether the row of a unit keeps enough without it, and nobody has more of it by that."""
        row = self.row_of[unit]
        if row == NOWHERE:
            return True
        if not self._stays_enough(row, [unit]):
            return False
        _, before = self._heaviest(row)
        self._members[row].discard(unit)
        _, after = self._heaviest(row)
        self._members[row].add(unit)
        return after <= before

    def _send_away(self, row: int) -> None:
        """The heaviest person's units leave a row for others if more is told in both then."""
        user, surplus = self._heaviest(row)
        for unit in self._units_of(row, user) if surplus else ():
            if self._stays_enough(row, [unit]):
                self._send_to_best(unit)

    def _send_to_best(self, unit: int) -> None:
        row, told = self.row_of[unit], self.bits[unit]
        best = (LEAST_GAIN, row, told)
        start, end = self._choice_bounds[unit], self._choice_bounds[unit + 1]
        for other, bits in zip(self._choices[start:end], self._choice_bits[start:end], strict=True):
            if other != row and self._people.get(int(other)):
                before = self._worth(row) + self._worth(int(other))
                self._move(unit, int(other), float(bits))
                gain = self._worth(row) + self._worth(int(other)) - before
                self._move(unit, row, told)
                best = max(best, (gain, int(other), float(bits)), key=lambda own: own[0])
        self._move(unit, *best[1:])

    def _open_rows(self) -> list[int]:
        return [row for row in sorted(self._members) if self._members[row]]

    def _touched(self, before: Longs) -> Flags:
        """Rows that could tell somebody who has moved since."""
        moved = np.array(self.row_of) != before
        touched = np.zeros(len(self._candidates), dtype=np.bool_)
        touched[self._rows[moved[self._candidates.units]]] = True
        return touched

    def _promising(self, rows: Longs, entries: Longs) -> list[int]:
        """Rows that could gain something by being opened, the most first.

        At best all who gain by a row join it and, if they are fewer than k, those who lose least.

        Args:
            rows, entries: the candidate rows that are looked at, and their entries, ascending.
        """
        units = self._candidates.units[entries]
        told = np.fromiter(map(self.bits.__getitem__, units.tolist()), np.float64, len(units))
        gains = (self._candidates.bits[entries] - told) * self._weights_of[units]
        order = np.lexsort((-gains, rows))
        rows, gains = rows[order], gains[order]
        joins = (gains > 0) | (np.arange(len(rows)) - np.searchsorted(rows, rows) < self._k)
        own, place = np.unique(rows, return_inverse=True)
        totals = np.bincount(place[joins], gains[joins], minlength=len(own))
        best_first = np.argsort(-totals, kind="stable")
        return [int(row) for row in own[best_first[: np.count_nonzero(totals > LEAST_GAIN)]]]

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
        held = ((self._users[unit], self._sets[unit]) for unit in chosen)
        return self._l == 1 or is_diverse(held, self._l)

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
        self._moved.setdefault(unit, (own, self.bits[unit]))
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
