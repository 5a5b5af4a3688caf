"""Texts read in shards, by this process or by several: the same readings in the same order.

A process that reads has to import spaCy and to load WordNet and the name lists first; therefore
few texts are read by one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tasks.containment import contained
from tasks.core.choices import Scope
from tasks.core.readings import Readings, join_readings
from tasks.core.runs import Run
from tasks.knowledge import topic_map, wordnet
from tasks.progress import Progress

SHARD: Final = 2000
FEWEST_TO_SHARE: Final = 10_000
"""With fewer texts, more processes take longer to import spaCy than they save, unless they have."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What decides how a text is read; the same in every process."""

    store: str
    topics: str | None
    scope: Scope
    spacy_model: str | None


def read_in_shards(manner: Manner, texts: Sequence[str], run: Run, progress: Progress) -> Readings:
    """What each text says, in order."""
    shards = ((manner, texts[at : at + SHARD]) for at in range(0, len(texts), SHARD))
    return join_readings(list(_watched(run(read_shard, shards), len(texts), progress)))


def _watched(shards: Iterator[Readings], total: int, progress: Progress) -> Iterator[Readings]:
    done = 0
    for shard in shards:
        done += len(shard)
        progress(done, total)
        yield shard


@contained
def read_shard(manner: Manner, texts: Sequence[str]) -> Readings:
    """Read some texts; contained, for what is raised elsewhere comes here with all it says."""
    from tasks.adapters.language import read_texts

    return read_texts(_pipeline(manner), texts)


@lru_cache(maxsize=1)
def _pipeline(manner: Manner) -> Any:
    # spaCy takes a second to import and only texts never seen before need it.
    from tasks.adapters.identifiers import load_identifier_finder
    from tasks.adapters.language import STOPS, build_pipeline
    from tasks.core.attributes import AttributeFinder

    lexicon = wordnet(manner.store).lexicon
    sensitive = topic_map(manner.store, manner.topics).sensitive
    finder = AttributeFinder(lexicon, sensitive, manner.scope, STOPS)
    identifiers = load_identifier_finder(Path(manner.store))
    return build_pipeline(identifiers, finder, manner.spacy_model)
