"""Stores for tests: new ones that hold nothing but what is compiled from public data."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tasks.runtime.store import Store

COMPILED = ("compiled:", "nltk-folders:", "wordnet-version:")


def prepared_store(folder: Path, source: Path) -> Path:
    """A store with the compiled WordNet and lists of another: whatever else runs is computed."""
    with closing(Store(folder)) as made, closing(Store(source)) as known:
        for key in list(known._cache.iterkeys()):
            if key.startswith(COMPILED):
                made._cache[key] = known._cache[key]
    return folder
