"""The same clusters, whoever clusters which block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.core.choices import Method
from tasks.core.part_sizes import PartSizes
from tasks.phases.analyse import analyse
from tasks.phases.cluster import cluster_fingerprint, cluster_records
from tasks.phases.compare import compare_records
from tasks.phases.read import read
from tasks.runtime.codec import pack
from tasks.settings import Settings
from tests.helpers.executors import each_executor
from tests.helpers.releases import job_of

SMALL_BLOCKS = PartSizes(sets_per_block=60, units_per_part=500)


@pytest.mark.parametrize("method", ["adaptive", "mdav", "vmdav"])
def test_the_same_clusters_whoever_clusters(
    new_store: Callable[[], Path], tmp_path: Path, method: Method
) -> None:
    """What is cut into blocks does not depend on who works on them, nor where costs come from."""
    settings = Settings(store=str(new_store()), workers=1, method=method)
    plain = job_of(settings, sizes=SMALL_BLOCKS)
    log = read(plain)
    table = analyse(plain, log).value
    found, steps = [], []
    with each_executor(tmp_path) as executors:
        for executor in executors:
            told: list[tuple[int, int]] = []
            job = replace(plain, executor=executor, progress=lambda *step: told.append(step))  # noqa: B023
            compared = compare_records(replace(job, progress=plain.progress), table)
            found.append(pack(cluster_records(job, log, table, compared)))
            steps.append(told)
    assert found[0] == found[1] == found[2]
    assert steps[0] == steps[1] == steps[2]
    assert len(steps[0]) > 3


def test_clusters_of_other_blocks_have_another_name(store: Path) -> None:
    settings = Settings(store=str(store), workers=1)
    found = {
        cluster_fingerprint(job_of(settings, sizes=own)) for own in (PartSizes(), SMALL_BLOCKS)
    }
    assert len(found) == 2
