"""The labelled queries: one a line, labels in the line; README.md has the rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tasks.core.detection.identifiers import KINDS

FOLDER: Final = Path(__file__).parent
SPLITS: Final = ("dev", "test", "fresh")
TOPICS: Final = {
    **{name: name for name in ("health", "ethnicity", "religion", "politics", "age", "gender")},
    **{"crime": "crime", "place": "place"},
    **{"sex": "sex life and orientation", "money": "money troubles"},
}
"""Topics as the labels write them, and as the shipped topics file names them."""

FIXED_FORMS: Final = ("email", "phone", "ssn", "card", "iban", "ip", "url", "zip", "date_of_birth")
"""Identifiers with check digits or a fixed form."""

NEUTRAL: Final = "?"
_LABEL = re.compile(r"\[(?P<words>[^]|]+)\|(?P<kind>[^]|]+)(?:\|(?P<concept>[^]|]+))?\]")


@dataclass(frozen=True, slots=True)
class Label:
    """A stretch of a query that somebody labelled.

    `kind` is an identifier's, a topic, or `?` where both answers are right; `concept` a WordNet
    sense of any lemma, such as ``diabetes.n.01``.
    """

    start: int
    end: int
    kind: str
    concept: str = ""


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query with its labels; `style` is the heading under which it stands."""

    text: str
    labels: tuple[Label, ...]
    style: str


def read_split(split: str) -> list[LabelledQuery]:
    """The queries of ``dev`` or ``test``."""
    queries = []
    style = ""
    for line in (FOLDER / f"{split}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            style = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            queries.append(parse(line, style))
    return queries


def parse(line: str, style: str) -> LabelledQuery:
    """The query of a line and its labels: ``[diabetis|health|diabetes.n.01] diet``."""
    text, labels, at = "", [], 0
    for match in _LABEL.finditer(line):
        text += line[at : match.start()]
        kind = _kind(match["kind"], line)
        labels.append(
            Label(len(text), len(text) + len(match["words"]), kind, match["concept"] or "")
        )
        text += match["words"]
        at = match.end()
    text += line[at:]
    if any(sign in text for sign in "[]|"):
        raise ValueError(f"a label is not closed: {line}")
    return LabelledQuery(text, tuple(labels), style)


def _kind(written: str, line: str) -> str:
    if written.startswith(NEUTRAL):
        return NEUTRAL
    if written in KINDS:
        return written
    if written not in TOPICS:
        raise ValueError(f"no kind {written!r}: {line}")
    return TOPICS[written]
