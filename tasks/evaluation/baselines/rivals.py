"""What others really publish of query logs, or have proposed to: whole queries, or nothing of them.

Some count people (thresholds, lists of allowed words), one looks at characters, three are
differentially private: these bound what each person contributes, count, add noise and drop what is
below a threshold. Noise is drawn with a fixed seed here, so that a comparison can be repeated: that
is good enough to see what such a release is worth, and must never be published.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from tasks.core.arrays import (
    distinct,
    group_by,
    owners,
    people_per_label,
    ragged_of,
    take_ragged,
)
from tasks.core.detection.identifiers import KINDS
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.evaluation.method import (
    Material,
    Method,
    Outcome,
    published_by_rows,
    without_times,
)

EPSILON: Final = float(np.log(10))
DELTA: Final = 1e-5
SEED: Final = 21
BOUNDS: Final = (1, 2, 5, 10, 20)
"""Queries that each person may contribute; a rival has the one by which it publishes most."""
MANY_PEOPLE: Final = 30


class Selected(NamedTuple):
    """Which of all forms a private method publishes, and their noisy counts."""

    forms: Flags
    counts: Floats


def _people_of_forms(material: Material) -> Longs:
    table = material.table
    return people_per_label(table.form_of, table.users, len(table.forms))


def whole_queries(material: Material, forms: Flags, counts: Floats | None = None) -> Outcome:
    """All records of these forms publish what was typed."""
    table, chosen = material.table, np.flatnonzero(forms)
    number = np.where(forms, np.cumsum(forms) - 1, -1).astype(np.int32)
    offsets, places = take_ragged(table.forms.item_offsets, chosen)
    terms = np.split(table.forms.item_words[places], offsets[1:-1]) if len(chosen) else []
    none: list[list[int]] = [[]] * len(chosen)
    rows = without_times(number[table.form_of], terms, none, [-1] * len(chosen))
    found = published_by_rows(material, rows)
    shown = None if counts is None else counts[chosen]
    return Outcome(found.labels, found.published, rows=rows, counts=shown)


def _threshold(least: int | None, material: Material, k: int) -> Outcome:
    return whole_queries(material, _people_of_forms(material) >= (least or k))


def _forms_without(material: Material, unwanted: Flags) -> Flags:
    """Forms of which no item is unwanted."""
    items = material.table.forms.item_offsets
    return np.asarray(np.bincount(owners(items)[unwanted], minlength=len(items) - 1) == 0)


def _allowed_words(material: Material, k: int) -> Outcome:
    """Words are what blanks part: *south dakota*, which we read as one, is two."""
    table = material.table
    numbers: dict[str, int] = {}
    spoken = ragged_of(
        [[numbers.setdefault(w, len(numbers)) for w in said.split()] for said in table.words]
    )
    offsets, places = take_ragged(table.forms.item_offsets, table.form_of)
    said_offsets, said = take_ragged(spoken[0], table.forms.item_words[places])
    users = table.users[owners(offsets)[owners(said_offsets)]]
    few = people_per_label(spoken[1][said], users, len(numbers)) < k
    unknown = np.bincount(owners(spoken[0])[few[spoken[1]]], minlength=len(table.words)) > 0
    return whole_queries(material, _forms_without(material, unknown[table.forms.item_words]))


def _filtered(material: Material, k: int) -> Outcome:
    table = material.table
    marked = np.array([any(c.isdigit() or c == "@" for c in w) for w in table.words], dtype=bool)
    persons = table.forms.item_identifiers == KINDS.index("name")
    return whole_queries(
        material, _forms_without(material, persons | marked[table.forms.item_words])
    )


Mechanism = Callable[[Material, int, np.random.Generator], Selected]


def _privately(mechanism: Mechanism, material: Material, k: int) -> Outcome:
    """With the bound by which most records are published."""
    records = np.bincount(material.table.form_of, minlength=len(material.table.forms))
    tried = [mechanism(material, most, np.random.default_rng(SEED)) for most in BOUNDS]
    best = max(tried, key=lambda own: int(records[own.forms].sum()))
    return whole_queries(material, best.forms, best.counts)


def drawn(users: Ints, items: Ints, most: int, random: np.random.Generator) -> Longs:
    """Places of the items that count: so many of each person, each item once, at random."""
    first, _ = group_by(users, items)
    ordered = first[np.lexsort((random.random(len(first)), users[first]))]
    return ordered[_rank(users[ordered]) < most]


def _rank(users: Ints) -> Longs:
    """How many of the same person come before, given person by person."""
    return np.arange(len(users)) - np.searchsorted(users, users)


def _counts(material: Material, places: Longs) -> Floats:
    """How often each form stands at these places."""
    table = material.table
    return np.bincount(table.form_of[places], minlength=len(table.forms)).astype(np.float64)


def zealous(material: Material, most: int, random: np.random.Generator) -> Selected:
    """Two thresholds: on exact counts, then on noisy ones ((ε, δ)-probabilistic privacy)."""
    table = material.table
    counts = _counts(material, drawn(table.users, table.form_of, most, random))
    people = len(distinct(table.users.astype(np.int64)))
    scale, first, second = zealous_thresholds(most, people)
    noisy = counts + random.laplace(0, scale, len(counts))
    return Selected((counts >= first) & (noisy >= second), noisy)


def zealous_thresholds(most: int, people: int) -> tuple[float, int, float]:
    """The noise, the first threshold, by which the second is least, and the second."""
    scale = 2 * most / EPSILON
    first = int(np.ceil(scale))
    gap = max(
        -scale * np.log(2 - 2 * np.exp(-1 / scale)),
        -scale * np.log(2 * DELTA / (people * most / first)),
    )
    return scale, first, first + gap


def korolova(material: Material, most: int, random: np.random.Generator) -> Selected:
    """First queries of each person, a noisy threshold, and counts with noise of their own."""
    table = material.table
    ordered = np.lexsort((table.log_rows, table.times, table.users))
    counts = _counts(material, ordered[_rank(table.users[ordered]) < most])
    scale, threshold = korolova_threshold(most)
    chosen = (counts > 0) & (counts + random.laplace(0, scale, len(counts)) > threshold)
    return Selected(chosen, np.maximum(counts + random.laplace(0, scale, len(counts)), 1.0))


def korolova_threshold(most: int) -> tuple[float, float]:
    """The noise and the threshold: half of ε for which queries are told, half for how often."""
    scale = most / (EPSILON / 2)
    return scale, most - scale * np.log(2 * DELTA / most)


def weighted_gaussian(material: Material, most: int, random: np.random.Generator) -> Selected:
    table, price = material.table, (EPSILON, DELTA)
    return set_union(table.users, table.form_of, len(table.forms), most, random, price)


def set_union(
    users: Ints,
    items: Ints,
    count: int,
    most: int,
    random: np.random.Generator,
    price: tuple[float, float],
) -> Selected:
    """Each person has one unit of length for all items; Gaussian noise, one threshold."""
    places = drawn(users, items, most, random)
    held = np.bincount(users[places])[users[places]]
    weights = np.bincount(items[places], 1 / np.sqrt(held), minlength=count)
    epsilon, delta = price
    sigma, sizes = gaussian_sigma(epsilon, delta / 2), np.arange(1, most + 1)
    threshold = (1 / np.sqrt(sizes) + sigma * norm.ppf((1 - delta / 2) ** (1 / sizes))).max()
    noisy = weights + random.normal(0, sigma, count)
    return Selected((weights > 0) & (noisy > threshold), noisy)


def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The least noise that is (ε, δ)-private for a sum that one person changes by 1 (Balle, Wang
    2018, Theorem 8)."""

    def excess(sigma: float) -> float:
        near, far = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        return float(norm.cdf(near) - np.exp(epsilon) * norm.cdf(far) - delta)

    return float(brentq(excess, 1e-2, 1e3))


