"""Texts that no earlier run has read: who reads them, and from where."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tasks.core.detection.readings import Readings
from tasks.core.errors import StillChanging
from tasks.core.records import Ints, Longs, QueryLog
from tasks.reading import (
    FEWEST_TO_SHARE,
    Manner,
    compile_lists,
    manner_of,
    places_of,
    read_in_shards,
    read_where_they_stand,
    texts_per_shard,
)
from tasks.runtime.inputs import stamp
from tasks.runtime.kept_stop_words import stop_words
from tasks.runtime.memory import Memory, way_of_reading
from tasks.runtime.progress import Progress
from tasks.runtime.workers import are_prepared, running_blocks
from tasks.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """The distinct texts of a log, to be read as far as that is asked for.

    Attributes:
        texts, text_of: the distinct texts, and which of them each record is.
    """

    settings: Settings
    memory: Memory
    log: QueryLog
    texts: list[str] = field(repr=False)
    text_of: Ints
    progress: Progress

    def read(self, new: Longs) -> Readings:
        """What some of the texts say, given by their places."""
        settings = self.settings
        manner = manner_of(settings)
        if settings.runner == "dask":
            return self._read_elsewhere(manner, new)
        shared = are_prepared() or len(new) >= FEWEST_TO_SHARE
        if shared:
            compile_lists(manner)
        with running_blocks(settings.workers if shared else 1) as run:
            stop_words(self.memory.cache, run)
            texts = [self.texts[place] for place in new.tolist()]
            return read_in_shards(manner, texts, run, self.progress)

    def _read_elsewhere(self, manner: Manner, new: Longs) -> Readings:
        """Each text is read where it first stands in the log."""
        settings, log = self.settings, self.log
        compile_lists(manner)
        records = np.unique(self.text_of, return_index=True)[1][new]
        order = np.lexsort((log.rows[records], log.origins[records]))
        most = texts_per_shard(settings.worker_memory, len(new), settings.workers)
        places = places_of(log, records, most, format=settings.format, columns=settings.columns)
        before = [stamp(file) for file in log.sources]
        with running_blocks(settings.workers) as run:
            way = way_of_reading(settings)
            readings = read_where_they_stand(manner, way, places, run, self.progress)
            stop_words(self.memory.cache, run)
        if before != [stamp(file) for file in log.sources]:
            raise StillChanging("a log changed while it was read: run again later")
        return readings.take(np.argsort(order))
