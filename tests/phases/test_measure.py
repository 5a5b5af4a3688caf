"""The figures of one piece, whoever measures which part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks.core.part_sizes import PART_SIZES
from tasks.phases.measure import measure_fingerprint, measure_release
from tasks.settings import Settings
from tests.helpers.executors import each_executor, small_parts
from tests.helpers.releases import job_of
from tests.phases.materials import Made, made_of


def flat(value: Any, place: str = "") -> dict[str, float]:
    """All numbers of measures by their place."""
    if not isinstance(value, dict | list):
        return {} if value is None or isinstance(value, str) else {place: value}
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    return {k: v for key, each in entries for k, v in flat(each, f"{place}/{key}").items()}


@pytest.fixture(scope="module")
def made(store: Path) -> Made:
    return made_of(Settings(store=str(store), workers=1))


def test_the_same_measures_whoever_measures(made: Made, tmp_path: Path) -> None:
    given = (made.log, made.table, made.comparison, made.clustering, made.release)
    in_one_piece = measure_release(made.job, *given)
    found, steps = [], []
    with each_executor(tmp_path) as executors:
        for executor in executors:
            told: list[tuple[int, int]] = []
            job = replace(
                made.job,
                executor=executor,
                sizes=small_parts(),
                progress=lambda *step: told.append(step),  # noqa: B023
            )
            found.append(measure_release(job, *given))
            steps.append(told)
    assert found[0] == found[1] == found[2]
    assert flat(found[0]) == pytest.approx(flat(in_one_piece), rel=1e-12)
    assert steps[0] == steps[1] == steps[2]
    done, total = zip(*steps[0], strict=True)
    assert (done[0], done[-1], {*total}) == (0, total[0], {total[0]})


def test_figures_of_other_parts_have_another_name(store: Path) -> None:
    """They differ in the last digits."""
    settings = Settings(store=str(store), workers=1)
    sizes = (PART_SIZES, small_parts(), small_parts(51))
    found = {measure_fingerprint(job_of(settings, sizes=own)) for own in sizes}
    assert len(found) == 3
