"""A log that grows: the same result as from scratch, and nothing computed twice."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.core.part_sizes import PartSizes
from tasks.core.records import Ints
from tasks.phases import cluster as cluster_phase
from tasks.phases.analyse import analyse
from tasks.phases.compare import compare
from tasks.phases.made import MadeRelease
from tasks.phases.read import read
from tasks.settings import Settings
from tests.helpers.generated import write_parts
from tests.helpers.releases import job_of, released
from tests.helpers.stores import prepared_store

pytestmark = pytest.mark.slow
QUERIES, USERS, SEED = 5000, 400, 11
METHODS = ("adaptive", "paper")


@pytest.fixture
def own_store(new_store: Callable[[], Path]) -> Path:
    return new_store()


def settings_for(paths: list[Path], store: Path, out: Path, method: str) -> Settings:
    return Settings(
        logs=tuple(map(str, paths)),
        out=str(out),
        store=str(store),
        method=method,  # type: ignore
    )


class Reference:
    """What one cold run on the whole log leads to."""

    def __init__(self, folder: Path, store: Path, method: str) -> None:
        parts = write_parts(folder / "whole", 1, queries=QUERIES, users=USERS, seed=SEED)
        prepared_store(folder / "store", store)
        self.settings = settings_for(parts, folder / "store", folder / "out", method)
        self.made, self.measures = released(self.settings)
        self.written = (folder / "out" / "release.tsv").read_bytes()

    def assert_same(self, made: MadeRelease, out: Path) -> None:
        distances, expected = made.compared.value.distances, self.made.compared.value.distances
        assert np.array_equal(distances.matrix, expected.matrix)
        assert np.array_equal(labels_of(made), labels_of(self.made))
        assert (out / "release.tsv").read_bytes() == self.written


def labels_of(made: MadeRelease) -> Ints:
    return made.clustering.value.classes


@pytest.fixture(scope="module", params=METHODS)
def reference(
    request: pytest.FixtureRequest, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Reference:
    return Reference(tmp_path_factory.mktemp("reference"), store, request.param)


def method_of(reference: Reference) -> str:
    return reference.settings.method


@pytest.mark.parametrize("count", [2, 10, 50])
def test_growing_sets_of_files_end_where_one_cold_run_does(
    count: int, reference: Reference, own_store: Path, tmp_path: Path
) -> None:
    paths = write_parts(tmp_path / "log", count, queries=QUERIES, users=USERS, seed=SEED)
    totals = {"attributes": 0, "records": 0}
    for end in range(1, count + 1):
        settings = settings_for(paths[:end], own_store, tmp_path / "out", method_of(reference))
        job = job_of(settings)
        found = compare(job, analyse(job, read(job))).value
        totals["attributes"] += found.attributes.computed
        totals["records"] += found.records.computed
    made, _ = released(settings)
    reference.assert_same(made, tmp_path / "out")
    cold = reference.measures["pairs"]
    # Blocks of records may be cut anew while a log grows; distances of concepts are not cut.
    assert totals["attributes"] == cold["attributes_computed"]
    assert totals["records"] <= 1.5 * cold["records_computed"]


def test_blocks_that_are_cut_anew_change_nothing(
    new_store: Callable[[], Path], tmp_path: Path
) -> None:
    """All nouns and verbs in many small blocks, which part as the log grows."""
    sizes = PartSizes(sets_per_block=150)
    paths = write_parts(tmp_path / "log", 8, queries=2400, users=200, seed=SEED)
    grown, counts = new_store(), []
    for end in (2, 4, 6, 7, 8):
        settings = replace(settings_for(paths[:end], grown, tmp_path / "out", "mdav"), scope="all")
        made, measures = released(settings, sizes=sizes)
        blocks = made.compared.value.blocks
        assert blocks is not None
        counts.append(len(blocks.sources))
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert measures["pairs"]["records_reused"] > 2 * measures["pairs"]["records_computed"]
    anew = replace(settings, store=str(new_store()), out=str(tmp_path / "cold"))
    cold, _ = released(anew, sizes=sizes)
    assert np.array_equal(labels_of(made), labels_of(cold))
    written = [(tmp_path / name / "release.tsv").read_bytes() for name in ("out", "cold")]
    assert written[0] == written[1]


@pytest.mark.parametrize("harm", ["deleted", "half", "damaged"])
def test_a_cache_that_vanishes_changes_nothing(
    harm: str, reference: Reference, own_store: Path, tmp_path: Path
) -> None:
    paths = write_parts(tmp_path / "log", 4, queries=QUERIES, users=USERS, seed=SEED)
    for end in (1, 2, 3, 4):
        settings = settings_for(paths[:end], own_store, tmp_path / "out", method_of(reference))
        made, _ = released(settings)
        made.job.store.close()
        hurt(own_store / "cache", harm)
    reference.assert_same(made, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    made, _ = released(settings)
    reference.assert_same(made, tmp_path / "out")


def hurt(cache: Path, harm: str) -> None:
    if harm == "deleted":
        shutil.rmtree(cache)
    elif harm == "half":
        with sqlite3.connect(cache / "cache.db") as database:
            database.execute("delete from Cache where rowid % 2 = 0")
    else:
        for path in sorted(cache.rglob("*.val"))[::2]:
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 255
            path.write_bytes(bytes(content))


def test_the_same_files_again_do_nothing(reference: Reference) -> None:
    written = Path(reference.settings.out) / "release.tsv"
    before = written.stat()
    made, measures = released(reference.settings)
    first = (made.log, made.table, made.compared, made.clustering, made.release)
    results = (*first, made.measures, made.draft, made.proven)
    assert all(result.is_known for result in results)
    assert [result.phase for result in results if result.is_at_hand] == ["measure"]
    after = written.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    pairs = measures["pairs"]
    for kind in ("attributes", "records"):
        assert pairs[f"{kind}_computed"] == 0
        cold = reference.measures["pairs"]
        assert pairs[f"{kind}_reused"] == cold[f"{kind}_computed"] + cold[f"{kind}_reused"]


@pytest.mark.parametrize("gone", ["release.tsv", "manifest.json", "everything"])
def test_what_is_missing_is_written_again(gone: str, reference: Reference) -> None:
    out = Path(reference.settings.out)
    shutil.rmtree(out) if gone == "everything" else (out / gone).unlink()
    made, _ = released(reference.settings)
    assert not made.compared.is_at_hand
    reference.assert_same(made, out)
    assert (out / "manifest.json").exists()


def test_a_changed_release_is_replaced(reference: Reference) -> None:
    written = Path(reference.settings.out) / "release.tsv"
    written.write_text("something else")
    released(reference.settings)
    assert written.read_bytes() == reference.written


def test_another_guarantee_takes_the_clusters_from_the_store(
    reference: Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("clustered again")

    monkeypatch.setattr(cluster_phase, "cluster_records", refuse)
    settings = replace(reference.settings, guarantee="terms", out=str(tmp_path / "terms"))
    _, measures = released(settings)
    assert measures["verified"] is True
