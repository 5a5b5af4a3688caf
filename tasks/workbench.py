"""The results of a run's phases by handle: at hand, in the store, or made again.

A handle is a digest of all that decides a result: the files' bytes, the settings that matter, the
code. A phase whose result is known need not run, and a result that is gone from the store is made
again when somebody asks for it. What may not be kept, the log and its words, is read again.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tasks import phases
from tasks.adapters.provenance import is_in_place
from tasks.adapters.release_files import Draft
from tasks.core.digests import digest
from tasks.core.records import Clusters, QueryLog, RecordTable, Release
from tasks.measuring import measure
from tasks.runtime.code import code_digest
from tasks.runtime.errors import contained
from tasks.runtime.inputs import Fingerprint, fingerprints, refuse_changed
from tasks.runtime.kept_pairs import PairCounts
from tasks.runtime.memory import Memory, open_memory, way_of_comparing, way_of_reading
from tasks.runtime.progress import Progress, silent
from tasks.settings import Settings

PHASES: Final = ("read", "analyse", "compare", "cluster", "redact", "measure", "write", "verify")
IN_PLACE: Final = ("write", "verify")
ARRAYS: Final[dict[str, type[Clusters] | type[Release]]] = {"cluster": Clusters, "redact": Release}
"""Results that are kept whole; of the others it is kept that they were made, and their counts."""


class Workbench:
    """What one run has made and what earlier ones have left.

    Attributes:
        label: tells the phases of several releases in one run apart.
    """

    label = ""

    def __init__(self, settings: Settings, progress: Progress = silent) -> None:
        self.settings = settings
        self.progress = progress
        self._at_hand: dict[str, Any] = {}

    @cached_property
    def memory(self) -> Memory:
        return open_memory(self.settings)

    @cached_property
    def files(self) -> tuple[Fingerprint, ...]:
        return fingerprints(self.settings.logs)

    @property
    def folder(self) -> Path:
        """Where the release goes."""
        return Path(self.settings.out)

    @contained
    def handle(self, phase: str) -> str:
        """The name of a phase's result."""
        return digest(phase, self._handles[phase], self._beside())

    def _beside(self) -> str:
        """What else decides results, beside files and settings."""
        return ""

    @cached_property
    def _handles(self) -> dict[str, str]:
        chosen = self.settings
        content = digest([file.digest for file in self.files], chosen.format, chosen.columns)
        names = [file.name for file in self.files]
        read = digest(code_digest(), content, names, chosen.k)
        analyse = digest(content, way_of_reading(chosen), chosen.threshold, chosen.ancestors)
        method = (chosen.method, chosen.distance, chosen.k, chosen.l)
        cluster = digest(analyse, way_of_comparing(chosen), method)
        redact = digest(cluster, chosen.guarantee)
        write = digest(redact, read, chosen.release_format)
        return {
            **{"read": read, "analyse": analyse, "compare": cluster, "cluster": cluster},
            **{"redact": redact, "measure": digest(redact, read), "write": write, "verify": write},
        }

    @contained
    def is_known(self, phase: str) -> bool:
        """Whether a phase need not run."""
        if phase in IN_PLACE:
            return self.in_place
        return self._key(phase) in self.memory.cache

    @cached_property
    def in_place(self) -> bool:
        """Whether the release that these files and settings lead to is published and proven."""
        out = Path(self.settings.out)
        written = out / f"release.{self.settings.release_format}"
        return is_in_place(Path(self.settings.store), out, written, self.handle("write"))

    def make(self, phase: str) -> str:
        """Make a phase's result, unless it is known; returns its handle."""
        if not self.is_known(phase):
            self.result(phase)
        return self.handle(phase)

    def is_at_hand(self, phase: str) -> bool:
        return phase in self._at_hand

    def result(self, phase: str) -> Any:
        """A phase's result: at hand, from the store, or made now."""
        if phase not in self._at_hand:
            kept = self._kept(phase)
            self._at_hand[phase] = self._made(phase) if kept is None else kept
        return self._at_hand[phase]

    def _key(self, phase: str) -> str:
        return f"result:{self.handle(phase)}"

    def _kept(self, phase: str) -> Any:
        if phase == "measure":
            content = self.memory.cache.get(self._key(phase))
            return json.loads(content) if content else None
        arrays = self.memory.cache.get_arrays(self._key(phase)) if phase in ARRAYS else None
        return None if arrays is None else ARRAYS[phase](**arrays)

    def _made(self, phase: str) -> Any:
        made = getattr(self, f"_{phase}")()
        self._keep(phase, made)
        return made

    def _keep(self, phase: str, made: Any) -> None:
        key, cache = self._key(phase), self.memory.cache
        if phase in ARRAYS:
            cache.put_arrays(key, {f.name: getattr(made, f.name) for f in fields(made)})
        elif phase == "measure":
            cache.put(key, json.dumps(made).encode())
        elif phase == "compare":
            cache.put(key, json.dumps(_totals(made)).encode())
        elif phase not in IN_PLACE:
            cache.put(key, b"made")

    def _read(self) -> QueryLog:
        log = phases.read(self.settings, self.memory, self.progress)
        refuse_changed(self.files)
        return log

    def _analyse(self) -> RecordTable:
        return phases.analyse(self.settings, self.memory, self.result("read"), self.progress)

    def _compare(self) -> phases.Comparison:
        return phases.compare(self.settings, self.memory, self.result("analyse"), self.progress)

    def _cluster(self) -> Any:
        table, comparison = self.result("analyse"), self.result("compare")
        return phases.cluster(self.settings, table, comparison, self.progress)

    def _redact(self) -> Release:
        table, comparison = self.result("analyse"), self.result("compare")
        clusters = self.result("cluster")
        return phases.redact(self.settings, table, comparison, clusters, self.progress)

    def _measure(self) -> dict[str, Any]:
        made = (self.result(phase) for phase in ("read", "analyse", "compare", "cluster", "redact"))
        return measure(self.settings, *made, progress=self.progress)

    def _write(self) -> Draft:
        made = (self.result(phase) for phase in ("read", "analyse", "redact"))
        return phases.write(self.settings, self.files, *made)

    def _verify(self) -> int:
        return phases.verify(self.settings, self.result("write"))

    def facts(self) -> dict[str, Any]:
        """What `measures.json` says of this run beside the measures of its release."""
        return {"pairs": self._pairs()}

    def _pairs(self) -> dict[str, int]:
        """Pairs that this run computed, and that it took from earlier ones."""
        if "compare" in self._at_hand:
            found = self._at_hand["compare"]
            counts = {"attributes": found.attributes, "records": found.records}
        else:
            kept = json.loads(self.memory.cache.get(self._key("compare")) or b"{}")
            counts = {kind: PairCounts(0, kept.get(kind, 0)) for kind in ("attributes", "records")}
        return {
            f"{kind}_{what}": getattr(count, what)
            for kind, count in counts.items()
            for what in ("computed", "reused")
        }

    def publish(self, measures: dict[str, Any]) -> None:
        """Put the release in place with its measures and report."""
        if self.in_place:
            phases.restate(self.settings, measures)
        else:
            phases.publish(self.settings, self.result("write"), measures, self.handle("write"))


def _totals(found: phases.Comparison) -> dict[str, int]:
    return {"attributes": found.attributes.total, "records": found.records.total}
