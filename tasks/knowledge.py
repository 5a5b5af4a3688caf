"""What is known before a log is read, loaded once a process: WordNet and the sensitive topics."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tasks.adapters.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet, load_wordnet
from tasks.core.errors import InputError
from tasks.core.topics import TopicMap, map_topics


@lru_cache(maxsize=1)
def wordnet(store: str) -> WordNet:
    """WordNet, compiled in the store."""
    try:
        return load_wordnet(Path(store))
    except OSError as fault:
        raise InputError(f"cannot use --store {store}: {fault.strerror}") from None


@lru_cache(maxsize=1)
def topic_map(store: str, topics: str | None) -> TopicMap:
    """The sensitive branches."""
    path = Path(topics) if topics else DEFAULT_TOPICS
    return map_topics(read_topics(path), wordnet(store).taxonomy)
