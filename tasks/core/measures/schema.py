"""What `measures.json` says of a release, section by section (docs/measures.md explains each)."""

from __future__ import annotations

from typing import NotRequired, TypedDict

Histogram = list[dict[str, int]]


class UserCounts(TypedDict):
    """Distinct people; `from_column` is False if every row counts as one."""

    read: int
    published: int
    from_column: bool


class InformationLossSection(TypedDict):
    """Eq. 11–13 in percent."""

    percent: float
    symmetric_percent: float
    by_topic: dict[str, float]


class RiskSection(TypedDict):
    """Success of record linkage, 0 … 1, and people behind one and two published terms."""

    raw_expected: float
    raw_worst: float
    released_expected: float
    released_worst: float
    partial_knowledge: dict[str, float]


class CountSections(TypedDict):
    """How much was read, published and withheld."""

    records: dict[str, int]
    users: UserCounts
    words: dict[str, int]
    attributes: dict[str, int]
    identifiers: dict[str, int]
    shares: dict[str, float]
    clusters: dict[str, float]


class Measures(CountSections):
    """What the phase *measure* finds: a release's own figures, the same whenever it is made."""

    settings: dict[str, object]
    versions: dict[str, str]
    cohesion: dict[str, float]
    information_loss: InformationLossSection
    risk: RiskSection
    diversity: dict[str, float]
    figures: dict[str, object]


class FinalMeasures(Measures):
    """The same with what is said of the run that made the release."""

    verified: bool
    pairs: dict[str, int]
    edition: NotRequired[dict[str, object]]
    shards: NotRequired[dict[str, dict[str, float]]]
    seconds: dict[str, float]
    peak_memory_mb: float
