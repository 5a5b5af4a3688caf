"""Stores for tests: new ones that hold nothing but what is compiled from public data."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tasks.adapters.detection.name_lists import name_sources
from tasks.adapters.detection.terms import term_sources
from tasks.adapters.wordnet import wordnet_sources, wordnet_version
from tasks.runtime.store import Store

NOTES = ("nltk-folders:", "wordnet-version:")


def prepared_store(folder: Path, source: Path) -> Path:
    """A store with the compiled WordNet and lists of another: whatever else runs is computed."""
    version = wordnet_version(source)
    sources = {
        "wordnet": wordnet_sources(version),
        "names": name_sources(),
        "terms": term_sources(version),
    }
    compiled = {f"compiled:{kind}:{own.key}" for kind, own in sources.items()}
    with closing(Store(folder)) as made, closing(Store(source)) as known:
        for key in list(known._cache.iterkeys()):
            if key in compiled or key.startswith(NOTES):
                made._cache[key] = known._cache[key]
    return folder
