"""Phase 2, analyse: what each query says (paper §3.1, Definition 1 and Algorithm 1).

In: the `QueryLog`. Out: a `RecordTable`, which holds integers alone, but for the vocabulary that
*write* looks words up in. Each distinct text is read once: tokens, direct identifiers and
attributes, found by the text pipeline (`adapters/detection/pipeline.py`). What was found is kept
under a keyed hash of the text, as places and concepts without any word, so that a later batch reads
new texts only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from tasks.adapters.detection.text_reader import (
    TextReader,
    compile_lists,
    places_of,
    read_in_parts,
    read_where_they_stand,
    reading_fingerprint,
    texts_per_part,
)
from tasks.adapters.public_data import stop_words
from tasks.adapters.resources import wordnet
from tasks.adapters.word_frequencies import word_information
from tasks.core.columns import computed, row_parts
from tasks.core.detection.readings import PlacedReadings, merge_spellings
from tasks.core.record_table import FoundForms, build_record_table, find_forms
from tasks.core.records import Ints, Longs, QueryLog, RecordTable
from tasks.errors import StillChanging
from tasks.phases.job import Job
from tasks.phases.read import content_fingerprint
from tasks.runtime.executor import ALWAYS_ELSEWHERE
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.reading_cache import ReadingCache
from tasks.runtime.results import Counts, Nothing, Result
from tasks.runtime.sources import source_stamp

LOADING_SECONDS: Final = 0.8
TEXTS_PER_SECOND: Final = 4500


def analyse(job: Job, log: Result[QueryLog]) -> Result[RecordTable]:
    return Result(
        "analyse",
        analysis_fingerprint(job),
        lambda: analyse_log(job, log.value),
        Nothing() if job.appended_to else Counts(job.store, lambda table: {"records": len(table)}),
        lambda table: f"{len(table)} records, {len(table.sets)} distinct attribute sets",
    )


def analysis_fingerprint(job: Job) -> str:
    chosen, code = job.settings, code_fingerprint(__name__)
    reading = reading_fingerprint(TextReader.of(chosen))
    decisive = (code, reading, chosen.threshold, chosen.ancestors)
    return job.fingerprint("analyse", content_fingerprint(job), *decisive)


def curve_key(job: Job) -> str:
    """Where `flows.compare` leaves what any k would keep of these records, for the report."""
    return f"by-k:{analysis_fingerprint(job)}"


def analyse_log(job: Job, log: QueryLog) -> RecordTable:
    """Find attributes and identifiers in each distinct text; then the records, by Algorithm 1."""
    return build_record_table(
        *_find_forms(job, log),
        log.users,
        log.times,
        stop_words=stop_words(),
        bits_of=word_information(Path(job.settings.store)),
    )


def _find_forms(job: Job, log: QueryLog) -> tuple[FoundForms, Ints]:
    """The distinct queries, and which of the log's texts stands for that of each record."""
    texts, reader = log.texts.distinct, TextReader.of(job.settings)
    cache = ReadingCache(job.store, reading_fingerprint(reader))
    readings = cache.read(texts, _NewTexts(job, reader, log).read)
    standing, of_row = merge_spellings(texts, readings), log.texts.of_row
    text_of = computed(len(of_row), np.int32, lambda rows: standing[of_row[rows]])
    found = find_forms(
        texts,
        readings,
        text_of,
        wordnet(job.settings.store).taxonomy,
        threshold=job.settings.threshold,
        inclusive=job.settings.inclusive,
    )
    return found, text_of


@dataclass(frozen=True, slots=True, eq=False)
class _NewTexts:
    """The distinct texts of a log, of which those are read that no earlier run has read."""

    job: Job
    reader: TextReader
    log: QueryLog

    def read(self, new: Longs) -> Iterator[PlacedReadings]:
        """What some of the texts say, given by their places."""
        executor = self.job.executor
        if executor.is_remote:
            yield from self._read_elsewhere(new)
            return
        seconds = LOADING_SECONDS + len(new) / TEXTS_PER_SECOND
        with executor.running(seconds) as starmap:
            texts = self.log.texts.distinct
            yield from read_in_parts(self.reader, texts, new, starmap, self.job.progress)

    def _read_elsewhere(self, new: Longs) -> Iterator[PlacedReadings]:
        """Each text is read where it first stands in the log."""
        settings, log, workers = self.job.settings, self.log, self.job.executor.workers
        compile_lists(self.reader)
        first, of_row = np.empty(len(log.texts.distinct), dtype=np.int32), log.texts.of_row
        for rows in reversed(list(row_parts(len(of_row)))):
            # The last of several values for one place stays.
            numbers = np.arange(rows.start, rows.stop, dtype=np.int32)
            first[of_row[rows][::-1]] = numbers[::-1]
        records = first[new]
        new = new[np.lexsort((log.rows[records], log.origins[records]))]
        most = texts_per_part(settings.worker_memory, len(new), workers)
        places = places_of(log, records, most, settings.log_options)
        before, done = [source_stamp(file) for file in log.sources], 0
        with self.job.executor.running(ALWAYS_ELSEWHERE) as starmap:
            for own in read_where_they_stand(self.reader, places, starmap, self.job.progress):
                # What is yielded may be kept.
                if before != [source_stamp(file) for file in log.sources]:
                    raise StillChanging("a log changed while it was read: run again later")
                yield new[done : done + len(own)], own
                done += len(own)
