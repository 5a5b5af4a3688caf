"""Google's differential privacy library: which terms are told, with how many people, at what price.

The mechanisms are the library's, and so is the noise, which is drawn securely and never seeded:
Gaussian partition selection above k people, then Gaussian noise on the counts of what is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final

from tasks.core.records import Longs
from tasks.errors import UsageError

SLACK: Final = 1e-9
Price = tuple[float, float]
"""ε and δ."""


def require_library() -> None:
    """Before any work is done.

    Raises:
        UsageError: the extra is not installed.
    """
    try:
        import dp_accounting
        import pydp

        del dp_accounting, pydp
    except ImportError:
        raise UsageError("--counts dp needs two more packages: pip install 'logveil[dp]'") from None


def private_counts(people: Longs, *, price: Price, most: int, k: int) -> list[int | None]:
    """The noisy count of each term, or None if it is not told; never of fewer than k people.

    Half of the price is paid for which terms are told, half for their counts.

    Args:
        people: in each term.
        most: terms in which one person counts, each once.
    """
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism
    from pydp.algorithms.partition_selection import create_partition_strategy

    epsilon, delta = price[0] / 2, price[1] / 2
    selection = create_partition_strategy("gaussian", epsilon, delta, most, pre_threshold=k)
    noise = GaussianMechanism(epsilon, delta, math.sqrt(most))
    return [
        max(k, round(noise.add_noise(float(count)))) if selection.should_keep(count) else None
        for count in people.tolist()
    ]


def within(spent: Sequence[Price], budget: Price) -> bool:
    """Whether all that is spent on the same people stays within a budget.

    By the sums, or by their optimal composition (privacy loss distributions), which is less.
    """
    epsilons, deltas = zip(*spent, strict=True)
    if sum(epsilons) <= budget[0] + SLACK and sum(deltas) <= budget[1] * (1 + SLACK):
        return True
    from dp_accounting.pld import common, privacy_loss_distribution

    losses = [
        privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(*price)
        )
        for price in spent
    ]
    together = reduce(lambda one, other: one.compose(other), losses)
    return bool(together.get_epsilon_for_delta(budget[1]) <= budget[0])
