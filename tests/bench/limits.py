"""The limits of issues 4, 5 and 9, each beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tests.bench.ratios import ratio
from tests.bench.watched import MEGABYTE

LARGE: Final = 100_000
"""Smaller logs are mostly start-up; nothing is promised of their ratios."""

GIGABYTE: Final = 10**9
COLD: Final = {
    (100_000, "all"): (90.0, 2.5),
    (1_000_000, "all"): (900.0, 6.0),
    (100_000, "sensitive"): (30.0, None),
    (1_000_000, "sensitive"): (240.0, 3.0),
}
"""Seconds and gigabytes of a cold run, all in."""

BATCH: Final = {
    "attributes_pairs": 0.12,
    "records_pairs": 0.12,
    "analyse_and_compare": 0.25,
    "total": 0.60,
}


class Claim(NamedTuple):
    """A measured value and its limit: at most, unless `at_least`."""

    what: str
    value: float | None
    limit: float
    at_least: bool = False

    def judged(self) -> dict[str, Any]:
        sign = "≥" if self.at_least else "≤"
        holds = self.value is not None and (
            self.value >= self.limit if self.at_least else self.value <= self.limit
        )
        return {
            "what": self.what,
            "value": self.value,
            "limit": f"{sign} {self.limit:g}",
            "holds": holds,
        }


def judged_limits(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every limit on which something was measured."""
    measured = (_cold, _again, _growth, _batch, _workers, _dask, _nltk, _sample)
    claims = [claim.judged() for part in measured for claim in part(content)]
    return [*claims, *_equalities(content)]


def _cold(content: Mapping[str, Any]) -> Iterator[Claim]:
    for run in content.get("runs", []):
        place = run["size"], run["scope"]
        if run["kind"] == "cold" and place in COLD:
            seconds, gigabytes = COLD[place]
            name = _named("cold", run)
            yield Claim(f"{name}: wall seconds", run["wall_seconds"], seconds)
            if gigabytes is not None:
                limit = round(gigabytes * GIGABYTE / MEGABYTE)
                yield Claim(f"{name}: peak MB", run["peak_memory_mb"], limit)


def _again(content: Mapping[str, Any]) -> Iterator[Claim]:
    runs = {(run["size"], run["scope"], run["kind"]): run for run in content.get("runs", [])}
    for (size, scope, kind), run in runs.items():
        cold = runs.get((size, scope, "cold"))
        if kind == "again" and cold and size >= LARGE:
            part = ratio(run["wall_seconds"], cold["wall_seconds"])
            yield Claim(f"{_named('again', run)}: part of the cold run's wall time", part, 0.10)


def _growth(content: Mapping[str, Any]) -> Iterator[Claim]:
    steps = content.get("growth", {}).get("all", {}).get("cold_less_wordnet", [])
    for step in steps:
        name = f"growth {step['from']:,} → {step['to']:,}, all"
        for kind in ("compute", "total"):
            factor = step["phases"][kind]["factor"]
            yield Claim(f"{name}: {kind}, less WordNet", factor, step["limit"])


def _batch(content: Mapping[str, Any]) -> Iterator[Claim]:
    for batch in content.get("batch", []):
        if batch["size"] >= LARGE and batch["scope"] == "all":
            for name, limit in BATCH.items():
                what = f"{_named('batch', batch)}: {name.replace('_', ' ')}"
                yield Claim(what, batch["ratios"][name], limit)
                if not name.endswith("pairs"):
                    less = batch["ratios_less_wordnet"][name]
                    yield Claim(f"{what}, if the cold run finds WordNet compiled", less, limit)


def _workers(content: Mapping[str, Any]) -> Iterator[Claim]:
    for found in content.get("workers", []):
        if found["size"] >= LARGE:
            what = f"{_named('2 workers', found)}: analyse and cluster, part of 1 worker's"
            yield Claim(what, found["ratios"]["together"], 0.65)


def _dask(content: Mapping[str, Any]) -> Iterator[Claim]:
    for found in content.get("dask", []):
        if found["size"] >= LARGE:
            name = _named("dask", found)
            yield Claim(f"{name}: wall time, part of the plain run's", found["wall"], 1.3)
            limit = round(found["worker_limit_gb"] * GIGABYTE / MEGABYTE)
            yield Claim(f"{name}: peak MB of a worker", found["worker_peak_mb"], limit)


def _nltk(content: Mapping[str, Any]) -> Iterator[Claim]:
    if found := content.get("nltk"):
        straight = found["attributes"]["straight_pair_loop"]["ratio"]
        yield Claim("attribute distances: times the straight NLTK loop", straight, 200, True)
        for kind in ("records", "records_of_different_sets"):
            what = f"{kind.replace('_', ' ')}: times the Python set loop"
            yield Claim(what, found[kind]["ratio"], 100, True)


def _sample(content: Mapping[str, Any]) -> Iterator[Claim]:
    if found := content.get("sample"):
        yield Claim("sample, --bare: wall seconds", found["bare_seconds"], 4.0)
        extra = found["prefect_less_empty_flow_seconds"]
        yield Claim("sample under Prefect: seconds more than an empty flow", extra, 2.0)


def _equalities(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What must be the same, whatever the size."""
    for part in ("batch", "workers", "dask"):
        for found in content.get(part, []):
            yield _equal(f"{_named(part, found)}: same bytes", found["same_bytes"])
    for kind in ("attributes", "records", "records_of_different_sets"):
        if kind in content.get("nltk", {}):
            what = f"{kind.replace('_', ' ')}: equal results"
            yield _equal(what, content["nltk"][kind]["equal"])


def _equal(what: str, holds: bool) -> dict[str, Any]:
    return {"what": what, "value": holds, "limit": "yes", "holds": holds}


def _named(kind: str, found: Mapping[str, Any]) -> str:
    return f"{kind} {found['size']:,}, {found['scope']}"
