"""How good a release is on a generated log of 10,000 queries: loss, words, people (issue figures).

The log is the one of `flows.sample --queries 10000 --users 800 --seed 7`; everything is
deterministic, so these are facts about the code, not about the machine.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flows import sample
from tasks.core.arrays import split_ragged
from tasks.core.choices import Method, Scope
from tasks.core.records import Clusters, RecordTable, Release
from tasks.core.redaction.strict import words_of_forms
from tasks.phases.analyse import analyse
from tasks.phases.cluster import cluster
from tasks.phases.compare import compare
from tasks.phases.measure import measure
from tasks.phases.read import read
from tasks.phases.redact import redact
from tasks.schema import Measures
from tasks.settings import Settings
from tests.helpers.releases import job_of

pytestmark = pytest.mark.slow
LEAST_PUBLISHED = 0.95
AGAINST_MDAV, AGAINST_PAPER = 0.75, 0.4


class Prepared:
    """A log read and analysed once, released by any method."""

    def __init__(self, settings: Settings) -> None:
        job = job_of(settings)
        self.settings = settings
        self.log = read(job)
        self.table = analyse(job, self.log).value

    def release(self, method: Method) -> tuple[Clusters, Release, Measures]:
        job = job_of(replace(self.settings, method=method))
        table = analyse(job, self.log)
        compared = compare(job, table)
        clustering = cluster(job, table, compared)
        release = redact(job, table, compared, clustering)
        measures = measure(job, self.log, table, compared, clustering, release)
        return clustering.value.clusters, release.value, measures.value


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "log.tsv"
    with path.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
        sample.main(["--queries", "10000", "--users", "800", "--seed", "7"])
    return path


@pytest.fixture(scope="module", params=["sensitive", "all"])
def prepared(request: pytest.FixtureRequest, generated: Path, store: Path) -> Prepared:
    scope: Scope = request.param
    return Prepared(Settings(logs=(str(generated),), scope=scope, store=str(store)))


def test_adaptive_loses_least_and_publishes_most(prepared: Prepared) -> None:
    measured = {method: prepared.release(method)[2] for method in ("adaptive", "mdav", "paper")}
    loss = {name: m["information_loss"]["symmetric_percent"] for name, m in measured.items()}
    assert loss["adaptive"] <= AGAINST_MDAV * loss["mdav"]
    assert loss["adaptive"] <= AGAINST_PAPER * loss["paper"]
    assert all(m["clusters"]["min_users"] >= 5 for m in measured.values())
    assert measured["adaptive"]["risk"]["released_worst"] <= 1 / 5


def test_records_with_attributes_are_published_and_words_survive(prepared: Prepared) -> None:
    table = prepared.table
    clusters, release, _ = prepared.release("adaptive")
    holding = table.set_of >= 0
    assert (release.published & holding).sum() >= LEAST_PUBLISHED * holding.sum()
    words = np.array(
        [(row >= 0).sum() for row in split_ragged(release.term_offsets, release.terms)]
    )
    kept = words[release.class_of[release.published]].sum()
    assert kept >= 2 * naive_words(table, clusters)


def naive_words(table: RecordTable, clusters: Clusters) -> int:
    """The naive rule: a word stays only if all rows of the cluster hold it."""
    words = words_of_forms(table)
    kept = 0
    for label in np.unique(clusters.labels).tolist():
        records = (clusters.labels == label) & ~clusters.suppressed
        rows = [set(words[form]) for form in table.form_of[records].tolist()]
        kept += len(rows) * len(set.intersection(*rows)) if rows else 0
    return kept
