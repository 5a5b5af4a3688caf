"""The least distant pairs of a log's attribute sets, kept for logs that have grown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tasks.core.digests import Keys, digest
from tasks.core.records import Longs
from tasks.core.similarity.pairs import SetPairs
from tasks.runtime.cache import Arrays, BlobCache
from tasks.runtime.kept_pairs import PairCounts

Compare = Callable[[SetPairs | None, Longs | None], SetPairs]
"""The least pairs, given those known and which sets are new."""

MOST_LOGS: Final = 4


class KeptSetPairs:
    """The least pairs of whole logs; those of a log that is part of another serve that one."""

    def __init__(self, cache: BlobCache, measure: str) -> None:
        """Take `measure` as a digest of all that decides a pair's distance."""
        self._cache = cache
        self._list = f"least:{measure}"

    def read(self, keys: Keys, compare: Compare) -> tuple[SetPairs, PairCounts]:
        """The least pairs of sets, given by their content in canonical order.

        That order is the same in every log, so what is known of some sets holds among more.
        """
        known, new = self._largest_part(keys)
        found = compare(known, new)
        reused = known.compared if known is not None else 0
        whole = SetPairs(found.left, found.right, found.scores, found.compared + reused)
        if new is None or len(new):
            self._keep(keys, whole)
        return whole, PairCounts(found.compared, reused)

    def _largest_part(self, keys: Keys) -> tuple[SetPairs | None, Longs | None]:
        found = (self._cache.get_arrays(name) for name in self._cache.listed(self._list))
        parts = [arrays for arrays in found if arrays and np.isin(arrays["keys"], keys).all()]
        if not parts:
            return None, None
        part = max(parts, key=lambda arrays: len(arrays["keys"]))
        order = np.argsort(keys)
        places = order[np.searchsorted(keys[order], part["keys"])]
        pairs = SetPairs(
            places[part["left"]], places[part["right"]], part["scores"], int(part["compared"])
        )
        return pairs, np.setdiff1d(np.arange(len(keys)), places)

    def _keep(self, keys: Keys, pairs: SetPairs) -> None:
        arrays: Arrays = {
            "keys": keys,
            "left": pairs.left,
            "right": pairs.right,
            "scores": pairs.scores,
            "compared": np.array(pairs.compared),
        }
        name = f"{self._list}:{digest(keys)}"
        self._cache.put_arrays(name, arrays)
        self._cache.enlist(self._list, name)
        names = self._cache.listed(self._list)
        self._cache.relist(self._list, [], names[:-MOST_LOGS])
