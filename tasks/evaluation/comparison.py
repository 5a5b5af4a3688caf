"""All methods on one log: the parts of a comparison, in their order.

They know nothing of Prefect: `steps` wraps each part as a task.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from tasks.adapters.resources import topic_map, wordnet
from tasks.core.clustering.mdav import mdav_labels
from tasks.core.clustering.problem import clusters_of
from tasks.core.part_sizes import PART_SIZES
from tasks.core.starmap import Starmap, serial
from tasks.errors import NothingToRelease
from tasks.evaluation.catalogue import METHODS, OURS, RIVALS
from tasks.evaluation.contest import Contest, verdicts, which_k
from tasks.evaluation.measures import dominated_by, figure_data, measure_outcome, on_pareto_front
from tasks.evaluation.method import Material, Method, Outcome, published_by_clusters
from tasks.evaluation.page import write_comparison
from tasks.evaluation.peers import FEWEST_SETS, MOST_SETS, Peer, coordinates, peers
from tasks.phases.analyse import analyse, curve_key
from tasks.phases.compare import compare
from tasks.phases.job import Job
from tasks.phases.measure import centre_of
from tasks.phases.read import read
from tasks.runtime.executor import Executor
from tasks.runtime.progress import Progress, silent
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Result
from tasks.settings import Settings
from tasks.version import VERSION

KS: Final = (2, 3, 5, 10, 20, 50)
"""The numbers of people at which methods are compared, beside the one that is asked for."""
LAST: Final = ("peers", "draw")
RISKS: Final = {"mean": "risk", "worst": "worst_risk"}
T = TypeVar("T")


class MethodComparison:
    """One comparison: `make` each of `parts` in turn; the last writes everything."""

    def __init__(
        self,
        settings: Settings,
        executor: Executor,
        progress: Progress = silent,
        starmap: Starmap = serial,
    ) -> None:
        self.settings = settings
        self.progress = progress
        self._starmap = starmap
        # The paper's method needs the pairs of sets; the others make their own costs.
        self._job = Job.of(replace(settings, method="paper"), executor, progress)
        self._log = read(self._job)
        self._table = analyse(self._job, self._log)
        self._compared = compare(self._job, self._table)
        self._started = time.perf_counter()
        self._methods: dict[str, dict[str, Any]] = {}
        self._entries: dict[str, dict[str, Any]] = {}
        self._curve: list[dict[str, float]] = []
        self._peers: list[dict[str, Any]] = []

    @property
    def parts(self) -> dict[str, Callable[[], str]]:
        """What makes each part, by its name, in their order."""
        return {
            "read": partial(self._made, self._log),
            "analyse": partial(self._made, self._table),
            "compare": self._prepare,
            **{method.name: partial(self._try, method) for method in METHODS},
            **{rival.name: partial(self.try_once, rival) for rival in RIVALS},
            **dict(zip(LAST, (self._try_peers, self._write), strict=True)),
        }

    def make(self, part: str) -> str:
        """Make one part; returns what to say of it, in counts."""
        return self.parts[part]()

    @redacted_errors
    def _made(self, phase: Result[Any]) -> str:
        _ = phase.value
        return "done"

    @redacted_errors
    def _prepare(self) -> str:
        people = self._people
        if people < self.settings.k:
            raise NothingToRelease(
                f"nothing can be compared: {people} users hold attributes, k = {self.settings.k}"
            )
        return f"{len(self.material.table.sets)} distinct sets of {people} people"

    @redacted_errors
    def _try(self, method: Method) -> str:
        self._methods[method.name] = self._tried(method)
        return f"{len(self.ks)} values of k"

    def _tried(self, method: Method) -> dict[str, Any]:
        cells: dict[str, Any] = {}
        for place, k in enumerate(self.ks):
            self.progress(place, len(self.ks))
            outcome, seconds = _timed(partial(method.apply, self.material, k))
            cells[str(k)] = {**self._measured(outcome, k), "seconds": seconds}
            if k == self.settings.k:
                figures = figure_data(self.material, outcome)
            if k == self.settings.k or method.name == OURS:
                self._enter(method, k, outcome, cells[str(k)])
        about = {"kind": method.kind, "clusters": method.clusters}
        said = {"source": method.source, "assumed": method.assumed}
        return {**about, **said, "by_k": cells, "figures": figures}

    @redacted_errors
    def try_once(self, method: Method) -> str:
        """At the k that was asked for alone: most rivals know no other."""
        outcome = method.apply(self.material, self.settings.k)
        self._enter(method, self.settings.k, outcome, self._measured(outcome, self.settings.k))
        return "six tasks"

    def _enter(self, method: Method, k: int, outcome: Outcome, cell: dict[str, Any]) -> None:
        """What a method is worth in the contest, beside who stands behind its rows."""
        found = self.contest.tried(method, k, outcome)
        if method.name == OURS:
            kept = {"rows": cell["rows_published"], "information": cell["information_kept"] / 100}
            self._curve.append({"k": k, **kept, **found["scores"]})
        if k == self.settings.k:
            shown = ("least_people", "records_below_k", "rows_published", "information_kept")
            said = ("kind", "epsilon", "delta", "source", "assumed")
            self._entries[method.name] = {
                **found,
                **{name: cell[name] for name in (*shown, "false_concepts")},
                **{name: getattr(method, name) for name in said},
            }

    @cached_property
    def contest(self) -> Contest:
        return Contest.of(self.material)

    def _measured(self, outcome: Outcome, k: int) -> dict[str, Any]:
        topics = topic_map(self.settings.store, self.settings.topics)
        return measure_outcome(self.material, outcome, topics, k)

    @redacted_errors
    def _try_peers(self) -> str:
        self._peers = [
            {"name": peer.name, "about": peer.about, **self._tried_peer(peer)} for peer in peers()
        ]
        return f"{sum('reason' not in found for found in self._peers)} of {len(self._peers)}"

    def _tried_peer(self, peer: Peer) -> dict[str, Any]:
        """The time of the partition alone, and the measures of its groups."""
        if peer.partition is None:
            return {"reason": peer.reason}
        if not FEWEST_SETS <= len(self.material.table.sets) <= MOST_SETS:
            return {"reason": f"tried for {FEWEST_SETS} to {MOST_SETS:,} distinct sets only"}
        k, problem = self.settings.k, self.material.problem(self.settings.k)
        rows = coordinates(self.material)
        labels, seconds = _timed(partial(peer.partition, rows, k))
        _, ours = _timed(lambda: mdav_labels(problem))
        clusters = clusters_of(self.material.table, labels, problem)
        found = self._measured(published_by_clusters(self.material, clusters, k), k)
        return {**found, "seconds": seconds, "our_mdav_seconds": ours}

    @redacted_errors
    def _write(self) -> str:
        write_comparison(Path(self.settings.out), self.found)
        kept = [(point["k"], point["rows"], point["information"]) for point in self._curve]
        self._job.store.save(curve_key(self._job), kept)
        return f"{len(self._methods)} methods"

    @cached_property
    def ks(self) -> tuple[int, ...]:
        """The k that the log has people for, ascending."""
        return tuple(k for k in sorted({*KS, self.settings.k}) if k <= self._people)

    @cached_property
    def _people(self) -> int:
        """People who hold attributes."""
        return len(np.unique(self.material.table.users[self.material.holding]))

    @cached_property
    def material(self) -> Material:
        table, found = self._table.value, self._compared.value
        assert found.set_pairs is not None
        return Material(
            table=table,
            taxonomy=wordnet(self.settings.store).taxonomy,
            distances=found.distances,
            set_pairs=found.set_pairs,
            centre=centre_of(table, found),
            threshold=self.settings.threshold,
            distance=self.settings.distance,
            inclusive=self.settings.inclusive,
            scope=self.settings.scope,
            # A single block is not worth another process.
            starmap=self._starmap if len(table.sets) > PART_SIZES.sets_per_block else serial,
        )

    @cached_property
    def found(self) -> dict[str, Any]:
        """What `comparison.json` holds, once all methods were tried."""
        return {
            "settings": _published(self.settings),
            "versions": {
                "logveil": VERSION,
                "wordnet": f"3.0 ({wordnet(self.settings.store).version})",
                "python": platform.python_version(),
            },
            "records": {
                "read": len(self.material.table),
                "compared": int(self.material.holding.sum()),
                "people": self._people,
                "sets": len(self.material.table.sets),
            },
            "ks": list(self.ks),
            "methods": self._methods,
            "tasks": self.tasks,
            "which_k": which_k(self._curve),
            "fronts": {name: self._fronts(key) for name, key in RISKS.items()},
            "peers": self._peers,
            "seconds": round(time.perf_counter() - self._started, 1),
        }

    @property
    def tasks(self) -> dict[str, Any]:
        """The contest among all that were tried."""
        best = verdicts(self._entries, OURS, self.settings.k)
        return {"raw": self.contest.raw(), "methods": self._entries, "verdicts": best}

    def _fronts(self, risk: str) -> dict[str, Any]:
        """For each k the methods that no other one beats in risk and loss, and who beats ours."""
        names = list(self._methods)
        fronts: dict[str, Any] = {}
        for k in map(str, self.ks):
            cells = [self._methods[name]["by_k"][k] for name in names]
            points = [(cell[risk], cell["symmetric_loss"]) for cell in cells]
            front = [n for n, held in zip(names, on_pareto_front(points), strict=True) if held]
            beaten = [names[place] for place in dominated_by(points, names.index(OURS))]
            fronts[k] = {"front": front, f"{OURS}_beaten_by": beaten}
        return fronts


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    result = work()
    return result, round(time.perf_counter() - started, 3)


NOT_ASKED: Final = (
    *("method", "guarantee", "l", "release_format", "counts", "epsilon", "delta", "budget"),
)
"""Settings of a release that a comparison, which tries every method, does not have."""


def _published(settings: Settings) -> dict[str, Any]:
    return {name: value for name, value in settings.published().items() if name not in NOT_ASKED}