THRESHOLD: Final = Method(
    "threshold-k",
    "rival",
    False,
    partial(_threshold, None),
    "k-anonymity by a threshold, as ORCAS (N. Craswell et al., CIKM 2020) and others publish",
    "a query is published as typed if k people asked it; letters' case and blanks aside",
)
THRESHOLD_30: Final = Method(
    "threshold-30",
    "rival",
    False,
    partial(_threshold, MANY_PEOPLE),
    "Regulation (EU) 2022/1925 (DMA), Art. 6(11), as offered: queries of 30 signed-in users",
    "in this log, however long it is (the offer counts 13 months)",
)
ALLOW_LIST: Final = Method(
    "allow-list",
    "rival",
    False,
    _allowed_words,
    "lists of allowed words, as proposed for shared search logs",
    "a query is published as typed if each of its words was used by k people, alone or not",
)
MOZILLA: Final = Method(
    "filter",
    "rival",
    False,
    _filtered,
    "Mozilla: search-terms-sanitization: queries with numerals, @ or persons' names are dropped",
    "persons as our recognisers find them; nobody is counted",
)
ZEALOUS: Final = Method(
    "zealous",
    "rival",
    False,
    partial(_privately, zealous),
    "M. Götz, A. Machanavajjhala, G. Wang, X. Xiao, J. Gehrke: Publishing search logs, TKDE 24 "
    "(2012)",
    "items are whole queries, m of each person at random; m of 1, 2, 5, 10, 20 that publishes most "
    "(that choice is not charged); probabilistic privacy",
    EPSILON,
    DELTA,
)
KOROLOVA: Final = Method(
    "korolova",
    "rival",
    False,
    partial(_privately, korolova),
    "A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas: Releasing search queries and clicks "
    "privately, WWW 2009",
    "the first d queries of each person; d as m above; ε in halves for queries and counts",
    EPSILON,
    DELTA,
)
WGM: Final = Method(
    "wgm",
    "rival",
    False,
    partial(_privately, weighted_gaussian),
    "S. Gopi, P. Gulhane, J. Kulkarni, J. H. Shen, M. Shokouhi, S. Yekhanin: Differentially "
    "private set union, ICML 2020 (weighted Gaussian)",
    "Δ0 as m above; it publishes no counts: its noisy weights stand for them",
    EPSILON,
    DELTA,
)
