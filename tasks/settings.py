"""The settings of a run: one frozen value, checked as a whole."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

import platformdirs

from tasks.core.choices import Distance, Guarantee, Method, Scope
from tasks.core.errors import UsageError

CHOICES: dict[str, tuple[str, ...]] = {
    "method": get_args(Method),
    "guarantee": get_args(Guarantee),
    "scope": get_args(Scope),
    "ancestors": ("proper", "inclusive"),
    "distance": get_args(Distance),
    "format": ("auto", "aol", "csv", "tsv", "jsonl", "parquet"),
    "release_format": ("tsv", "parquet"),
}
COLUMN_ROLES = ("user", "query", "time")
SAMPLE_LOG = Path(__file__).parent.parent / "flows" / "data" / "sample_log.tsv"


def default_store() -> str:
    """The user's cache folder."""
    return platformdirs.user_cache_dir("logveil", appauthor=False)


@dataclass(frozen=True)
class Settings:
    """Everything that decides the bytes of a release, and where they go."""

    logs: tuple[str, ...] = (str(SAMPLE_LOG),)
    out: str = "release"
    k: int = 5
    l: int = 1  # noqa: E741 - the literature's name, and the option's
    method: Method = "adaptive"
    guarantee: Guarantee = "strict"
    scope: Scope = "sensitive"
    threshold: float = 0.8
    ancestors: str = "proper"
    distance: Distance = "jaccard"
    format: str = "auto"
    columns: dict[str, str] = field(default_factory=dict)
    topics: str | None = None
    spacy_model: str | None = None
    release_format: str = "tsv"
    store: str = field(default_factory=default_store)
    store_limit: float = 10.0
    keep_editions: int = 0
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def __post_init__(self) -> None:
        faults = [*self._choice_faults(), *self._number_faults(), *self._fit_faults()]
        if faults:
            raise UsageError("\n".join(faults))

    def _choice_faults(self) -> list[str]:
        return [
            f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}"
            for name, allowed in CHOICES.items()
            if getattr(self, name) not in allowed
        ]

    def _number_faults(self) -> list[str]:
        faults = []
        if self.k < 2:
            faults.append(f"k must be at least 2, not {self.k}: one person alone is not hidden")
        if not 1 <= self.l <= max(self.k, 1):
            faults.append(f"l must be between 1 and k = {self.k}, not {self.l}")
        if not 0.0 <= self.threshold <= 1.0:
            faults.append(f"threshold must be between 0 and 1, not {self.threshold}")
        if not self.store_limit > 0:
            faults.append(f"store_limit must be more than 0 GB, not {self.store_limit}")
        if self.keep_editions < 0:
            faults.append(f"keep_editions must be 0 (all) or more, not {self.keep_editions}")
        if self.workers < 1:
            faults.append(f"workers must be at least 1, not {self.workers}")
        return faults

    def _fit_faults(self) -> list[str]:
        unknown = sorted(set(self.columns) - set(COLUMN_ROLES))
        faults = [f"columns: no such role {role!r}, use user, query, time" for role in unknown]
        if not self.logs:
            faults.append("name at least one log file, folder or glob")
        return faults

    @property
    def inclusive(self) -> bool:
        return self.ancestors == "inclusive"

    @property
    def topics_path(self) -> Path | None:
        return Path(self.topics) if self.topics else None

    def published(self) -> dict[str, Any]:
        """The settings that belong in a report: what was done, not where on this machine."""
        private = ("logs", "out", "store", "store_limit", "keep_editions", "workers")
        return {name: value for name, value in asdict(self).items() if name not in private}
