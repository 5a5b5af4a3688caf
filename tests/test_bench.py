"""The benchmark suite itself: its arithmetic, and a small run. No times are judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench import ratios
from tests.bench.__main__ import main
from tests.bench.limits import Claim, judged_limits
from tests.bench.nltk_loop import eq_1
from tests.bench.results import Results
from tests.bench.set_loop import most_matches
from tests.bench.sizing import ON_DASK, Sizing, sizing_of
from tests.bench.tables import markdown_table, rendered
from tests.bench.watched import RunFailed, watch

KEYS_OF_A_RUN = {
    *("kind", "size", "scope", "workers", "seconds", "wall_seconds", "peak_memory_mb"),
    *("largest_child_mb", "shared_mb", "cpu_seconds"),
    *("main_process_peak_memory_mb", "pairs", "shards", "store_mb", "sha256"),
    "load_before",
}


def seconds(**given: float) -> dict[str, float]:
    phases = {phase: given.get(phase, 0.0) for phase in ratios.PHASES}
    return ratios.with_sums({**phases, "total": sum(phases.values())})


def test_growth_is_factor_and_exponent_of_each_phase() -> None:
    sizes = {100: seconds(read=1), 10: seconds(read=0.1), 10_000: seconds(read=10_000)}
    first, second = ratios.growth(sizes)
    assert (first["from"], first["to"], second["to"]) == (10, 100, 10_000)
    assert first["phases"]["read"] == {"factor": 10.0, "exponent": 1.0}
    assert second["phases"]["total"] == {"factor": 10_000.0, "exponent": 2.0}
    assert first["phases"]["cluster"] == {"factor": None, "exponent": None}
    assert first["limit"] == pytest.approx(12)
    assert second["limit"] == pytest.approx(144)


def test_wordnet_is_taken_off_where_it_was_spent() -> None:
    whole = seconds(analyse=12, cluster=3, read=1)
    less = ratios.less_wordnet(whole, {"read": 0.5, "analyse": 10})
    assert (less["read"], less["analyse"], less["compute"], less["total"]) == (0.5, 2, 5, 5.5)
    assert less["cluster"] == whole["cluster"]
    assert ratios.less_wordnet(whole, {"analyse": 100})["analyse"] == 0
    assert ratios.less_wordnet(whole, {}) == whole


def run(pairs: int, **given: float) -> dict[str, Any]:
    counts = {"attributes_computed": pairs, "records_computed": 2 * pairs}
    return {"pairs": counts, "seconds": seconds(**given)}


def test_a_batch_is_a_part_of_the_cold_run() -> None:
    cold, batch = run(100, analyse=6, compare=2, cluster=8), run(5, analyse=1, cluster=4)
    assert ratios.batch_ratios(cold, batch) == {
        "attributes_pairs": 0.05,
        "records_pairs": 0.05,
        "analyse_and_compare": 0.125,
        "total": 0.3125,
    }
    assert ratios.batch_ratios(run(0), batch)["total"] is None


def test_workers_are_compared_phase_by_phase_and_together() -> None:
    two, one = seconds(analyse=1, cluster=2), seconds(analyse=2, cluster=3)
    found = ratios.phase_ratios(two, one, ("analyse", "cluster"))
    assert found == {"analyse": 0.5, "cluster": 0.6667, "together": 0.6}


def test_limits_hold_or_not_and_nothing_measured_does_not() -> None:
    assert Claim("at most", 2.0, 2.0).judged()["holds"]
    assert not Claim("at most", 2.1, 2.0).judged()["holds"]
    assert Claim("at least", 2.1, 2.0, at_least=True).judged()["holds"]
    assert not Claim("no figure", None, 2.0).judged()["holds"]
    assert judged_limits({}) == []


def test_the_straight_loops_are_right_where_one_can_see_it() -> None:
    assert eq_1({1, 2}, {1, 2}) == 0
    assert eq_1({1}, {2}) == eq_1(set(), set()) == 1
    assert most_matches([frozenset({1, 2}), frozenset({1})]) == 2
    assert most_matches([frozenset({1}), frozenset({1}), frozenset()]) == 1


def test_a_table_shows_numbers_short_and_missing_ones_as_a_dash() -> None:
    shown = markdown_table(("a", "b"), [(1234567, 0.12345), (None, False), ("x|y", 4321.0)])
    assert shown.splitlines()[2:] == [
        "| 1,234,567 | 0.123 |",
        "| – | **no** |",
        "| x\\|y | 4,321 |",
    ]


def test_memory_of_children_counts() -> None:
    child = "import time; held = b'x' * 100 * 2**20; time.sleep(0.5)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    seen = watch((sys.executable, "-c", parent))
    assert seen.peak_memory_mb > 100
    assert seen.seconds > 0.5


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(RunFailed, match="exit 3: too bad"):
        watch((sys.executable, "-c", "import sys; print('too bad', file=sys.stderr); sys.exit(3)"))


@pytest.mark.slow
def test_a_small_benchmark_has_the_promised_keys(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tmp_path / "results.json"
    found.write_text('{"runs": [], "notes": "Written by hand."}')
    files = ("--json", str(found), "--work", str(tmp_path / "work"))
    chosen = ("--sizes", "300", "--scopes", "sensitive", "--only", "growth", "batch")
    assert main([*files, *chosen, "--wordnet", str(store)]) == 0
    content = json.loads(found.read_text())
    parts = {"runs", "growth", "batch", "limits"}
    assert {"machine", "command", "notes", "wordnet_seconds"} | parts == set(content)
    kinds = [run["kind"] for run in content["runs"]]
    assert kinds == ["cold", "warm", "again", "first 95 %", "batch of 5 %"]
    for run in content["runs"]:
        assert set(run) == KEYS_OF_A_RUN
        assert set(run["seconds"]) == {*ratios.PHASES, "total", "compute"}
        assert run["peak_memory_mb"] > 50
    assert content["batch"][0]["same_bytes"]
    shown = capsys.readouterr().out.removesuffix("\n")
    assert shown == rendered(content)
    assert "| 300 | sensitive | batch of 5 % |" in shown
    assert shown.endswith("## Notes\n\nWritten by hand.\n")
    assert Results.renewed(tmp_path / "none.json").content == {}


def sized(size: int, megabytes: float, total: float, **shards: float) -> dict[str, Any]:
    """A run on Dask; the flow waits for half of the seconds that shards take."""
    named = {"size": size, "kind": ON_DASK, "scope": "all", "store_mb": megabytes}
    own = {name: {"seconds": took, "waited_seconds": took / 2} for name, took in shards.items()}
    return {**named, "seconds": {"total": total}, "shards": own}


def test_larger_logs_are_carried_on_from_two_runs() -> None:
    """Ten times the queries: the flow takes ten times as long, cluster a hundred times."""
    small = sized(1_000, 100, total=4, cluster=1, read=3)
    large = sized(10_000, 1_000, total=90, cluster=100, read=20, redact=10)
    sizing = sizing_of([large, small, sized(10, 1, total=1)], "all")
    # Of 4 s it waits for 2, of 90 for 65.
    assert sizing.flow_seconds(100_000) == pytest.approx(25 * 12.5)
    # Nothing takes less than its part of the larger log; what is new there grows with the log.
    assert sizing.shard_seconds(100_000) == pytest.approx(10_000 + 200 + 100)
    assert sizing.total_seconds(100_000, 8) == pytest.approx(25 * 12.5 + 10_300 / 8)
    assert sizing.gigabytes("store_mb", 20_000) == pytest.approx(2_000 * 2**20 / 1e9)
    assert sizing.most_queries("store_mb", 2_000 * 2**20 / 1e9) == pytest.approx(20_000)


def test_what_takes_no_time_takes_none() -> None:
    sizing = Sizing(sized(1_000, 1, total=0), sized(10_000, 1, total=0))
    assert sizing.total_seconds(10**9, 2) == 0
    with pytest.raises(SystemExit, match="two sizes"):
        sizing_of([sized(10, 1, total=0)], "all")
