"""All methods that are compared. A new one is a file of its own and a line here."""

from __future__ import annotations

from typing import Final

from tasks.evaluation.baselines.floors import DROPPING, RANDOM, ROOT, UNTOUCHED
from tasks.evaluation.baselines.greedy_rows import GREEDY
from tasks.evaluation.baselines.km_anonymity import SINGLES, WITH_PAIRS
from tasks.evaluation.baselines.microaggregation import SEMANTIC, SYNTACTIC
from tasks.evaluation.baselines.rivals import (
    ALLOW_LIST,
    KOROLOVA,
    MOZILLA,
    THRESHOLD,
    THRESHOLD_30,
    WGM,
    ZEALOUS,
)
from tasks.evaluation.method import Method
from tasks.evaluation.own_methods import ADAPTIVE, MDAV, PRINTED_PAPER, STRICT_PAPER, VMDAV

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
    GREEDY,
    RANDOM,
    DROPPING,
    ROOT,
    UNTOUCHED,
)
RIVALS: Final[tuple[Method, ...]] = (
    THRESHOLD,
    THRESHOLD_30,
    ALLOW_LIST,
    MOZILLA,
    ZEALOUS,
    KOROLOVA,
    WGM,
)
"""What others publish: compared by tasks alone, at one k."""
OURS: Final = ADAPTIVE.name
"""The one that all others are compared with."""
