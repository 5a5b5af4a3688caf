"""An edition of twenty batches: verified after each, nothing published ever changes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tasks.adapters.wordnet import WordNet
from tasks.core.append.redaction import KAnonymous
from tasks.core.measures.risk import PublishedRecords, intersection_risk
from tasks.core.verification.evidence import ReadBack, classify
from tests.helpers.editions import Edition, Log, generated_log

BATCHES = 20


@pytest.fixture(scope="module")
def log(wordnet: WordNet) -> Log:
    return generated_log(wordnet, queries=1500, users=200, scope="sensitive")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("guarantee", "k", "l"), [("strict", 3, 1), ("strict", 5, 2), ("terms", 5, 1)]
)
def test_an_edition_holds_after_every_batch(
    log: Log,
    guarantee: KAnonymous,
    k: int,
    l: int,  # noqa: E741
    capsys: pytest.CaptureFixture[str],
) -> None:
    edition = Edition(log, k, l, guarantee)
    for batch in np.array_split(np.arange(len(log)), BATCHES):
        known = [row.tolist() for row in edition.published]
        edition.add(batch)
        assert edition.faults() == []
        assert [row.tolist() for row in edition.published[: len(known)]] == known
        told = np.sort(np.concatenate([edition.waiting, *edition.rows]))
        assert told.tolist() == list(range(batch[-1] + 1)), "each row once: published or waiting"
    joined = [clusters_of(release) for release in edition.releases]
    assert any(one & other for one, other in combinations(joined, 2)), "clusters were joined"
    for one, other in combinations(range(BATCHES), 2):
        risk = intersection_risk(as_records(edition, one), as_records(edition, other), k=k)
        assert risk.records == 0
    with capsys.disabled():
        share = len(edition.waiting) / len(log)
        print(f"\n{guarantee}, k = {k}, l = {l}: {share:.0%} of the records still wait")


def clusters_of(release: ReadBack) -> set[str]:
    return {row[3] for row in release.rows} - {""}


def as_records(edition: Edition, number: int) -> PublishedRecords:
    release = edition.releases[number]
    classes = classify(release.rows)[1].astype(np.int32)
    return PublishedRecords(edition.rows[number], classes, release.behind.users)


def test_two_editions_of_the_same_records_can_be_intersected(log: Log) -> None:
    """The measure sees what a second edition gives away while the first is not withdrawn."""
    some = np.arange(len(log) // 2)
    first, second = Edition(log, 3), Edition(log, 3)
    first.add(some)
    second.add(np.arange(len(log)))
    same = intersection_risk(as_records(first, 0), as_records(first, 0), k=3)
    assert same.records == len(first.rows[0])
    assert same.least >= 3
    assert same.below_k == 0
    both = intersection_risk(as_records(first, 0), as_records(second, 0), k=3)
    assert both.records == len(np.intersect1d(first.rows[0], second.rows[0])) > 0
    assert 0 < both.below_k < 1
    assert 1 <= both.least < 3
