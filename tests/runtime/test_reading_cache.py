"""Readings that are cached: no text is read twice, and nothing changes by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.readings import Item, PlacedReadings, Readings, pack_readings
from tasks.core.records import Longs
from tasks.core.texts import Texts
from tasks.runtime.reading_cache import ReadingCache
from tasks.runtime.store import Store
from tests.helpers.random_logs import spans
from tests.runtime.examples import MANY_STORES
from tests.test_privacy import assert_no_canary, contents


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

    def through(self, cache: ReadingCache, texts: Sequence[str]) -> Readings:
        """What the cache finds; new texts are read two at a time."""

        def read(places: Longs) -> Iterator[PlacedReadings]:
            for start in range(0, len(places), 2):
                own = places[start : start + 2]
                chosen = [texts[place] for place in own.tolist()]
                self.read.extend(chosen)
                yield own, read_words(chosen)

        return cache.read(Texts.of(texts), read)


def same(left: Readings, right: Readings) -> bool:
    return all(
        np.array_equal(getattr(left, name), getattr(right, name)) for name in Readings.__slots__
    )


TEXTS = st.lists(st.text(alphabet="ab é", max_size=8), max_size=8, unique=True)


@MANY_STORES
@given(batches=st.lists(TEXTS, min_size=1, max_size=6))
def test_a_text_is_read_once(make_store: Callable[[], Store], batches: list[list[str]]) -> None:
    store, counted = make_store(), Counted()
    for texts in batches:
        found = counted.through(ReadingCache(store, "way"), texts)
        assert same(found, read_words(texts))
        assert found.words(texts) == [word for text in texts for word in text.split()]
    assert sorted(counted.read) == sorted({text for texts in batches for text in texts})


def test_many_short_lists_become_one(make_store: Callable[[], Store]) -> None:
    store, counted = make_store(), Counted()
    texts = [f"word{number}" for number in range(10)]
    for end in range(1, 11):
        counted.through(ReadingCache(store, "way", most=3), texts[:end])
        assert len(store.listed("readings:way")) <= 3
    assert counted.read == texts
    assert same(counted.through(ReadingCache(store, "way"), texts), read_words(texts))
    assert counted.read == texts


@MANY_STORES
@given(batches=st.lists(TEXTS, min_size=1, max_size=6), lost=st.sets(st.integers(0, 6)))
def test_lists_may_vanish(
    make_store: Callable[[], Store], batches: list[list[str]], lost: set[int]
) -> None:
    store, counted = make_store(), Counted()
    for texts in batches:
        counted.through(ReadingCache(store, "way"), texts)
    names = store.listed("readings:way")
    for name in (name for place, name in enumerate(names) if place in lost):
        store.drop(name)
    texts = sorted({text for own in batches for text in own})
    assert same(counted.through(ReadingCache(store, "way"), texts), read_words(texts))


def test_another_fingerprint_or_secret_knows_nothing(make_store: Callable[[], Store]) -> None:
    store, counted = make_store(), Counted()
    counted.through(ReadingCache(store, "one"), ["text"])
    counted.through(ReadingCache(store, "other"), ["text"])
    (store.folder / "secret").unlink()
    again = Store(store.folder)
    counted.through(ReadingCache(again, "one"), ["text"])
    assert counted.read == ["text"] * 3
    counted.through(ReadingCache(again, "other"), ["other"])
    counted.through(ReadingCache(again, "one"), ["text"])
    assert counted.read == [*["text"] * 3, "other"]


def test_no_text_lies_in_the_store(make_store: Callable[[], Store]) -> None:
    store, counted = make_store(), Counted()
    counted.through(ReadingCache(store, "way"), ["zyxwvcanary cure"])
    store.close()
    assert_no_canary(list(contents(store.folder)))
