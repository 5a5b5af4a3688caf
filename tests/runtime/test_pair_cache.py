"""What is kept from run to run: nothing is computed twice, and nothing changes by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tasks.runtime.cache import BlobCache
from tasks.runtime.kept_pairs import KeptPairs, PairCounts, Values
from tasks.runtime.kept_readings import KeptReadings
from tasks.runtime.kept_set_pairs import KeptSetPairs

from tasks.core.detection.readings import Item, Readings, pack_readings
from tasks.core.digests import byte_keys, row_keys
from tasks.core.records import AttributeSets, Longs
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.pairs import least_set_pairs
from tasks.runtime import kept_pairs, kept_readings
from tests.random_logs import spans, tables

ROOMY = 10**9
SECRET = b"s" * 32
UNITS = 24
CASES = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture
def make_cache(tmp_path: Path) -> Callable[[], BlobCache]:
    """A cache of its own for every example."""
    made: list[BlobCache] = []

    def make() -> BlobCache:
        made.append(BlobCache(tmp_path / f"store{len(made)}", ROOMY))
        return made[-1]

    return make


# Readings


def read_words(texts: Sequence[str]) -> Readings:
    """Every word is an item; its length stands for a concept."""
    return pack_readings(
        (spans(text), [Item(word, len(word), len(word) > 3) for word in text.split()])
        for text in texts
    )


class Counted:
    """Reads, and remembers what it was asked to read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def among(self, texts: Sequence[str]) -> Callable[[Longs], Readings]:
        def read(places: Longs) -> Readings:
            chosen = [texts[place] for place in places.tolist()]
            self.read.extend(chosen)
            return read_words(chosen)

        return read


def same(left: Readings, right: Readings) -> bool:
    return all(
        np.array_equal(getattr(left, name), getattr(right, name)) for name in Readings.__slots__
    )


TEXTS = st.lists(st.text(alphabet="ab é", max_size=8), max_size=8, unique=True)


@CASES
@given(batches=st.lists(TEXTS, min_size=1, max_size=6))
def test_a_text_is_read_once(make_cache: Callable[[], BlobCache], batches: list[list[str]]) -> None:
    cache, counted = make_cache(), Counted()
    for texts in batches:
        found = KeptReadings(cache, SECRET, "way").read(texts, counted.among(texts))
        assert same(found, read_words(texts))
        assert found.words(texts) == [word for text in texts for word in text.split()]
    assert sorted(counted.read) == sorted({text for texts in batches for text in texts})


def test_many_small_blocks_become_one(
    make_cache: Callable[[], BlobCache], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_readings, "MOST_BLOCKS", 3)
    cache, counted = make_cache(), Counted()
    texts = [f"word{number}" for number in range(10)]
    for end in range(1, 11):
        KeptReadings(cache, SECRET, "way").read(texts[:end], counted.among(texts))
        assert len(cache.listed("readings:way")) <= 3
    assert counted.read == texts
    assert same(
        KeptReadings(cache, SECRET, "way").read(texts, counted.among(texts)), read_words(texts)
    )


def test_another_way_or_secret_knows_nothing(make_cache: Callable[[], BlobCache]) -> None:
    cache, counted = make_cache(), Counted()
    for secret, way in ((SECRET, "one"), (SECRET, "other"), (b"t" * 32, "one")):
        KeptReadings(cache, secret, way).read(["text"], counted.among(["text"]))
    assert counted.read == ["text"] * 3


# Tables of pairs

KEYS = byte_keys((str(unit).encode() for unit in range(UNITS)), SECRET)
VALUES = np.abs(np.subtract.outer(np.arange(UNITS) ** 1.5, np.arange(UNITS) ** 1.5))
TABLE: Values = VALUES.astype(np.float32)


def whole(units: list[int]) -> Values:
    places = np.array(units, dtype=np.int64)
    return TABLE[np.ix_(places, places)]


class Computed:
    """Computes values of some units, and counts the pairs that it was asked for."""

    def __init__(self, units: list[int]) -> None:
        self.units = np.array(units, dtype=np.int64)
        self.pairs: set[frozenset[int]] = set()

    def __call__(self, rows: Longs, columns: Longs) -> Values:
        left, right = self.units[rows], self.units[columns]
        self.pairs |= {frozenset((a, b)) for a in left.tolist() for b in right.tolist() if a != b}
        return TABLE[np.ix_(left, right)]


UNIT_LISTS = st.lists(st.integers(0, UNITS - 1), max_size=UNITS, unique=True)


