"""Differentially private counts, audited: ε is estimated from below by the neighbour game.

Two small logs that differ by one person are counted many times, and an adversary bets on which one
it was by one event that is fixed beforehand. By Clopper–Pearson bounds each of which fails with a
probability below 5e-7, ε is at least ln((p - δ) / q): a sound mechanism exceeds what it claims less
than once in a million runs of this test. Broken ones exceed it by far.
"""

from __future__ import annotations

import math

import numpy as np
import pydp.algorithms.numerical_mechanisms as noise
import pytest
from scipy.stats import beta

from tasks.adapters.private_counts import Price, private_counts, within
from tasks.core.measures.term_counts import term_counts
from tasks.core.records import RecordTable
from tests.helpers.random_logs import table_of
from tests.helpers.strategies import mini_taxonomy

TRIALS = 3_000
ALPHA = 5e-7
PRICE: Price = (2.0, 0.2)
"""Large, so that the claim is nearly reached at probabilities that can be seen in few trials."""
HALF = (PRICE[0] / 2, PRICE[1] / 2)
"""What is paid for the counts; the terms here are so common that which are told says nothing."""
MOST, WORDS, PEOPLE = 4, 40, 30
"""Terms of a person; different words; people who use each of them."""


Row = tuple[int, list[int], list[str], int]


def log(words: int) -> RecordTable:
    """People of four words each, and one more who uses the first so many words."""
    names = [f"w{place:02d}" for place in range(WORDS)]
    groups = [names[start : start + MOST] for start in range(0, WORDS, MOST)]
    rows: list[Row] = [
        (user, [], groups[user % len(groups)], 0) for user in range(PEOPLE * len(groups))
    ]
    return table_of(mini_taxonomy(), [*rows, (len(rows), [], names[:words], 0)])


def played(words: int, bound: int) -> tuple[int, int]:
    """How often an event is seen with the last person, of so many words, and without them.

    The event: the noisy counts of their words add up to one deviation more than without them.

    Args:
        bound: terms in which anybody counts; MOST are claimed.
    """
    spread = noise.GaussianMechanism(*HALF, math.sqrt(MOST)).std * math.sqrt(words)
    random, seen = np.random.default_rng(1), []
    for table in (log(words), log(0)):
        hits = 0
        for _ in range(TRIALS):
            found = term_counts(table, mini_taxonomy(), most=bound, random=random)
            told = private_counts(found.word_people[:words], price=PRICE, most=MOST, k=5)
            hits += sum(count or 0 for count in told) > PEOPLE * words + spread
        seen.append(hits)
    return seen[0], seen[1]


def least_epsilon(words: int, bound: int = MOST) -> float:
    """What the ε of the counts is at least, by Clopper–Pearson bounds."""
    with_them, without = played(words, bound)
    p = float(beta.ppf(ALPHA, with_them, TRIALS - with_them + 1)) if with_them else 0.0
    q = float(beta.ppf(1 - ALPHA, without + 1, TRIALS - without))
    return math.log((p - HALF[1]) / q) if p > HALF[1] else 0.0


def test_nobody_learns_more_than_was_paid_for() -> None:
    """Of somebody within the bound, for whom the claim is nearly reached, and of one far beyond."""
    assert 0.2 < least_epsilon(MOST) <= HALF[0]
    assert least_epsilon(WORDS) <= HALF[0]


def test_half_the_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = noise.GaussianMechanism
    spread = whole(*HALF, math.sqrt(MOST)).std

    class Halved:
        std = spread

        def __init__(self, epsilon: float, delta: float, length: float) -> None:
            self.add_noise = whole(epsilon, delta, length / 2).add_noise

    monkeypatch.setattr(noise, "GaussianMechanism", Halved)
    assert least_epsilon(MOST) > HALF[0]


def test_a_bound_that_is_left_out_is_caught() -> None:
    assert least_epsilon(WORDS, bound=WORDS) > HALF[0]


def test_nothing_of_fewer_than_k_people_is_told() -> None:
    """Whatever is paid: at this price selection by itself would keep most counts of 4."""
    people = np.array([0, 1, 4, 500] * 200)
    told = private_counts(people, price=(10.0, 1e-3), most=1, k=5)
    assert [count is not None for count in told] == (people == 500).tolist()


def test_no_count_is_shown_below_k() -> None:
    """Noise as large as the counts themselves: one in fifty is told, a fifth of these at k."""
    told = private_counts(np.full(8000, 12), price=(0.02, 0.9), most=64, k=5)
    shown = [count for count in told if count is not None]
    assert min(shown) == 5
    assert max(shown) > 12


def test_what_may_be_spent() -> None:
    assert within([(1.0, 1e-6)], (1.0, 1e-6))
    assert within([(0.25, 2.5e-7)] * 4, (1.0, 1e-6))
    assert not within([(0.25, 2.5e-7)] * 5, (1.0, 1e-6))
    assert not within([(0.5, 1e-6)] * 2, (1.0, 1e-6))
    # Many small prices cost less together than their sum.
    assert within([(0.01, 1e-9)] * 150, (1.0, 1e-5))
