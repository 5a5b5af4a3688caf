"""What is told: of files that were read, and in `measures.json` of a release, by section.

docs/measures.md explains each key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired, TypedDict

COLUMNS: Final = {
    "query": "What people asked: words that k of them typed, and names of concepts above others.",
    "concepts": "Synsets of WordNet 3.0 that are true of all of them, by name, parted by ;",
    "time": "When: the month (2006-03), day or hour in which all of them asked, or empty.",
    "cluster": "The same number for all rows with the same concepts, or empty.",
}
"""The columns of a release, and what they hold."""


@dataclass(frozen=True, slots=True)
class ColumnTaken:
    """A column of a log, by its name, what it is taken for, and why."""

    name: str
    taken_for: str
    why: str


@dataclass(frozen=True, slots=True)
class FileRead:
    """How a file was read: what was found out about it, never what stands in it.

    Attributes:
        columns: all that may be named; those that are not used are taken for nothing.
        is_whole: False if only its first rows were read.
    """

    name: str
    format: str
    encoding: str
    delimiter: str
    columns: tuple[ColumnTaken, ...]
    is_whole: bool


class UserCounts(TypedDict):
    """Distinct people, or sessions or rows, if those were `counted`; `column` tells them apart."""

    read: int
    published: int
    counted: Literal["people", "sessions", "rows"]
    column: str


class LanguageSection(TypedDict):
    """Parts, 0 … 1, of the queries that were judged by their words."""

    understood: str
    not_understood: float
    by_language: dict[str, float]


class InformationSection(TypedDict):
    """Bits kept of the bits held, in percent; of times by themselves."""

    kept_percent: float
    words_percent: float
    concepts_percent: float
    time_percent: float
    by_topic: dict[str, float]


class TruthSection(TypedDict):
    """Shares, 0 … 1, of published concepts and of published rows that are true."""

    concepts_true: float
    rows_true: float


class InformationLossSection(TypedDict):
    """Eq. 11–13 in percent."""

    percent: float
    symmetric_percent: float
    by_topic: dict[str, float]


class AttackSuccesses(TypedDict):
    """Mean success, 0 … 1, of linking two rows of one person, and of inferring what is sensitive of
    somebody, each beside what succeeds by chance."""

    linked_expected: float
    linked_chance: float
    inferred_expected: float
    inferred_chance: float


class RiskSection(AttackSuccesses):
    """The same of record linkage, and people behind one and two published terms."""

    raw_expected: float
    raw_worst: float
    released_expected: float
    released_worst: float
    published_expected: float
    least_people: int
    partial_knowledge: dict[str, float]


class Histogram(TypedDict):
    """How many numbers fall in each bin [edge, next edge), by even steps or by ratios."""

    scale: str
    edges: list[int]
    counts: list[int]


class RiskPoints(TypedDict):
    """Success of linkage of the records in ascending order, at most so many points."""

    raw: list[float]
    released: list[float]


class RandomClusters(TypedDict):
    """Information kept, in percent, by the classes, and by random ones of the same sizes."""

    clusters: int
    records: int
    of_records: int
    own_percent: float
    random_percent: list[float]


class Distributions(TypedDict):
    """What the report draws, of bounded size."""

    distinct: dict[str, int]
    cohesion: list[float]
    cluster_sizes: Histogram
    people_per_row: Histogram
    risk: RiskPoints
    rejects: dict[str, int]


class FigureSection(Distributions):
    """The same with what random groups would keep."""

    random_clusters: RandomClusters


class CountSections(TypedDict):
    """How much was read, published and withheld."""

    records: dict[str, int]
    withheld_by_reason: dict[str, int]
    users: UserCounts
    words: dict[str, int]
    attributes: dict[str, int]
    identifiers: dict[str, int]
    shares: dict[str, float]
    clusters: dict[str, float]


class Basis(TypedDict):
    """What the public figures are made of, by their names joined by dots.

    Each person counts with `rows_per_person` rows at most, in counts and in values.
    """

    rows_per_person: int
    counts: dict[str, int]
    people: dict[str, int]
    values: dict[str, float]


class Measures(CountSections):
    """What the phase *measure* finds: a release's own figures, the same whenever it is made."""

    settings: dict[str, Any]
    versions: dict[str, str]
    language: LanguageSection
    information: InformationSection
    truth: TruthSection
    cohesion: dict[str, float]
    information_loss: InformationLossSection
    risk: RiskSection
    diversity: dict[str, float]
    figures: FigureSection
    basis: Basis


class FinalMeasures(Measures):
    """The same with what is said of the run that made the release.

    `rounded` says how the public edition is rounded; of the internal one it is empty.
    `certificate` is what the settings say of the release, and the day of its publication.
    """

    verified: bool
    certificate: dict[str, str]
    rounded: dict[str, object]
    pairs: dict[str, int]
    edition: NotRequired[dict[str, object]]
    counts: NotRequired[dict[str, object]]
    shards: NotRequired[dict[str, dict[str, float]]]
    seconds: dict[str, float]
    peak_memory_mb: float
    peak_disk_mb: float