@CASES
@given(batches=st.lists(UNIT_LISTS, min_size=1, max_size=12), grow=st.booleans())
def test_a_pair_is_computed_once_while_units_are_added(
    make_cache: Callable[[], BlobCache], batches: list[list[int]], grow: bool
) -> None:
    cache, known = make_cache(), set[frozenset[int]]()
    units: list[int] = []
    for batch in batches:
        units = [*units, *(u for u in batch if u not in units)] if grow else batch
        compute = Computed(units)
        table, counts = KeptPairs(cache, "measure").read(
            KEYS[np.array(units, dtype=np.int64)], compute
        )
        assert np.array_equal(table, whole(units))
        assert counts.computed == len(compute.pairs)
        assert counts.total == len(units) * (len(units) - 1) // 2
        if grow:
            assert not compute.pairs & known
        known |= compute.pairs


def test_nothing_known_is_computed_again(make_cache: Callable[[], BlobCache]) -> None:
    cache = make_cache()
    for units, computed in (([1, 2, 3], 3), ([3, 1], 0), ([2, 4], 1), ([1, 2, 3, 4], 2)):
        _, counts = KeptPairs(cache, "measure").read(
            KEYS[np.array(units, dtype=np.int64)], Computed(units)
        )
        assert counts == PairCounts(computed, len(units) * (len(units) - 1) // 2 - computed)


def test_many_strips_become_one(
    make_cache: Callable[[], BlobCache], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_pairs, "MOST_STRIPS", 3)
    cache = make_cache()
    for end in range(1, UNITS + 1):
        units = list(range(end))
        table, _ = KeptPairs(cache, "measure").read(
            KEYS[np.array(units, dtype=np.int64)], Computed(units)
        )
        assert np.array_equal(table, TABLE[:end, :end])
        assert len(cache.listed("pairs:measure")) <= 4


@CASES
@given(units=UNIT_LISTS, lost=st.sets(st.integers(0, 20)), data=st.data())
def test_strips_may_vanish(
    make_cache: Callable[[], BlobCache], units: list[int], lost: set[int], data: st.DataObject
) -> None:
    cache = make_cache()
    for end in (1 + len(units) // 3, 1 + len(units) // 2, len(units)):
        KeptPairs(cache, "measure").read(
            KEYS[np.array(units[:end], dtype=np.int64)], Computed(units[:end])
        )
    names = [n for name in cache.listed("pairs:measure") for n in (name, f"{name}:values")]
    for name in (name for place, name in enumerate(names) if place in lost):
        cache.drop(name)
    table, _ = KeptPairs(cache, "measure").read(
        KEYS[np.array(units, dtype=np.int64)], Computed(units)
    )
    assert np.array_equal(table, whole(units))


def test_a_cache_without_room_costs_time_only(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path, 1)
    units = list(range(UNITS))
    for _ in range(2):
        table, counts = KeptPairs(cache, "measure").read(KEYS, Computed(units))
        assert np.array_equal(table, TABLE)
    assert counts.total == UNITS * (UNITS - 1) // 2


# Least pairs of sets


def prefix(sets: AttributeSets, chosen: Sequence[int]) -> AttributeSets:
    rows = [sets.row(index) for index in chosen]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return AttributeSets(offsets, np.concatenate([*rows, np.zeros(0, np.int32)]))


@CASES
@given(case=tables(least=2), data=st.data())
def test_least_pairs_of_a_growing_log(
    make_cache: Callable[[], BlobCache], case: tuple, data: st.DataObject
) -> None:
    taxonomy, table = case
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    similar, cache = distances.similar(0.5), make_cache()
    chosen: set[int] = set()
    compared = 0
    for _ in range(3):
        if len(table.sets):
            chosen |= data.draw(st.sets(st.integers(0, len(table.sets) - 1)))
        sets = prefix(table.sets, sorted(chosen))
        in_classes = distances.in_classes(sets)

        compare = partial(least_set_pairs, in_classes, similar, distance="jaccard")
        keys = row_keys(sets.offsets, sets.concepts, SECRET)
        found, counts = KeptSetPairs(cache, "measure").read(
            keys, lambda known, new, compare=compare: compare(known=known, new=new)
        )
        cold = least_set_pairs(in_classes, similar, distance="jaccard")
        for name in ("left", "right", "scores"):
            assert np.array_equal(getattr(found, name), getattr(cold, name)), name
        assert (found.compared, counts.total) == (cold.compared, cold.compared)
        assert counts.reused == compared
        compared = cold.compared
