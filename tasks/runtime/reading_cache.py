"""Readings of query texts, kept from run to run under keyed hashes of the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from tasks.core.detection.readings import PlacedReadings, Readings, join_readings
from tasks.core.digests import Keys, byte_keys, digest
from tasks.core.records import Longs
from tasks.core.texts import Texts
from tasks.runtime.store import Store

Read = Callable[[Longs], Iterable[PlacedReadings]]
"""Reads some of the texts, given by their places, part by part."""
MOST_LISTS: Final = 16
"""So many short lists of readings are searched one after the other; more are joined into one."""
MOST_IN_LIST: Final = 1 << 18
"""Readings of one list: lists are loaded one at a time."""


class ReadingCache:
    """The readings that a store knows, for one way of analysing."""

    def __init__(self, store: Store, fingerprint: str, most: int = MOST_LISTS) -> None:
        """Take `fingerprint` as that of all that decides what is found in a text."""
        self._store = store
        self._most = most
        self._list = f"readings:{fingerprint}"

    def read(self, texts: Texts, read_new: Read) -> Readings:
        """The readings of the texts; only those are read that are not known yet."""
        keys = byte_keys(
            (text.encode("utf-8", "surrogatepass") for text in texts), self._store.secret
        )
        parts, new = self._known(keys)
        waiting: list[PlacedReadings] = []
        for part in read_new(new) if len(new) else ():
            parts.append(part)
            waiting.append(part)
            if sum(len(own) for _, own in waiting) >= MOST_IN_LIST:
                self._keep([(keys[places], own) for places, own in waiting])
                waiting.clear()
        if waiting:
            self._keep([(keys[places], own) for places, own in waiting])
        return join_readings(parts, len(texts))

    def _known(self, keys: Keys) -> tuple[list[PlacedReadings], Longs]:
        """What the store has of these, and the places of those that it does not have."""
        order = np.argsort(keys)
        ordered, is_new = keys[order], np.ones(len(keys), dtype=np.bool_)
        parts: list[PlacedReadings] = []
        for kept, readings in self._lists(self._store.listed(self._list)) if len(keys) else ():
            at = np.minimum(np.searchsorted(ordered, kept), len(keys) - 1)
            hit = np.flatnonzero((ordered[at] == kept) & is_new[order[at]])
            places = order[at[hit]].astype(np.int32)
            is_new[places] = False
            parts.append((places, readings.take(hit)))
        return parts, np.flatnonzero(is_new)

    def _lists(self, names: Sequence[str]) -> Iterator[tuple[Keys, Readings]]:
        found = (self._store.load(name, tuple) for name in names)
        return (own for own in found if own is not None)

    def _keep(self, lists: list[tuple[Keys, Readings]]) -> None:
        """Keep readings; if there are many short lists, in one with all of those."""
        short = [
            name
            for name in self._store.listed(self._list)
            if int(name.split(":")[-2]) < MOST_IN_LIST // 2
        ]
        gone = short if len(short) >= self._most else []
        kept = self._save([*self._lists(gone), *lists])
        self._store.relist(self._list, kept, [*gone, *kept])

    def _save(self, lists: Sequence[tuple[Keys, Readings]]) -> list[str]:
        """Save lists as one; equal keys, which two runs at once may have added, are folded."""
        distinct, places = np.unique(
            np.concatenate([keys for keys, _ in lists]), return_inverse=True
        )
        own_places = np.split(places, np.cumsum([len(keys) for keys, _ in lists])[:-1])
        readings = [own for _, own in lists]
        joined = join_readings(list(zip(own_places, readings, strict=True)), len(distinct))
        names = []
        for start in range(0, len(distinct), MOST_IN_LIST):
            own = np.arange(start, min(start + MOST_IN_LIST, len(distinct)))
            names.append(f"{self._list}:{len(own)}:{digest(distinct[own])}")
            self._store.save(names[-1], (distinct[own], joined.take(own)))
        return names
