"""All methods that are compared. A new one is a file of its own and a line here."""

from __future__ import annotations

from typing import Final

from tasks.core.methods.clusterings import ADAPTIVE, MDAV, PRINTED_PAPER, STRICT_PAPER, VMDAV
from tasks.core.methods.floors import DROPPING, RANDOM, ROOT, UNTOUCHED
from tasks.core.methods.generalisation import SINGLES, WITH_PAIRS
from tasks.core.methods.interface import Method
from tasks.core.methods.semantic import SEMANTIC
from tasks.core.methods.syntactic import SYNTACTIC

METHODS: Final[tuple[Method, ...]] = (
    ADAPTIVE,
    MDAV,
    VMDAV,
    STRICT_PAPER,
    PRINTED_PAPER,
    SYNTACTIC,
    SEMANTIC,
    SINGLES,
    WITH_PAIRS,
    RANDOM,
    DROPPING,
    ROOT,
    UNTOUCHED,
)
