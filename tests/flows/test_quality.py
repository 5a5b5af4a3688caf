"""How good a release is on a generated log: information kept, rows published, truth.

Everything is deterministic, so these are facts about the code, not about the machine.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from flows import sample
from tasks.core.choices import Method, Scope
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
METHODS: tuple[Method, ...] = ("adaptive", "mdav", "paper")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "log.tsv"
    with path.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
        sample.main(["--queries", "10000", "--users", "800", "--seed", "7"])
    return path


@pytest.fixture(scope="module", params=["sensitive", "all"])
def measured(
    request: pytest.FixtureRequest, generated: Path, store: Path
) -> dict[Method, Measures]:
    """The measures of the log's strict release by each method."""
    scope: Scope = request.param
    settings = Settings(logs=(str(generated),), scope=scope, store=str(store))
    return {method: measures_of(replace(settings, method=method)) for method in METHODS}


def measures_of(settings: Settings) -> Measures:
    job = job_of(settings)
    log = read(job)
    table = analyse(job, log)
    compared = compare(job, table)
    clustering = cluster(job, log, table, compared)
    release = redact(job, table, compared, clustering)
    return measure(job, log, table, compared, clustering, release).value


def test_adaptive_keeps_most_information(measured: dict[Method, Measures]) -> None:
    kept = {method: own["information"]["kept_percent"] for method, own in measured.items()}
    assert kept["adaptive"] == max(kept.values()) > 0


def test_adaptive_publishes_most_rows(measured: dict[Method, Measures]) -> None:
    rows = {method: own["shares"]["published"] for method, own in measured.items()}
    assert rows["adaptive"] == max(rows.values()) > 0


def test_every_row_of_every_method_is_true_and_shared(measured: dict[Method, Measures]) -> None:
    for own in measured.values():
        assert own["truth"] == {"concepts_true": 1.0, "rows_true": 1.0}
        assert own["risk"]["least_people"] >= 5
        assert own["risk"]["released_worst"] <= 0.5
