"""Precision and recall of findings against labels, with Wilson's confidence intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from tasks.core.detection.identifiers import KINDS
from tests.detection.labels import FIXED_FORMS, NEUTRAL, TOPICS, LabelledQuery

CODES: Final = tuple(kind for kind in KINDS if kind != "name")
GROUPS: Final = {
    **{kind: (kind,) for kind in KINDS},
    **{topic: (topic,) for topic in TOPICS.values()},
    "= fixed forms": FIXED_FORMS,
    "= identifiers": CODES,
    "= names": ("name",),
    "= concepts": tuple(TOPICS.values()),
    "= overall": (*KINDS, *TOPICS.values()),
}
Z: Final = 1.96


@dataclass(frozen=True, slots=True)
class Finding:
    """A stretch of a query that a system takes for sensitive."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval at 95 %."""
        if not self.total:
            return 0.0, 1.0
        centre = self.value + Z * Z / (2 * self.total)
        spread = Z * sqrt(
            self.value * (1 - self.value) / self.total + Z * Z / (4 * self.total * self.total)
        )
        scale = 1 + Z * Z / self.total
        return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


@dataclass(frozen=True, slots=True)
class Score:
    """Of a group of kinds; `kind_agreed`: found labels of which the kind found is the label's."""

    precision: Share
    recall: Share
    kind_agreed: Share

    @property
    def f1(self) -> float:
        wrong = self.precision.total - self.precision.hits
        missed = self.recall.total - self.recall.hits
        return 2 * self.recall.hits / max(1, 2 * self.recall.hits + wrong + missed)


@dataclass(frozen=True, slots=True)
class Overlooked:
    """What matters to the people in a log, counted in queries.

    Attributes:
        nothing_found: of the queries with a label (of each kind; ``""``: of any), those in which no
            finding touches any label.
        innocent_marked: of the queries without a label, those with a finding that is wrong.
    """

    nothing_found: dict[str, Share]
    innocent_marked: Share


@dataclass(frozen=True, slots=True)
class Judged:
    """One label or finding: its kind, whether it was met, and by the same kind."""

    kind: str
    met: bool
    same_kind: bool = False


def judge(query: LabelledQuery, findings: Sequence[Finding]) -> tuple[list[Judged], list[Judged]]:
    """The labels of a query and the findings in it, each with whether it was met."""
    labels = [_judged_label(query, label_number, findings) for label_number in _counted(query)]
    found = [judged for finding in findings for judged in _judged_finding(query, finding)]
    return labels, found


def _counted(query: LabelledQuery) -> list[int]:
    return [place for place, label in enumerate(query.labels) if label.kind != NEUTRAL]


def _judged_label(query: LabelledQuery, number: int, findings: Sequence[Finding]) -> Judged:
    """An identifier is found if all of it is hidden, a concept if a sensitive item touches it."""
    label = query.labels[number]
    touching = [f for f in findings if f.start < label.end and label.start < f.end]
    same_kind = any(finding.kind == label.kind for finding in touching)
    if label.kind in KINDS:
        hidden = {at for f in touching if f.kind in KINDS for at in range(f.start, f.end)}
        places = range(label.start, label.end)
        met = all(at in hidden for at in places if query.text[at].isalnum())
        return Judged(label.kind, met, same_kind and met)
    return Judged(label.kind, bool(touching), same_kind)


def _judged_finding(query: LabelledQuery, finding: Finding) -> Iterable[Judged]:
    """Right if a label of its class is touched; findings on neutral labels do not count."""
    touched = [
        label.kind
        for label in query.labels
        if label.start < finding.end and finding.start < label.end
    ]
    right = any(_class_of(kind) == _class_of(finding.kind) for kind in touched if kind != NEUTRAL)
    if right or NEUTRAL not in touched:
        yield Judged(finding.kind, right)


def overlooked(found: Iterable[tuple[LabelledQuery, Sequence[Finding]]]) -> Overlooked:
    """How many sensitive queries were missed altogether, and how many others were marked."""
    sensitive: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    innocent = marked = 0
    for query, findings in found:
        labels = [query.labels[number] for number in _counted(query)]
        kinds = {"", *(label.kind for label in labels)}
        touched = any(f.start < own.end and own.start < f.end for own in labels for f in findings)
        if labels:
            sensitive.update(kinds)
            missed.update(() if touched else kinds)
        else:
            innocent += 1
            marked += any(not finding.met for finding in judge(query, findings)[1])
    shares = {kind: Share(missed[kind], total) for kind, total in sensitive.items()}
    return Overlooked({"": Share(0, 0), **shares}, Share(marked, innocent))


def _class_of(kind: str) -> str:
    if kind == "name":
        return "name"
    return "code" if kind in KINDS else "concept"


def scores(judged: Iterable[tuple[list[Judged], list[Judged]]]) -> dict[str, Score]:
    """The score of every group of kinds."""
    pairs = list(judged)
    labels = [label for own, _ in pairs for label in own]
    findings = [finding for _, own in pairs for finding in own]
    return {name: _score(kinds, labels, findings) for name, kinds in GROUPS.items()}


def _score(kinds: Sequence[str], labels: Sequence[Judged], findings: Sequence[Judged]) -> Score:
    own_labels = [label for label in labels if label.kind in kinds]
    own_findings = [finding for finding in findings if finding.kind in kinds]
    met = [label for label in own_labels if label.met]
    return Score(
        precision=Share(sum(finding.met for finding in own_findings), len(own_findings)),
        recall=Share(len(met), len(own_labels)),
        kind_agreed=Share(sum(label.same_kind for label in met), len(met)),
    )
