"""Readings of query texts, kept from run to run under keyed hashes of the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tasks.core.detection.readings import Readings, join_readings
from tasks.core.digests import Keys, byte_keys, digest
from tasks.core.records import Longs
from tasks.runtime.store import Store

Read = Callable[[Longs], Readings]
"""Reads some of the texts, given by their places."""
MOST_LISTS: Final = 16
"""So many lists of readings are searched one after the other; more are joined into one."""


class ReadingCache:
    """The readings that a store knows, for one way of analysing."""

    def __init__(self, store: Store, fingerprint: str, most: int = MOST_LISTS) -> None:
        """Take `fingerprint` as that of all that decides what is found in a text."""
        self._store = store
        self._most = most
        self._list = f"readings:{fingerprint}"

    def read(self, texts: Sequence[str], read_new: Read) -> Readings:
        """The readings of the texts; only those are read that are not known yet."""
        keys = self._keys(texts)
        known, places = self._known(keys)
        new = np.flatnonzero(places < 0)
        if not len(new):
            return known.take(places)
        read = read_new(new)
        self._keep(keys[new], read)
        places[new] = len(known) + np.arange(len(new))
        return join_readings([known, read]).take(places)

    def _keys(self, texts: Sequence[str]) -> Keys:
        return byte_keys(
            (text.encode("utf-8", "surrogatepass") for text in texts), self._store.secret
        )

    def _known(self, keys: Keys) -> tuple[Readings, Longs]:
        """What the store has of these, and the place of each in it, or -1."""
        parts = [NO_READINGS]
        places = np.full(len(keys), -1, dtype=np.int64)
        first = 0
        for kept_keys, readings in self._lists():
            at = np.minimum(np.searchsorted(kept_keys, keys), len(kept_keys) - 1)
            hit = np.flatnonzero((kept_keys[at] == keys) & (places < 0))
            places[hit] = first + np.arange(len(hit))
            parts.append(readings.take(at[hit]))
            first += len(hit)
        return join_readings(parts), places

    def _lists(self) -> list[tuple[Keys, Readings]]:
        found = (self._store.load(name, tuple) for name in self._store.listed(self._list))
        return [own for own in found if own is not None]

    def _keep(self, keys: Keys, readings: Readings) -> None:
        names = self._store.listed(self._list)
        if len(names) < self._most:
            self._store.enlist(self._list, self._save(keys, readings))
            return
        lists = [*self._lists(), (keys, readings)]
        joined = np.concatenate([own_keys for own_keys, _ in lists])
        name = self._save(joined, join_readings([own for _, own in lists]))
        self._store.relist(self._list, [name], names)

    def _save(self, keys: Keys, readings: Readings) -> str:
        """Keep a list; equal keys, which two runs at once may have added, are folded."""
        distinct, order = np.unique(keys, return_index=True)
        name = f"{self._list}:{digest(distinct)}"
        self._store.save(name, (distinct, readings.take(order)))
        return name


NO_READINGS: Final = Readings(
    *(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)),
    *(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)),
    np.zeros(0, np.bool_),
)
