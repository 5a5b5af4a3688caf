"""What is known before a log is read, loaded once a process: WordNet and the topics."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics, topics_content
from tasks.adapters.wordnet import WordNet, load_wordnet, wordnet_version
from tasks.core.detection.topics import TopicMap, map_topics
from tasks.core.digests import digest
from tasks.core.taxonomy import Taxonomy
from tasks.errors import InputError, UsageError
from tasks.folders import default_store


def wordnet(store: str) -> WordNet:
    """WordNet, compiled in the store."""
    return _wordnet(os.path.abspath(store))


@lru_cache(maxsize=1)
def _wordnet(store: str) -> WordNet:
    try:
        return load_wordnet(Path(store))
    except OSError as fault:
        raise InputError(f"cannot use --store {store}: {fault.strerror}") from None


def topic_map(store: str, topics: str | None) -> TopicMap:
    """The sensitive branches."""
    return _topic_map(os.path.abspath(store), topics and os.path.abspath(topics))


@lru_cache(maxsize=1)
def _topic_map(store: str, topics: str | None) -> TopicMap:
    path = Path(topics) if topics else DEFAULT_TOPICS
    return map_topics(read_topics(path), wordnet(store).taxonomy)


def store_here(store: str) -> str:
    """A store as a worker sees it: another machine may not have that folder, but has its own."""
    return store if Path(store).is_dir() else default_store()


@dataclass(frozen=True, slots=True)
class Resources:
    """WordNet and topics by name, for parts: each process loads them from its own disk.

    Attributes:
        content: a digest of both; whoever finds another one must not work.
    """

    store: str
    topics: str | None
    content: str

    @property
    def taxonomy(self) -> Taxonomy:
        return wordnet(self._store_of_same_content()).taxonomy

    @property
    def topic_map(self) -> TopicMap:
        return topic_map(self._store_of_same_content(), self.topics)

    def _store_of_same_content(self) -> str:
        store = store_here(self.store)
        if self.content != _content(store, self.topics):
            raise UsageError(
                "a Dask worker knows other things than the flow: WordNet or the file of --topics "
                "differ"
            )
        return store


def resources_in(store: str, topics: str | None) -> Resources:
    """What a flow knows, for its parts."""
    here, own_topics = os.path.abspath(store), topics and os.path.abspath(topics)
    return Resources(here, own_topics, _content(here, own_topics))


@lru_cache(maxsize=1)
def _content(store: str, topics: str | None) -> str:
    path = Path(topics) if topics else DEFAULT_TOPICS
    return digest(wordnet_version(Path(store)), topics_content(path))
