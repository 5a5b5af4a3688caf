"""Who joins a published cluster: nobody alone, and nobody at the cost of those who stay behind.

Everybody first chooses the nearest published set that costs no more than their new cluster. Of
the published clusters that too few have chosen, the emptiest half are closed and everybody
chooses again among the others. When all that are chosen have enough, new clusters that would be
left with a few members keep all of them. Whatever was closed or kept stays so: it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.append.fits import Fits
from tasks.core.append.homes import Homes
from tasks.core.append.pool import NOWHERE, Pool
from tasks.core.arrays import take_ragged
from tasks.core.records import Flags, Ints, Longs


@dataclass(frozen=True, slots=True, eq=False)
class Wishes:
    """Published clusters that units would join, ordered by unit, the best first."""

    units: Longs
    targets: Ints

    def kept(self, chosen: Flags) -> Wishes:
        return Wishes(self.units[chosen], self.targets[chosen])

    def first(self, count: int) -> Ints:
        """The best wish of each unit 0 … count - 1, or NOWHERE."""
        places = np.flatnonzero(np.diff(self.units, prepend=NOWHERE))
        best = np.full(count, NOWHERE, dtype=np.int32)
        best[self.units[places]] = self.targets[places]
        return best


def wishes_of(pool: Pool, fits: Fits, homes: Homes, joined: Ints) -> Wishes:
    """All fits of units that joined nothing yet, as good as their new cluster or better."""
    waiting = np.flatnonzero(joined < 0)
    offsets, places = take_ragged(fits.offsets, pool.sets[waiting])
    units = np.repeat(waiting, np.diff(offsets))
    as_good = fits.costs[places] <= homes.costs(pool)[units]
    return Wishes(units[as_good], fits.targets[places[as_good]])


def join(pool: Pool, wishes: Wishes, homes: Homes, joined: Ints, count: int) -> Ints:
    """The published cluster that each unit joins now, or NOWHERE.

    Args:
        joined: what units joined before; they count wherever they are.
        count: how many published clusters there are.
    """
    while True:
        choices = wishes.first(len(pool))
        closed = _emptiest(pool, np.maximum(choices, joined), count)
        if closed.any():
            wishes = wishes.kept(~closed[wishes.targets])
            continue
        kept = _torn(pool, homes, choices)
        if not kept.any():
            return choices
        wishes = wishes.kept(~kept[wishes.units])


def _emptiest(pool: Pool, choices: Ints, count: int) -> Flags:
    """Half of the published clusters that too few have chosen: fewest people first, then young."""
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[choices[choices >= 0]] = True
    short = np.flatnonzero(chosen & ~pool.enough(choices, count))
    order = np.lexsort((-short, pool.people(choices, count)[short]))
    closed = np.zeros(count, dtype=np.bool_)
    closed[short[order][: (len(short) + 1) // 2]] = True
    return closed


def _torn(pool: Pool, homes: Homes, choices: Ints) -> Flags:
    """Units that want to leave a new cluster in which some, but too few, would stay."""
    staying = np.where(choices >= 0, NOWHERE, homes.labels).astype(np.int32)
    torn = ~pool.enough(staying, len(homes.rows))
    torn &= np.bincount(staying[staying >= 0], minlength=len(torn)) > 0
    return np.append(torn, False)[homes.labels] & (choices >= 0)
