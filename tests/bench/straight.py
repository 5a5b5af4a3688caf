"""The part `nltk`: our distances against straight implementations, on a generated log."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.adapters.wordnet import load_wordnet, open_reader
from tasks.core.arrays import ragged_of
from tasks.core.records import AttributeSets, Ints, RecordTable
from tasks.phases.analyse import analyse
from tasks.phases.job import Job
from tasks.phases.read import read
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tests.bench.logs import SEED, Log
from tests.bench.nltk_loop import compare_attributes
from tests.bench.set_loop import compare_records

CONCEPTS: Final = 2_000
RECORDS: Final = 3_000


def against_nltk(log: Log, store: Path) -> dict[str, Any]:
    """Attributes and records of a log in scope `all`, drawn with a seed."""
    table = analysed(log, store)
    wordnet = load_wordnet(store)
    reader = open_reader(store / "wordnet" / wordnet.version)
    taxonomy = wordnet.taxonomy
    concepts = _drawn(np.unique(table.sets.concepts), CONCEPTS)
    records = _drawn(table.set_of[table.set_of >= 0], RECORDS)
    one_each = _drawn(np.arange(len(table.sets), dtype=np.int32), RECORDS)
    return {
        "log": {"queries": log.size, "seed": SEED},
        "attributes": compare_attributes(taxonomy, reader, concepts, seed=SEED),
        "records": compare_records(taxonomy, *_own_sets(table.sets, records)),
        # Nothing is gained here by folding records of the same set.
        "records_of_different_sets": compare_records(taxonomy, *_own_sets(table.sets, one_each)),
    }


def analysed(log: Log, store: Path) -> RecordTable:
    """The log's records and attribute sets."""
    settings = Settings(logs=tuple(map(str, log.whole)), store=str(store), scope="all")
    job = Job.of(settings, LocalExecutor(settings.workers))
    return analyse(job, read(job)).value


def _drawn(values: Ints, count: int) -> Ints:
    chosen = random.Random(SEED).sample(values.tolist(), min(count, len(values)))
    return np.array(sorted(chosen), dtype=np.int32)


def _own_sets(sets: AttributeSets, set_of: Ints) -> tuple[AttributeSets, Ints]:
    """The sets of some records alone, and which of them is whose."""
    distinct, own = np.unique(set_of, return_inverse=True)
    return AttributeSets(*ragged_of([sets.row(row) for row in distinct.tolist()])), own.astype(
        np.int32
    )
