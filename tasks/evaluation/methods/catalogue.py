"""All methods that are compared. A new one is a file of its own and a line here."""

from __future__ import annotations

from typing import Final

from tasks.evaluation.methods.clusterings import ADAPTIVE, MDAV, PRINTED_PAPER, STRICT_PAPER, VMDAV
from tasks.evaluation.methods.floors import DROPPING, RANDOM, ROOT, UNTOUCHED
from tasks.evaluation.methods.generalisation import SINGLES, WITH_PAIRS
from tasks.evaluation.methods.interface import Method
from tasks.evaluation.methods.semantic import SEMANTIC
from tasks.evaluation.methods.syntactic import SYNTACTIC

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
