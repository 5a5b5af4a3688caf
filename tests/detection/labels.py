"""The labelled queries: one a line, labels in the line or as JSON; README.md has the rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.readings import normalise

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
BOTH_RIGHT: Final = ("namec", "adult", NEUTRAL)
"""Labels where both answers are right: a public person's name, adult sites, any other doubt."""

_KINDS: Final = {
    **dict.fromkeys(BOTH_RIGHT, NEUTRAL),
    **{kind: kind for kind in KINDS},
    **{topic.replace(" ", "_"): topic for topic in TOPICS.values()},
    **TOPICS,
}
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
    """The queries of ``dev``, ``test`` or ``fresh``."""
    return read_labels(FOLDER / f"{split}.txt")


def read_labels(path: Path) -> list[LabelledQuery]:
    """The queries of any file, in lines or as JSON Lines; a fault names the line, never its text.

    Lines of JSON hold ``text`` (or ``query``) and ``labels`` (or ``spans``), each label a list
    ``[start, end, kind]`` or an object with these keys.
    """
    queries: list[LabelledQuery] = []
    style = ""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    as_json = next((line for line in lines if line.strip()), "").lstrip().startswith("{")
    for number, line in enumerate(lines, 1):
        try:
            if as_json:
                queries.extend([_from_json(json.loads(line))] if line.strip() else ())
            elif line.startswith("## "):
                style = line.removeprefix("## ")
            elif line.strip() and not line.startswith("#"):
                queries.append(parse(line, style))
        except ValueError as fault:
            reason = "is no JSON" if isinstance(fault, json.JSONDecodeError) else fault
            raise ValueError(f"{path.name}, line {number}: {reason}") from None
    return queries


def _from_json(entry: Any) -> LabelledQuery:
    text = entry.get("text", entry.get("query")) if isinstance(entry, dict) else None
    if not isinstance(text, str):
        raise ValueError("no text")
    labels = tuple(_json_labels(entry.get("labels", entry.get("spans")) or [], len(text)))
    # Read as a log is, if that moves nothing.
    plain = normalise(text)
    return LabelledQuery(plain if len(plain) == len(text) else text.lower(), labels, "")


def _json_labels(found: Any, length: int) -> Iterator[Label]:
    for label in found:
        start, end, kind, *_ = (
            (label.get(key) for key in ("start", "end", "kind"))
            if isinstance(label, dict)
            else (*label, "", "", "")
        )
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length):
            raise ValueError(f"a label from {start!r} to {end!r} is not within the text")
        yield Label(start, end, _kind(str(kind)))


def parse(line: str, style: str) -> LabelledQuery:
    """The query of a line and its labels: ``[diabetis|health|diabetes.n.01] diet``."""
    text, labels, at = "", [], 0
    for match in _LABEL.finditer(line):
        text += line[at : match.start()]
        kind = _kind(match["kind"])
        labels.append(
            Label(len(text), len(text) + len(match["words"]), kind, match["concept"] or "")
        )
        text += match["words"]
        at = match.end()
    text += line[at:]
    if any(sign in text for sign in "[]|"):
        raise ValueError("a label is not closed")
    return LabelledQuery(text, tuple(labels), style)


def _kind(written: str) -> str:
    """The kind meant; a doubt may have a reason behind its sign."""
    key = NEUTRAL if written.startswith(NEUTRAL) else written.strip().lower().replace(" ", "_")
    if key not in _KINDS:
        raise ValueError(f"no kind {written!r}; known are {', '.join(sorted(_KINDS))}")
    return _KINDS[key]
