"""Readings of query texts, kept from run to run under keyed hashes of the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np

from tasks.core.detection.readings import Readings, join_readings
from tasks.core.digests import Keys, byte_keys, digest
from tasks.core.records import Longs
from tasks.runtime.cache import BlobCache

Read = Callable[[Longs], Readings]
"""Reads some of the texts, given by their places."""
MOST_BLOCKS: Final = 16
"""So many blocks are searched one after the other; more are joined into one."""


class KeptReadings:
    """The readings that a store knows, for one way of reading."""

    def __init__(self, cache: BlobCache, secret: bytes, way: str) -> None:
        """Take `way` as a digest of all that decides how a text is read."""
        self._cache = cache
        self._secret = secret
        self._list = f"readings:{way}"

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
        return byte_keys((text.encode("utf-8", "surrogatepass") for text in texts), self._secret)

    def _known(self, keys: Keys) -> tuple[Readings, Longs]:
        """What the store has of these, and the place of each in it, or -1."""
        parts = [NO_READINGS]
        places = np.full(len(keys), -1, dtype=np.int64)
        first = 0
        for kept_keys, readings in self._blocks():
            at = np.minimum(np.searchsorted(kept_keys, keys), len(kept_keys) - 1)
            hit = np.flatnonzero((kept_keys[at] == keys) & (places < 0))
            places[hit] = first + np.arange(len(hit))
            parts.append(readings.take(at[hit]))
            first += len(hit)
        return join_readings(parts), places

    def _blocks(self) -> list[tuple[Keys, Readings]]:
        found = (self._cache.get_arrays(name) for name in self._cache.listed(self._list))
        return [_unpacked(arrays) for arrays in found if arrays is not None]

    def _keep(self, keys: Keys, readings: Readings) -> None:
        names = self._cache.listed(self._list)
        if len(names) < MOST_BLOCKS:
            self._cache.enlist(self._list, self._save(keys, readings))
            return
        blocks = [*self._blocks(), (keys, readings)]
        joined = np.concatenate([own_keys for own_keys, _ in blocks])
        name = self._save(joined, join_readings([own for _, own in blocks]))
        self._cache.relist(self._list, [name], names)

    def _save(self, keys: Keys, readings: Readings) -> str:
        """Keep a block; equal keys, which two runs at once may have added, are folded."""
        distinct, order = np.unique(keys, return_index=True)
        own = readings.take(order)
        arrays = {entry.name: getattr(own, entry.name) for entry in fields(Readings)}
        name = f"{self._list}:{digest(distinct)}"
        self._cache.put_arrays(name, {"keys": distinct, **arrays})
        return name


def _unpacked(arrays: dict[str, Any]) -> tuple[Keys, Readings]:
    keys = arrays.pop("keys")
    return keys, Readings(**arrays)


NO_READINGS: Final = Readings(
    *(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)),
    *(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)),
    np.zeros(0, np.bool_),
)
