"""The file of sensitive topics: TOML, a list of ``[[topic]]`` with name, law and roots.

Below `roots` all is sensitive, below `named` only what has a name of its own; one may be missing.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tasks.core.detection.topics import Topic
from tasks.errors import InputError, UsageError

DEFAULT_TOPICS = Path(__file__).parent / "data" / "topics.toml"


def topics_content(path: Path) -> bytes:
    """The bytes of a topics file."""
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot read topics file {path}: {fault.strerror}") from None


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Read and check a topics file; every fault is named in one error."""
    try:
        content = tomllib.loads(topics_content(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise UsageError(f"topics file {path} is not valid TOML: {fault}") from None
    entries = content.get("topic", [])
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"topics file {path} holds no [[topic]]")
    faults = [fault for place, entry in enumerate(entries, 1) for fault in _faults(place, entry)]
    if faults:
        raise UsageError(f"topics file {path}:", *faults)
    return tuple(
        Topic(e["name"], e["law"], tuple(e.get("roots", ())), tuple(e.get("named", ())))
        for e in entries
    )


def _faults(place: int, entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return [f"topic {place} is not a table"]
    faults = [
        f"topic {place}: {key} must be a text"
        for key in ("name", "law")
        if not isinstance(entry.get(key), str)
    ]
    lists = [entry[key] for key in ("roots", "named") if key in entry]
    if not any(lists) or not all(map(_is_list_of_texts, lists)):
        faults.append(f"topic {place}: roots must be a list of WordNet names")
    return faults


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
