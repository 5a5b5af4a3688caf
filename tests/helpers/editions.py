"""An edition made batch by batch in memory, as append mode makes it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.detection.pipeline import build_pipeline, read_texts
from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.public_data import stop_words
from tasks.adapters.release_files import COLUMNS, render_classes
from tasks.adapters.wordnet import WordNet
from tasks.core.append.assignment import Assignment, assign
from tasks.core.append.redaction import KAnonymous, redact_pool
from tasks.core.choices import Scope
from tasks.core.clustering.adaptive import adaptive_labels
from tasks.core.clustering.problem import clusters_of, problem_of
from tasks.core.detection.readings import Readings, normalise
from tasks.core.detection.topics import map_topics
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.mentions import mentions_of
from tasks.core.record_table import build_record_table
from tasks.core.records import Ints, Longs, RecordTable, Release
from tasks.core.redaction.scrubbing import scrub
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy
from tasks.core.verification.evidence import Behind, Knowledge, Promise, ReadBack
from tasks.core.verification.union import union_faults, union_promise
from tasks.synthetic.log import synthetic_log
from tasks.synthetic.vocabulary import load_vocabulary
from tests.helpers.random_logs import equal_bits
from tests.helpers.readings import attribute_finder


@dataclass(frozen=True)
class Log:
    """A whole log, analysed text by text; rows in the order of their times."""

    taxonomy: Taxonomy
    texts: list[str]
    readings: Readings
    text_of: Ints
    users: Ints
    times: Longs

    def __len__(self) -> int:
        return len(self.users)

    def table(self, rows: Longs) -> tuple[RecordTable, Longs]:
        """The record table of some rows, and the row behind each of its records."""
        used, text_of = np.unique(self.text_of[rows], return_inverse=True)
        table = build_record_table(
            [self.texts[text] for text in used.tolist()],
            self.readings.take(used.astype(np.int64)),
            text_of.astype(np.int32),
            self.users[rows],
            self.times[rows],
            self.taxonomy,
            stop_words=stop_words(),
            bits_of=equal_bits,
            threshold=0.8,
            inclusive=False,
        )
        return table, rows[table.log_rows]


def generated_log(wordnet: WordNet, *, queries: int, users: int, scope: Scope) -> Log:
    """A log of `flows.sample`, in the order of its times."""
    rows = list(synthetic_log(load_vocabulary(), queries=queries, users=users, seed=5))
    rows.sort(key=lambda row: (row.time, row.user, row.query))
    topics = map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy)
    finder = attribute_finder(wordnet, topics, scope)
    nlp = build_pipeline(load_identifier_finder(), finder, None)
    normalised = [normalise(row.query) for row in rows]
    texts, text_of = np.unique(np.array(normalised, dtype=object), return_inverse=True)
    _, people = np.unique([row.user for row in rows], return_inverse=True)
    return Log(
        taxonomy=wordnet.taxonomy,
        texts=texts.tolist(),
        readings=read_texts(nlp, texts.tolist()),
        text_of=text_of.astype(np.int32),
        users=people.astype(np.int32),
        times=np.array([row.time for row in rows], dtype="datetime64[s]").astype(np.int64),
    )


@dataclass
class Edition:
    """What was published so far, release by release, and which rows of the log wait."""

    log: Log
    k: int
    l: int = 1  # noqa: E741
    guarantee: KAnonymous = "strict"
    published: list[Ints] = field(default_factory=list)
    waiting: Longs = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    releases: list[ReadBack] = field(default_factory=list)
    rows: list[Longs] = field(default_factory=list)
    """Rows of the log behind the rows of each release."""

    def add(self, rows: Longs) -> None:
        """One more release of new rows and those that wait."""
        table, behind = self.log.table(np.sort(np.concatenate([self.waiting, rows])))
        settled = self._assigned(table)
        found = redact_pool(
            table,
            settled,
            self.log.taxonomy,
            inclusive=False,
            guarantee=self.guarantee,
            k=self.k,
        )
        release = scrub(found, table.words, load_identifier_finder().find)
        self.published = list(settled.rows)
        self.waiting = np.sort(behind[~release.published])
        records = self._write(table, release)
        self.rows.append(behind[records])

    def _assigned(self, table: RecordTable) -> Assignment:
        taxonomy = self.log.taxonomy
        distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
        problem = problem_of(table, distances, taxonomy, k=self.k, l=self.l)
        clusters = clusters_of(table, adaptive_labels(problem), problem)
        sets = generalise(members_of(table, clusters.labels), taxonomy)
        return assign(
            table, clusters, sets, self.published, taxonomy, inclusive=False, k=self.k, l=self.l
        )

    def _write(self, table: RecordTable, release: Release) -> Longs:
        """Keep the release as it would be read back; returns the record behind each row."""
        texts = render_classes(release, table, self.log.taxonomy)
        published = np.flatnonzero(release.published).tolist()
        records = sorted(published, key=lambda record: texts[release.class_of[record]])
        promise = Promise(
            guarantee=self.guarantee,
            k=self.k,
            l=self.l,
            time="month",
            read=len(table),
            rejected=0,
            withheld=len(table) - len(records),
            published=len(records),
        )
        rows = [texts[release.class_of[record]] for record in records]
        behind = Behind(
            table.users[records],
            table.set_of[records],
            *mentions_of(table, np.array(records, dtype=np.int64)),
        )
        self.releases.append(ReadBack(COLUMNS, rows, behind, promise))
        return np.array(records, dtype=np.int64)

    def faults(self) -> list[str]:
        """What the verifier says of all releases so far."""
        promise = union_promise([release.promise for release in self.releases])
        find = load_identifier_finder().find
        knowledge = Knowledge(self.log.taxonomy, find, stop_words())
        return union_faults(self.releases, promise, knowledge)
