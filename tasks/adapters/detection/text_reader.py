"""Texts to readings, in parts: by this process, by others beside it, or by other machines.

A process that reads has to import spaCy and to load WordNet and the name lists first. Those on
other machines are not sent texts: they are told in which rows of the log to find them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.adapters.detection.identifiers import IdentifierFinder, load_identifier_finder
from tasks.adapters.detection.terms import load_terms, term_sources
from tasks.adapters.detection.topics import DEFAULT_TOPICS, topics_content
from tasks.adapters.logs.reader import texts_at
from tasks.adapters.public_data import is_compiled, stop_words
from tasks.adapters.resources import store_here, topic_map, wordnet
from tasks.adapters.wordnet import wordnet_version
from tasks.core.choices import Scope
from tasks.core.detection.attributes import AttributeFinder
from tasks.core.detection.lexicon import Terms
from tasks.core.detection.readings import PlacedReadings, Readings, normalise
from tasks.core.digests import digest
from tasks.core.log_options import LogOptions
from tasks.core.records import Ints, Longs, QueryLog
from tasks.core.starmap import Starmap
from tasks.core.texts import Texts
from tasks.errors import UsageError
from tasks.runtime.executor import import_for_work
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.progress import Progress, counted
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.sources import is_file
from tasks.settings import Settings

TEXTS_PER_PART: Final = 2000
PARTS_PER_WORKER: Final = 2
BEFORE_READING: Final = 0.7
"""Gigabytes that a worker takes before it has read a text: spaCy, WordNet, the name lists."""
BYTES_PER_TEXT: Final = 1500


@dataclass(frozen=True, slots=True)
class TextReader:
    """What decides how a text is read; the same in every process."""

    store: str
    topics: str | None
    scope: Scope
    spacy_model: str | None

    @classmethod
    def of(cls, settings: Settings) -> TextReader:
        return cls(settings.store, settings.topics, settings.scope, settings.spacy_model)

    @property
    def from_anywhere(self) -> TextReader:
        """The same for processes that work in other folders."""
        topics = self.topics and os.path.abspath(self.topics)
        return replace(self, store=os.path.abspath(self.store), topics=topics)

    @property
    def here(self) -> TextReader:
        """The same as a worker sees it."""
        return replace(self, store=store_here(self.store))


def reading_fingerprint(reader: TextReader) -> str:
    """Of all that decides how a text is read."""
    topics = topics_content(Path(reader.topics) if reader.topics else DEFAULT_TOPICS)
    model = reader.spacy_model and (reader.spacy_model, _model_version(reader.spacy_model))
    known = wordnet_version(Path(reader.store))
    return digest("reading", code_fingerprint(__name__), known, topics, reader.scope, model)


def _model_version(model: str) -> str:
    """Of a package its version, of a folder the content of its files."""
    try:
        return version(model)
    except PackageNotFoundError:
        files = sorted(path for path in Path(model).rglob("*") if path.is_file())
        return digest([(str(path), digest(path.read_bytes())) for path in files])


def read_in_parts(
    reader: TextReader,
    texts: Texts,
    chosen: Longs,
    starmap: Starmap,
    progress: Progress,
    most: int = TEXTS_PER_PART,
) -> Iterator[PlacedReadings]:
    """What each of the chosen texts says, in order."""
    # First here: several processes at once would each compile them on a new store.
    compile_lists(reader)
    places = [chosen[at : at + most] for at in range(0, len(chosen), most)]
    parts = starmap(read_texts_of_part, ((reader, texts.strings(own)) for own in places))
    yield from zip(places, counted(parts, len(chosen), progress), strict=True)


def texts_per_part(gigabytes: float, texts: int, workers: int) -> int:
    """Texts that one remote worker reads at a time: some parts for each, none beyond its memory."""
    fitting = int((gigabytes - BEFORE_READING) * 1e9 / BYTES_PER_TEXT)
    return max(TEXTS_PER_PART, min(fitting, -(-texts // (PARTS_PER_WORKER * workers))))


@dataclass(frozen=True, slots=True)
class LogRows:
    """Where texts stand: in some rows, ascending, of a file that all machines can read."""

    file: str
    options: LogOptions
    rows: Longs


def read_where_they_stand(
    reader: TextReader, places: Sequence[LogRows], starmap: Starmap, progress: Progress
) -> Iterator[Readings]:
    """What each text says, in the order of the places."""
    total, expected = sum(len(place.rows) for place in places), reading_fingerprint(reader)
    parts = starmap(
        read_rows_of_part, ((reader.from_anywhere, expected, place) for place in places)
    )
    return counted(parts, total, progress)


def places_of(log: QueryLog, records: Ints, most: int, options: LogOptions) -> list[LogRows]:
    """Where the texts of some records stand, ordered by file and row; at most so many each."""
    origins, rows = log.origins[records], log.rows[records]
    found = []
    for origin in np.unique(origins).tolist():
        own = np.sort(rows[origins == origin])
        for start in range(0, len(own), most):
            part = own[start : start + most]
            found.append(LogRows(_from_anywhere(log.sources[origin]), options, part))
    return found


def _from_anywhere(source: str) -> str:
    return os.path.abspath(source) if is_file(source) else source


def get_ready(reader: TextReader) -> None:
    """Load what it takes to read, before the first text is there; runs in a worker."""
    import_for_work()
    own = reader.here
    store = Path(own.store)
    # Where nothing is compiled yet, the flow is about to do it.
    if is_compiled(store, "terms", term_sources(wordnet_version(store))):
        text_pipeline(own)


@redacted_errors
def read_rows_of_part(reader: TextReader, expected: str, place: LogRows) -> Readings:
    """Read the texts that stand in some rows; runs in a worker.

    Args:
        expected: how the flow would read, for this machine to compare.
    """
    own = reader.here
    if expected != reading_fingerprint(own):
        raise UsageError(
            "a Dask worker would read texts in another way than the flow: WordNet, the file of "
            "--topics or the model of --spacy-model differ"
        )
    found = texts_at(place.file, place.rows.tolist(), place.options)
    return read_texts_of_part(own, [normalise(text) for text in found])


@redacted_errors
def read_texts_of_part(reader: TextReader, texts: Sequence[str]) -> Readings:
    """Read some texts; what is raised elsewhere comes here with all it says, so it is redacted."""
    from tasks.adapters.detection.pipeline import read_texts

    return read_texts(text_pipeline(reader), texts)


@lru_cache(maxsize=1)
def text_pipeline(reader: TextReader) -> Any:
    # spaCy takes a second to import and only texts never seen before need it.
    from tasks.adapters.detection.pipeline import build_pipeline

    identifiers, terms = compile_lists(reader)
    lexicon = wordnet(reader.store).lexicon
    masks = topic_map(reader.store, reader.topics).masks
    finder = AttributeFinder(lexicon, masks, reader.scope, stop_words(), terms)
    return build_pipeline(identifiers, finder, reader.spacy_model)


def compile_lists(reader: TextReader) -> tuple[IdentifierFinder, Terms]:
    """Names, terms and concepts as they are compiled in the store."""
    known, topics = wordnet(reader.store), topic_map(reader.store, reader.topics)
    identifiers = load_identifier_finder(Path(reader.store))
    return identifiers, load_terms(known, topics, identifiers.names, Path(reader.store))
