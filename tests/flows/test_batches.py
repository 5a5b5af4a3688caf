"""A log that grows: the same result as from scratch, and nothing computed twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tasks.workbench import PHASES, Workbench

from flows.display import Screen
from flows.release import BareRunner, make_release
from tasks import phases
from tasks.core.clustering import blocks
from tasks.core.records import Clusters
from tasks.settings import Settings
from tests.generated import write_parts

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


def release(settings: Settings) -> tuple[Workbench, dict[str, Any]]:
    bench = Workbench(settings)
    return bench, make_release(bench, BareRunner(), Screen(quiet=True, stderr=True))


class Reference:
    """What one cold run on the whole log leads to."""

    def __init__(self, folder: Path, store: Path, method: str) -> None:
        parts = write_parts(folder / "whole", 1, queries=QUERIES, users=USERS, seed=SEED)
        shutil.copytree(store / "wordnet", folder / "store" / "wordnet")
        self.bench, self.measures = release(
            settings_for(parts, folder / "store", folder / "out", method)
        )
        self.written = (folder / "out" / "release.tsv").read_bytes()

    def assert_same(self, bench: Workbench, out: Path) -> None:
        distances, expected = bench.result("compare").distances, self.bench.result("compare")
        assert np.array_equal(distances.matrix, expected.distances.matrix)
        clusters: Clusters = bench.result("cluster")
        assert np.array_equal(clusters.labels, self.bench.result("cluster").labels)
        assert (out / "release.tsv").read_bytes() == self.written


@pytest.fixture(scope="module", params=METHODS)
def reference(
    request: pytest.FixtureRequest, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Reference:
    return Reference(tmp_path_factory.mktemp("reference"), store, request.param)


def method_of(reference: Reference) -> str:
    return reference.bench.settings.method


@pytest.mark.parametrize("count", [2, 10, 50])
def test_growing_sets_of_files_end_where_one_cold_run_does(
    count: int, reference: Reference, own_store: Path, tmp_path: Path
) -> None:
    paths = write_parts(tmp_path / "log", count, queries=QUERIES, users=USERS, seed=SEED)
    totals = {"attributes": 0, "records": 0}
    for end in range(1, count + 1):
        settings = settings_for(paths[:end], own_store, tmp_path / "out", method_of(reference))
        bench = Workbench(settings)
        bench.make("compare")
        found = bench.result("compare")
        totals["attributes"] += found.attributes.computed
        totals["records"] += found.records.computed
    bench, _ = release(settings)
    reference.assert_same(bench, tmp_path / "out")
    cold = reference.measures["pairs"]
    # Blocks of records may be cut anew while a log grows; distances of concepts are not cut.
    assert totals["attributes"] == cold["attributes_computed"]
    assert totals["records"] <= 1.5 * cold["records_computed"]


def test_blocks_that_are_cut_anew_change_nothing(
    new_store: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All nouns and verbs in many small blocks, which part as the log grows."""
    monkeypatch.setattr(blocks, "LARGEST_BLOCK", 150)
    paths = write_parts(tmp_path / "log", 8, queries=2400, users=200, seed=SEED)
    grown, counts = new_store(), []
    for end in (2, 4, 6, 7, 8):
        settings = replace(
            settings_for(paths[:end], grown, tmp_path / "out", "adaptive"), scope="all"
        )
        bench, measures = release(settings)
        counts.append(len(bench.result("compare").blocks.sources))
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert measures["pairs"]["records_reused"] > 2 * measures["pairs"]["records_computed"]
    cold, _ = release(replace(settings, store=str(new_store()), out=str(tmp_path / "cold")))
    assert np.array_equal(bench.result("cluster").labels, cold.result("cluster").labels)
    written = [(tmp_path / name / "release.tsv").read_bytes() for name in ("out", "cold")]
    assert written[0] == written[1]


@pytest.mark.parametrize("harm", ["deleted", "half", "damaged"])
def test_a_cache_that_vanishes_changes_nothing(
    harm: str, reference: Reference, own_store: Path, tmp_path: Path
) -> None:
    paths = write_parts(tmp_path / "log", 4, queries=QUERIES, users=USERS, seed=SEED)
    for end in (1, 2, 3, 4):
        settings = settings_for(paths[:end], own_store, tmp_path / "out", method_of(reference))
        bench, _ = release(settings)
        bench.memory.cache.close()
        hurt(own_store / "cache", harm)
    reference.assert_same(bench, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    bench, _ = release(settings)
    reference.assert_same(bench, tmp_path / "out")


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
    written = Path(reference.bench.settings.out) / "release.tsv"
    before = written.stat()
    bench = Workbench(reference.bench.settings)
    assert all(bench.is_known(phase) for phase in PHASES)
    bench, measures = release(reference.bench.settings)
    assert not any(bench.is_at_hand(phase) for phase in PHASES if phase != "measure")
    after = written.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    pairs = measures["pairs"]
    for kind in ("attributes", "records"):
        assert pairs[f"{kind}_computed"] == 0
        cold = reference.measures["pairs"]
        assert pairs[f"{kind}_reused"] == cold[f"{kind}_computed"] + cold[f"{kind}_reused"]
    kept = json.loads((written.parent / "measures.json").read_text())
    assert kept["pairs"] == pairs


@pytest.mark.parametrize("gone", ["release.tsv", "rejects.tsv", "everything"])
def test_what_is_missing_is_written_again(gone: str, reference: Reference) -> None:
    out = Path(reference.bench.settings.out)
    shutil.rmtree(out) if gone == "everything" else (out / gone).unlink()
    bench, _ = release(reference.bench.settings)
    assert not bench.is_at_hand("compare")
    reference.assert_same(bench, out)
    assert (out / "rejects.tsv").exists()


def test_a_changed_release_is_replaced(reference: Reference) -> None:
    written = Path(reference.bench.settings.out) / "release.tsv"
    written.write_text("something else")
    release(reference.bench.settings)
    assert written.read_bytes() == reference.written


def test_another_guarantee_takes_the_clusters_from_the_store(
    reference: Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("clustered again")

    monkeypatch.setattr(phases, "cluster", refuse)
    settings = replace(reference.bench.settings, guarantee="terms", out=str(tmp_path / "terms"))
    _, measures = release(settings)
    assert measures["verified"] is True
