"""Which rows are worth opening, by prices; and what no choice of rows could exceed.

To find a row for everybody at once is hard only because each unit may be told by one row alone. So
that rule is lifted, and every unit asks a price for being told: its best place elsewhere. Then each
row can be judged by itself: it pays if what its supporters gain beyond their prices is more than
nothing, k people among them. Prices rise where rows compete and fall where nobody asks (Lagrangian
relaxation, by the volume algorithm of F. Barahona and R. Anbil, Math. Programming 87, 2000). All
prices and what all paying rows gain beyond them are, at any prices, an upper bound of what any
choice of these rows tells. Rows that pay most of the time make a good start for the search.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tasks.core.records import Flags, Floats
from tasks.core.rows.candidates import Candidates
from tasks.core.rows.problem import RowProblem

ROUNDS: Final = 60
START: Final = 0.9
"""Prices begin at this part of what the best row tells of a unit."""
TARGET: Final = 0.97
"""The best choice is thought to tell this part of the bound: how far prices go in a step."""
NEWEST: Final = 0.1
"""How much the newest round counts in the mean of all."""
PATIENCE: Final = 8
"""Rounds without a better bound after which steps become shorter."""


class PricedRows(NamedTuple):
    """What prices tell of the candidate rows.

    Attributes:
        paid: the share of rounds in which each row paid, later ones counted more, shape of rows.
        bound: what no choice of rows can exceed, in weighed bits.
    """

    paid: Floats
    bound: float


def price_rows(problem: RowProblem, candidates: Candidates, rounds: int = ROUNDS) -> PricedRows:
    """Let prices settle for some rounds."""
    market = _Market(problem, candidates)
    prices = START * market.most
    best, (bound, taken, pays) = prices, market.round(prices)
    told, paid = taken.astype(np.float64), pays.astype(np.float64)
    length, waited = 0.1, 0
    for _ in range(rounds):
        free = 1.0 - market.by_unit(told)
        stride = length * (1 - TARGET) * bound / max(float(free @ free), 1e-9)
        prices = np.maximum(0.0, best - stride * free)
        found, taken, pays = market.round(prices)
        now = 1.0 - market.by_unit(taken)
        newest = _newest(free, now - free)
        told += newest * (taken - told)
        paid += newest * (pays - paid)
        if found < bound:
            length = min(2.0, 1.1 * length) if float(now @ free) >= 0 else length
            bound, best, waited = found, prices, 0
        else:
            waited += 1
            if waited == PATIENCE:
                length, waited = 0.66 * length, 0
    return PricedRows(paid, bound)


def _newest(free: Floats, change: Floats) -> float:
    """How much the newest round counts: what brings the mean nearest to one row for each unit."""
    square = float(change @ change)
    wanted = -float(free @ change) / square if square else NEWEST
    return min(max(wanted, NEWEST / 10), NEWEST)


class _Market:
    """The candidate rows with their supporters, person by person."""

    def __init__(self, problem: RowProblem, candidates: Candidates) -> None:
        rows = np.repeat(np.arange(len(candidates)), np.diff(candidates.offsets))
        users = problem.users[candidates.units].astype(np.int64)
        order = np.lexsort((users, rows))
        self._rows, self._units = rows[order], candidates.units[order].astype(np.int64)
        self._gains = (candidates.bits * problem.weights[candidates.units])[order]
        new = np.diff(users[order], prepend=-1).astype(np.bool_) | (
            np.diff(self._rows, prepend=-1) > 0
        )
        self._first = np.flatnonzero(new)
        self._person = np.cumsum(new) - 1
        self._row_of_person = self._rows[self._first]
        self._count, self._unit_count, self._k = len(candidates), len(problem), problem.k
        self.most = np.zeros(len(problem))
        np.maximum.at(self.most, self._units, self._gains)

    def by_unit(self, taken: Floats | Flags) -> Floats:
        """How many rows take each unit."""
        return np.asarray(
            np.bincount(self._units, taken.astype(np.float64), minlength=self._unit_count),
            dtype=np.float64,
        )

    def round(self, prices: Floats) -> tuple[float, Flags, Flags]:
        """The bound at these prices, which entries are taken by rows that pay, and which those are.

        A row takes all who gain beyond their price and, if these are fewer than k people, those
        who lose least.
        """
        beyond = self._gains - prices[self._units]
        gains = beyond > 0
        best = np.maximum.reduceat(beyond, self._first) if len(beyond) else beyond
        worth = np.bincount(self._rows, np.where(gains, beyond, 0.0), minlength=self._count)
        people = np.bincount(self._row_of_person[best > 0], minlength=self._count)
        sent = self._sent_along(best, (people < self._k) & (worth > 0))
        worth += np.bincount(self._row_of_person[sent], best[sent], minlength=self._count)
        pays = worth > 0
        along = sent[self._person] & (beyond >= best[self._person]) if sent.any() else gains
        taken = (gains | along) & pays[self._rows]
        return float(prices.sum() + worth[pays].sum()), taken, pays

    def _sent_along(self, best: Floats, short: Flags) -> Flags:
        """People who do not gain, but are needed for k in rows that some gain by."""
        people = np.flatnonzero(short[self._row_of_person])
        rows = self._row_of_person[people]
        span = 2.0 * float(np.abs(best).max(initial=0.0)) + 1.0
        # One stable sort by row and gain; lexsort takes several times as long.
        people = people[np.argsort(rows * span - best[people], kind="stable")]
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        sent = np.zeros(len(best), dtype=np.bool_)
        sent[people[(place < self._k) & (best[people] <= 0)]] = True
        return sent
