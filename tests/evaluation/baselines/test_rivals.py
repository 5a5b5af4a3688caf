"""What others publish: by hand, and what their noise and bounds must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tasks.evaluation.baselines.rivals import (
    ALLOW_LIST,
    BOUNDS,
    DELTA,
    EPSILON,
    KOROLOVA,
    MOZILLA,
    THRESHOLD,
    THRESHOLD_30,
    WGM,
    ZEALOUS,
    drawn,
    gaussian_sigma,
    korolova_threshold,
    zealous_thresholds,
)
from tasks.evaluation.catalogue import RIVALS
from tasks.evaluation.method import Material, Method
from tests.evaluation.materials import material_from
from tests.evaluation.test_methods import materials
from tests.helpers.random_logs import table_of
from tests.helpers.strategies import mini_taxonomy

Asked = tuple[int, str]


def material_of(*asked: Asked) -> Material:
    """A log of plain words; a concept for a set that the others need."""
    taxonomy = mini_taxonomy()
    rows = [
        (user, [5], [], at) if text == "flu" else (user, [], text.split(), at)
        for at, (user, text) in enumerate(asked)
    ]
    return material_from(taxonomy, table_of(taxonomy, rows))


def told(method: Method, material: Material, k: int) -> set[str]:
    """The queries that are published, as a reader has them."""
    rows = method.apply(material, k).rows
    assert rows is not None
    bounds = zip(rows.term_offsets[:-1], rows.term_offsets[1:], strict=True)
    return {" ".join(material.table.words[rows.terms[a:b]]) for a, b in bounds}


def test_thresholds_count_people_and_not_rows() -> None:
    many = [(user, "maps") for user in range(30)]
    material = material_of(*many, (0, "flu"), (1, "flu"), *[(7, "my own")] * 40)
    assert told(THRESHOLD, material, 2) == {"maps", "word5"}
    assert told(THRESHOLD_30, material, 2) == {"maps"}


def test_an_allow_list_publishes_what_one_person_asked_in_common_words() -> None:
    asked = [(0, "cheap shoes"), (1, "cheap maps"), (2, "shoes best"), (3, "maps secret")]
    material = material_of(*asked, (4, "flu"), (5, "secret"))
    assert told(ALLOW_LIST, material, 2) == {"cheap shoes", "cheap maps", "maps secret", "secret"}
    rows = ALLOW_LIST.apply(material, 2).rows
    assert rows is not None
    assert np.bincount(rows.class_of[rows.published]).min() == 1


def test_a_filter_drops_numerals_and_addresses_whoever_asked() -> None:
    material = material_of((0, "room 101"), (0, "me@home"), (0, "one alone"), (1, "flu"))
    assert told(MOZILLA, material, 5) == {"one alone"}


@settings(max_examples=40, deadline=None)
@given(materials(), st.integers(1, 5))
def test_nobody_contributes_more_than_the_bound(problem: tuple[Material, int], most: int) -> None:
    material, _ = problem
    table = material.table
    people = range(int(table.users.max()) + 1)
    asked = [table.form_of[table.users == user] for user in people]
    places = drawn(table.users, table.form_of, most, np.random.default_rng(0))
    assert len(places) == sum(min(most, len(set(own.tolist()))) for own in asked)
    held = np.bincount(table.users[places])
    assert held.max() <= most


@pytest.mark.parametrize("method", [ZEALOUS, KOROLOVA, WGM])
def test_private_rivals_tell_what_very_many_ask_and_nothing_that_few_do(method: Method) -> None:
    many = [(user, "maps") for user in range(900)]
    few = [(user, f"own {user}") for user in range(900)]
    material = material_of(*many, *few, (0, "flu"), (1, "flu"))
    assert told(method, material, 2) == {"maps"}
    outcome = method.apply(material, 2)
    assert outcome.counts is not None
    assert outcome.counts.tolist() == method.apply(material, 2).counts.tolist()  # type: ignore[union-attr]
    assert (method.epsilon, method.delta) == (math.log(10), 1e-5)


@pytest.mark.parametrize("d", BOUNDS)
def test_what_korolova_et_al_pay(d: int) -> None:
    """Theorem 1: ε = d ln α + d / b_q, δ = d / 2 · exp((d - K) / b)."""
    b, threshold = korolova_threshold(d)
    alpha = max(math.exp(1 / b), 1 + 1 / (2 * math.exp((threshold - 1) / b) - 1))
    assert d * math.log(alpha) + d / b == pytest.approx(EPSILON)
    assert d / 2 * math.exp((d - threshold) / b) == pytest.approx(DELTA)


@pytest.mark.parametrize("m", BOUNDS)
def test_what_zealous_pays(m: int) -> None:
    """Items that one person brings past the first threshold pass the second too seldom to matter.

    At most U · m / τ items are there at all, and each passes with half of exp(-(τ' - τ) / λ).
    """
    scale, first, second = zealous_thresholds(m, people := 20_000)
    passes = math.exp(-(second - first) / scale) / 2
    assert people * m / first * passes <= DELTA * (1 + 1e-9)
    assert passes <= 1 - math.exp(-1 / scale)
    assert scale == pytest.approx(2 * m / EPSILON)


def test_the_noise_of_the_gaussian_is_the_least_that_is_private() -> None:
    """δ of a shift by 1, at the noise that is found, is what was asked for."""
    sigma = gaussian_sigma(1.0, 1e-5)
    near, far = 1 / (2 * sigma) - sigma, -1 / (2 * sigma) - sigma
    assert norm.cdf(near) - math.e * norm.cdf(far) == pytest.approx(1e-5)
    assert sigma == pytest.approx(3.7306, abs=1e-3)


def test_every_rival_says_where_it_comes_from() -> None:
    assert len({rival.name for rival in RIVALS}) == len(RIVALS)
    assert all(rival.source and rival.assumed for rival in RIVALS)
