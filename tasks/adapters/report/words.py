"""The words of the certificate, which are data: `words.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple


class Meaning(NamedTuple):
    """What a clause means to somebody who reads no code, and the figure that stands beside it.

    Attributes:
        figure: its name in `measures.json`; empty: all rows were looked at.
        of: what the figure is.
    """

    means: str
    figure: str = ""
    of: str = ""


class Section(NamedTuple):
    """Figures that belong together.

    Attributes:
        key: of the section in `measures.json`.
        words: what its figures are called; where names depend on the log, how they begin.
    """

    title: str
    key: str
    note: str
    words: Mapping[str, str]


_WORDS: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
MEANINGS: Final = {clause.pop("says"): Meaning(**clause) for clause in _WORDS["clause"]}
"""By the words of the clause."""
SECTIONS: Final = [Section(**{"words": {}, **section}) for section in _WORDS["section"]]
GLOSSARY: Final[dict[str, str]] = _WORDS["glossary"]
"""Every term of the page that a reader may not know."""
