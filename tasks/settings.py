"""The settings of a run: one frozen value, checked as a whole."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

from tasks.core.choices import Counting, Distance, Guarantee, Language, Method, Runner, Scope, Time
from tasks.core.log_options import DateOrder, LogOptions
from tasks.errors import UsageError
from tasks.folders import cache_folder, default_store, overlap, private_folder

CHOICES: dict[str, tuple[str, ...]] = {
    "method": get_args(Method),
    "guarantee": get_args(Guarantee),
    "scope": get_args(Scope),
    "time": get_args(Time),
    "ancestors": ("proper", "inclusive"),
    "distance": get_args(Distance),
    "format": (
        *("auto", "aol", "csv", "tsv", "jsonl", "json", "access", "solr", "slowlog", "parquet"),
        "xlsx",
    ),
    "date_order": get_args(DateOrder),
    "language": get_args(Language),
    "release_format": ("tsv", "csv", "parquet"),
    "runner": get_args(Runner),
    "counts": get_args(Counting),
}
CERTIFICATE = ("title", "purpose", "operator", "approver", "review_date", "contact", "licence")
"""What a certificate says of a release and nobody can compute; it decides no row."""
COLUMN_ROLES = ("user", "query", "time", "count")
LEAST_MEMORY = 1.0
"""Gigabytes of a worker that reads texts, or that clusters the largest block."""
FLOW_MEMORY, WORKER_MEMORY = 1.5, 0.5
"""Gigabytes that a run has for itself, and that each of its processes takes beside it."""
MOST_EPSILON, MOST_DELTA = 10.0, 1e-3
"""Of differential privacy that deserves the name."""
SAMPLE_LOG = Path(__file__).parent / "synthetic" / "data" / "sample_log.tsv"


@dataclass(frozen=True)
class Settings:
    """Everything that decides the bytes of a release, and where they go."""

    logs: tuple[str, ...] = (str(SAMPLE_LOG),)
    out: str = "release"
    k: int = 5
    l: int = 1  # noqa: E741 - the literature's name, and the option's
    dominance: float = 0.5
    rounding: bool = False
    method: Method = "adaptive"
    guarantee: Guarantee = "strict"
    scope: Scope = "sensitive"
    time: Time = "month"
    threshold: float = 0.8
    ancestors: str = ""
    distance: Distance = "jaccard"
    format: str = "auto"
    columns: dict[str, str] = field(default_factory=dict)
    person: str = ""
    exact_ids: bool = False
    encoding: str = "auto"
    delimiter: str = ""
    query_param: str = ""
    sheet: str = ""
    date_order: DateOrder = "auto"
    language: Language = "auto"
    any_language: bool = False
    topics: str | None = None
    spacy_model: str | None = None
    release_format: str = "tsv"
    counts: Counting = "none"
    epsilon: float = 0.0
    delta: float = 0.0
    budget: float = 0.0
    replace: bool = False
    store: str = field(default_factory=default_store)
    store_limit: float = 10.0
    keep_editions: int = 0
    shared: str = ""
    memory: float = field(default_factory=lambda: half_the_memory())
    temp: str = ""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    runner: Runner = "local"
    dask_address: str | None = None
    worker_memory: float = 2.0
    title: str = ""
    purpose: str = ""
    operator: str = ""
    approver: str = ""
    review_date: str = ""
    contact: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        # Only here: from now on `store` is a folder, and `shared` an URL or a folder.
        here = os.path.abspath(os.path.join(cache_folder(self.store), "shards"))
        shared = self.shared or (self.store if "://" in self.store else here)
        object.__setattr__(self, "shared", shared)
        # Under `proper` siblings are at no distance from each other; the paper counts so.
        reading = self.ancestors or ("proper" if self.method == "paper" else "inclusive")
        object.__setattr__(self, "ancestors", reading)
        object.__setattr__(self, "store", private_folder(self.store))
        temp = self.temp or os.path.join(cache_folder(self.store), "columns")
        object.__setattr__(self, "temp", os.path.abspath(temp))
        faults = [*self._choice_faults(), *self._number_faults(), *self._fit_faults()]
        faults += self._engine_faults()
        faults += self._folder_faults()
        faults += self._counts_faults()
        faults += self._person_faults()
        faults += self._certificate_faults()
        if faults:
            raise UsageError(*faults)

    def _person_faults(self) -> list[str]:
        """`--person NAME` and `--columns user=NAME` are the same, and said in one way from here."""
        try:
            said = self.log_options
        except UsageError as fault:
            return list(fault.args)
        object.__setattr__(self, "columns", dict(said.columns))
        object.__setattr__(self, "person", said.person)
        return []

    def _certificate_faults(self) -> list[str]:
        for name, said in self.certificate.items():
            # A date in a file of settings may be one by its type.
            object.__setattr__(self, name, str(said))
        faults = [
            f"{name} must be one line of text that can be printed"
            for name, said in self.certificate.items()
            if not said.isprintable()
        ]
        try:
            _ = self.review_date and date.fromisoformat(self.review_date)
        except ValueError:
            faults.append(f"review_date must be a date like 2027-01-31, not {self.review_date!r}")
        return faults

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
        if not 0.0 < self.dominance <= 1.0:
            faults.append(
                f"dominance must be more than 0 and at most 1, not {self.dominance}: "
                "it is the greatest share of one person"
            )
        elif self.k >= 2 and self.dominance * self.k < 1 - 1e-9:
            faults.append(
                f"dominance must be at least 1/k = {1 / self.k:.4g}, not {self.dominance}: "
                "of k people somebody has as much"
            )
        if not 0.0 <= self.threshold <= 1.0:
            faults.append(f"threshold must be between 0 and 1, not {self.threshold}")
        if not self.store_limit > 0:
            faults.append(f"store_limit must be more than 0 GB, not {self.store_limit}")
        if self.keep_editions < 0:
            faults.append(f"keep_editions must be 0 (all) or more, not {self.keep_editions}")
        return faults

    def _engine_faults(self) -> list[str]:
        faults = []
        if self.workers < 1:
            faults.append(f"workers must be at least 1, not {self.workers}")
        if not self.memory >= LEAST_MEMORY:
            faults.append(
                f"memory must be at least {LEAST_MEMORY:g} GB, not {self.memory:g}: WordNet, the "
                "lists and the different queries of a log need as much"
            )
        if self.worker_memory < LEAST_MEMORY:
            faults.append(
                f"worker_memory must be at least {LEAST_MEMORY} GB, not {self.worker_memory}: "
                "a block of clusters needs as much"
            )
        return faults

    def _counts_faults(self) -> list[str]:
        given = [name for name in ("epsilon", "delta", "budget") if getattr(self, name)]
        if self.counts == "none":
            return [f"{name} is for counts dp alone" for name in given]
        faults = []
        if not 0 < self.epsilon <= MOST_EPSILON:
            faults.append(
                f"counts dp needs epsilon, more than 0 and at most {MOST_EPSILON:g}, not "
                f"{self.epsilon}: 1 is usual"
            )
        elif self.budget and self.budget < self.epsilon:
            faults.append(f"budget must be at least epsilon, not {self.budget}")
        if not 0 < self.delta <= MOST_DELTA:
            faults.append(
                f"counts dp needs delta, more than 0 and at most {MOST_DELTA:g}, not "
                f"{self.delta}: less than one in as many as there are people"
            )
        return faults

    def _fit_faults(self) -> list[str]:
        unknown = sorted(set(self.columns) - set(COLUMN_ROLES))
        roles = ", ".join(COLUMN_ROLES)
        faults = [f"columns: no such role {role!r}, use {roles}" for role in unknown]
        if not self.logs:
            faults.append("name at least one log file, folder or glob")
        if "-" in self.logs and self.runner == "dask":
            faults.append("standard input (-) is for runner local alone: save the log to a file")
        if self.rounding and self.guarantee != "strict":
            faults.append(f"rounding is for guarantee strict alone, not for {self.guarantee}")
        if self.dask_address and self.runner != "dask":
            faults.append("dask_address is for runner dask alone")
        if "://" in self.shared and self.runner != "dask":
            faults.append("a store at an URL is for runner dask alone")
        if self.shared.startswith(("http:", "https:")) or "@" in self.shared.partition("/")[2]:
            faults.append("store: an URL like s3://bucket/prefix, without any credentials in it")
        return faults

    def _folder_faults(self) -> list[str]:
        unnamed = [name for name in ("out", "store") if not getattr(self, name)]
        if unnamed:
            return [f"{name} must name a folder" for name in unnamed]
        places = {self.store, str(cache_folder(self.store)), self.temp}
        return [
            f"out {self.out} and the private {place} must be apart, neither in the other: what is "
            "in out is published, what is in the store never"
            for place in sorted(places)
            if overlap(self.out, place)
        ]

    @property
    def processes(self) -> int:
        """As many of the workers as have room beside the run."""
        each = self.worker_memory if self.runner == "dask" else WORKER_MEMORY
        return max(1, min(self.workers, int((self.memory - FLOW_MEMORY) / each)))

    @property
    def log_options(self) -> LogOptions:
        """How the logs are to be read."""
        return LogOptions(
            format=self.format,
            columns=self.columns,
            encoding=self.encoding,
            delimiter=self.delimiter,
            query_param=self.query_param,
            sheet=self.sheet,
            date_order=self.date_order,
            person=self.person,
            exact_ids=self.exact_ids,
        )

    @property
    def certificate(self) -> dict[str, str]:
        """What the certificate says beside figures; empty: to be filled in by hand."""
        return {name: getattr(self, name) for name in CERTIFICATE}

    @property
    def inclusive(self) -> bool:
        return self.ancestors == "inclusive"

    @property
    def inclusive_distances(self) -> bool:
        """Whether a concept is among its own ancestors when concepts are compared.

        Adaptive compares no records: there distances serve the paper's measures alone, which have
        it otherwise.
        """
        return self.inclusive and self.method != "adaptive"

    @property
    def topics_path(self) -> Path | None:
        return Path(self.topics) if self.topics else None

    def in_utf8(self) -> Settings:
        """As Prefect can store them: of names that are not UTF-8 some bytes are shown by number."""
        return replace(
            self,
            logs=tuple(map(_in_utf8, self.logs)),
            columns={role: _in_utf8(name) for role, name in self.columns.items()},
            topics=self.topics and _in_utf8(self.topics),
            out=_in_utf8(self.out),
            store=_in_utf8(self.store),
            temp=_in_utf8(self.temp),
            shared=_in_utf8(self.shared),
        )

    def published(self) -> dict[str, Any]:
        """The settings that decide a release: what was done, not where, nor what is said of it."""
        where = (
            "logs",
            "sheet",
            "out",
            "replace",
            "store",
            "shared",
            "store_limit",
            "keep_editions",
        )
        engine = ("memory", "temp", "workers", "runner", "dask_address", "worker_memory")
        private = (*where, *engine, *CERTIFICATE)
        return {name: value for name, value in asdict(self).items() if name not in private}


def half_the_memory() -> float:
    """Gigabytes: half of what this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 / 1e9


def _in_utf8(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
