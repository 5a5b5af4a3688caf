"""The same release, whoever finds its classes, and what every release of a guarantee promises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.resources import wordnet
from tasks.core.arrays import people_per_label
from tasks.core.choices import Guarantee, Scope
from tasks.core.measures.information import Truth, truth_of
from tasks.core.records import PUBLISHED, SCRUBBED, TIME_MONTH
from tasks.phases.analyse import analyse
from tasks.phases.cluster import cluster
from tasks.phases.compare import compare
from tasks.phases.read import read
from tasks.phases.redact import redact_records, redaction_fingerprint
from tasks.runtime.codec import pack
from tasks.settings import SAMPLE_LOG, Settings
from tests.helpers.executors import each_executor, small_parts
from tests.helpers.releases import job_of
from tests.oracles.redaction import rows_of
from tests.phases.materials import made_of


def test_the_same_release_whoever_clusters(new_store: Callable[[], Path], tmp_path: Path) -> None:
    found = []
    with each_executor(tmp_path) as executors:
        for executor in executors:
            settings = Settings(store=str(new_store()), scope="all", workers=1)
            job = job_of(settings, executor, small_parts(500))
            log = read(job)
            table = analyse(job, log)
            compared = compare(job, table)
            clustering = cluster(job, log, table, compared)
            found.append(pack(redact_records(job, table.value, compared, clustering.value)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("guarantee", ["strict", "terms"])
@pytest.mark.parametrize("scope", ["sensitive", "all"])
def test_rows_are_true_and_name_nobody(store: Path, scope: Scope, guarantee: Guarantee) -> None:
    chosen = Settings(
        logs=(str(SAMPLE_LOG),), store=str(store), scope=scope, guarantee=guarantee, workers=1
    )
    made = made_of(chosen)
    table, release, taxonomy = made.table, made.release, wordnet(chosen.store).taxonomy
    assert truth_of(table, release, taxonomy) == Truth(1.0, 1.0)
    assert ((release.reasons == PUBLISHED) == release.published).all()
    assert release.precisions.max() <= TIME_MONTH
    people = people_per_label(release.class_of, table.users, release.class_count)
    assert guarantee == "terms" or people.min() >= chosen.k
    find = load_identifier_finder(Path(chosen.store)).find
    fillers = set(np.flatnonzero(table.fillers).tolist())
    for row in rows_of(release):
        said = " ".join(table.words[term] if term >= 0 else "|" for term in row.terms)
        assert not find(said)
        assert not fillers.issuperset(row.terms)


class Span(NamedTuple):
    """A stretch of characters."""

    start: int
    end: int


class Finder:
    """Takes one word for a name."""

    def __init__(self, word: str) -> None:
        self.word = word

    def find(self, text: str) -> list[Span]:
        return [Span(m.start(), m.end()) for m in re.finditer(rf"\b{self.word}\b", text)]


@pytest.mark.parametrize("guarantee", ["strict", "terms"])
def test_what_reads_as_a_name_is_scrubbed_in_the_end(
    store: Path,
    new_store: Callable[[], Path],
    guarantee: Guarantee,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The word that most rows say, taken for a name."""
    chosen = Settings(
        logs=(str(SAMPLE_LOG),), store=str(store), scope="all", guarantee=guarantee, workers=1
    )
    before = made_of(chosen)
    word = Counter(t for row in rows_of(before.release) for t in row.terms if t >= 0)
    most = word.most_common(1)[0][0]
    finder = Finder(before.table.words[most])
    monkeypatch.setattr("tasks.phases.redact.load_identifier_finder", lambda store: finder)
    after = made_of(replace(chosen, store=str(new_store()))).release
    assert all(most not in row.terms for row in rows_of(after))
    alone = [row for row in rows_of(before.release) if row.terms == [most]]
    assert all(
        after.reasons[row.records].tolist() == [SCRUBBED] * len(row.records) for row in alone
    )


def test_a_cluster_that_loses_a_row_keeps_k_people_or_goes(
    new_store: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without *influenza* one of three rows says nothing; two people do not make a cluster."""
    asked = ["influenza", "influenza discounts", "influenza stories", *["discounts stories"] * 3]
    log = tmp_path / "log.tsv"
    log.write_text(
        "".join(f"{user}\t{text}\t2006-03-01 10:00:00\n" for user, text in enumerate(asked, 1))
    )
    monkeypatch.setattr("tasks.phases.redact.load_identifier_finder", lambda _: Finder("influenza"))
    made = made_of(
        Settings(logs=(str(log),), store=str(new_store()), k=3, guarantee="terms", workers=1)
    )
    cluster_of = np.append(made.release.clusters, -1)[made.release.class_of]
    people = people_per_label(cluster_of, made.table.users, int(cluster_of.max(initial=-1)) + 1)
    assert made.release.published.any()
    assert all(people[cluster_of[cluster_of >= 0]] >= 3)


def test_what_is_redacted_otherwise_has_another_name(store: Path) -> None:
    plain = Settings(store=str(store), workers=1)
    others = (replace(plain, guarantee="terms"), replace(plain, time="day"), replace(plain, k=6))
    names = {redaction_fingerprint(job_of(own)) for own in (plain, *others)}
    assert len(names) == 4
