"""What WordNet costs a cold run before it is compiled, and a store in which it is."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from pathlib import Path
from typing import Final

from tests.bench.watched import watch

PHASES: Final = ("read", "analyse")
"""The first looks for WordNet's files, with NLTK; the second compiles them."""

FIND_AND_LOAD: Final = """\
import json, sys, time
from pathlib import Path
from tasks.adapters.wordnet import load_wordnet, wordnet_version
store = Path(sys.argv[1])
started = time.perf_counter()
wordnet_version(store)
found = time.perf_counter()
load_wordnet(store)
print(json.dumps([found - started, time.perf_counter() - found]))
"""


def preparation_seconds(store: Path, repeats: int) -> dict[str, float]:
    """Median seconds by which each phase takes longer on a store that never saw WordNet.

    The store holds it afterwards.
    """
    rounds = [_extra_seconds(store) for _ in range(repeats)]
    medians = (round(statistics.median(extra), 3) for extra in zip(*rounds, strict=True))
    return dict(zip(PHASES, medians, strict=True))


def _extra_seconds(store: Path) -> list[float]:
    shutil.rmtree(store, ignore_errors=True)
    command = (sys.executable, "-c", FIND_AND_LOAD, str(store))
    cold, warm = (json.loads(watch(command).output) for _ in range(2))
    return [before - after for before, after in zip(cold, warm, strict=True)]
