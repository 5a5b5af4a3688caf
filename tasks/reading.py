"""Texts read in shards, by this process or by several: the same readings in the same order.

A process that reads has to import spaCy and to load WordNet and the name lists first; therefore
few texts are read by one process. Processes on other machines are not sent texts: they are told
in which rows of the log to find them, and look there themselves.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tasks.adapters.logs.reader import texts_at
from tasks.core.choices import Scope
from tasks.core.detection.readings import Readings, join_readings, normalise
from tasks.core.errors import UsageError
from tasks.core.records import Longs, QueryLog
from tasks.core.starmap import Starmap
from tasks.runtime.errors import contained
from tasks.runtime.knowledge import store_here, topic_map, wordnet
from tasks.runtime.memory import way_of_reading
from tasks.runtime.progress import Progress, counted
from tasks.runtime.workers import imported
from tasks.settings import Settings

if TYPE_CHECKING:
    from tasks.adapters.detection.identifiers import IdentifierFinder
    from tasks.core.detection.lexicon import Terms

SHARD: Final = 2000
FEWEST_TO_SHARE: Final = 10_000
"""With fewer texts, more processes take longer to import spaCy than they save, unless they have."""

SHARDS_PER_WORKER: Final = 2
BEFORE_READING: Final = 0.7
"""Gigabytes that a worker takes before it has read a text: spaCy, WordNet, the name lists."""
BYTES_PER_TEXT: Final = 1500


@dataclass(frozen=True, slots=True)
class Manner:
    """What decides how a text is read; the same in every process."""

    store: str
    topics: str | None
    scope: Scope
    spacy_model: str | None

    @property
    def from_anywhere(self) -> Manner:
        """The same for processes that work in other folders."""
        topics = self.topics and os.path.abspath(self.topics)
        return replace(self, store=os.path.abspath(self.store), topics=topics)

    @property
    def here(self) -> Manner:
        """The same as a worker sees it."""
        return replace(self, store=store_here(self.store))


def manner_of(settings: Settings) -> Manner:
    return Manner(settings.store, settings.topics, settings.scope, settings.spacy_model)


def read_in_shards(
    manner: Manner, texts: Sequence[str], run: Starmap, progress: Progress
) -> Readings:
    """What each text says, in order."""
    shards = ((manner, texts[at : at + SHARD]) for at in range(0, len(texts), SHARD))
    return join_readings(list(counted(run(read_shard, shards), len(texts), progress)))


def texts_per_shard(gigabytes: float, texts: int, workers: int) -> int:
    """Texts that one worker reads at a time: some shards for each, none beyond its memory."""
    fitting = int((gigabytes - BEFORE_READING) * 1e9 / BYTES_PER_TEXT)
    return max(SHARD, min(fitting, -(-texts // (SHARDS_PER_WORKER * workers))))


@dataclass(frozen=True, slots=True)
class Place:
    """Where texts stand: in some rows, ascending, of a file that all machines can read."""

    file: str
    format: str
    columns: dict[str, str]
    rows: Longs


def read_where_they_stand(
    manner: Manner, way: str, places: Sequence[Place], run: Starmap, progress: Progress
) -> Readings:
    """What each text says, in the order of the places.

    Args:
        way: a digest of all that decides how texts are read, for other machines to compare.
    """
    total = sum(len(place.rows) for place in places)
    shards = run(read_place, ((manner.from_anywhere, way, place) for place in places))
    return join_readings(list(counted(shards, total, progress)))


def places_of(
    log: QueryLog, records: Longs, most: int, *, format: str, columns: dict[str, str]
) -> list[Place]:
    """Where the texts of some records stand, ordered by file and row; at most so many a place."""
    origins, rows = log.origins[records], log.rows[records]
    found = []
    for origin in np.unique(origins).tolist():
        own = np.sort(rows[origins == origin])
        for start in range(0, len(own), most):
            part = own[start : start + most]
            found.append(Place(os.path.abspath(log.sources[origin]), format, columns, part))
    return found


def get_ready(manner: Manner) -> None:
    """Load what it takes to read, before the first text is there; runs in a worker."""
    imported()
    own = manner.here
    # Where nothing is compiled yet, the flow is about to do it.
    if (Path(own.store) / "terms").is_dir():
        reading_pipeline(own)


@contained
def read_place(manner: Manner, way: str, place: Place) -> Readings:
    """Read the texts that stand in some rows; runs in a worker."""
    own = manner.here
    if way != way_of_reading(own):
        raise UsageError(
            "a Dask worker would read texts in another way than the flow: WordNet, the file of "
            "--topics or the model of --spacy-model differ"
        )
    found = texts_at(place.file, place.rows.tolist(), format=place.format, columns=place.columns)
    return read_shard(own, [normalise(text) for text in found])


@contained
def read_shard(manner: Manner, texts: Sequence[str]) -> Readings:
    """Read some texts; contained, for what is raised elsewhere comes here with all it says."""
    from tasks.adapters.detection.pipeline import read_texts

    return read_texts(reading_pipeline(manner), texts)


@lru_cache(maxsize=1)
def reading_pipeline(manner: Manner) -> Any:
    # spaCy takes a second to import and only texts never seen before need it.
    from tasks.adapters.detection.pipeline import STOPS, build_pipeline
    from tasks.core.detection.attributes import AttributeFinder

    identifiers, terms = compile_lists(manner)
    lexicon = wordnet(manner.store).lexicon
    masks = topic_map(manner.store, manner.topics).masks
    finder = AttributeFinder(lexicon, masks, manner.scope, STOPS, terms)
    return build_pipeline(identifiers, finder, manner.spacy_model)


def compile_lists(manner: Manner) -> tuple[IdentifierFinder, Terms]:
    """Names, terms and concepts as they are compiled in the store.

    Whoever lets several processes read asks for them first, lest each compiles them on a new store.
    """
    from tasks.adapters.detection.identifiers import load_identifier_finder
    from tasks.adapters.detection.terms import load_terms

    known, topics = wordnet(manner.store), topic_map(manner.store, manner.topics)
    identifiers = load_identifier_finder(Path(manner.store))
    return identifiers, load_terms(known, topics, identifiers.names, Path(manner.store))
