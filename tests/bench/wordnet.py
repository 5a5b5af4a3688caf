"""What WordNet and the lists cost a cold run before they are compiled, and a store with them."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from pathlib import Path
from typing import Final

from tests.bench.watched import watch

PHASES: Final = ("read", "analyse")
"""The first looks for WordNet's files, with NLTK; the second compiles them, and the lists."""

FIND_AND_LOAD: Final = """\
import json, sys, time
from pathlib import Path
from tasks.adapters.wordnet import wordnet_version
from tasks.adapters.detection.text_reader import TextReader, compile_lists
store = Path(sys.argv[1])
started = time.perf_counter()
wordnet_version(store)
found = time.perf_counter()
compile_lists(TextReader(str(store), None, "all", None))
print(json.dumps([found - started, time.perf_counter() - found]))
"""


def preparation_seconds(store: Path, repeats: int) -> dict[str, float]:
    """Median seconds by which each phase takes longer on a store without them.

    The store holds them afterwards.
    """
    rounds = [_extra_seconds(store) for _ in range(repeats)]
    medians = (round(statistics.median(extra), 3) for extra in zip(*rounds, strict=True))
    return dict(zip(PHASES, medians, strict=True))


def _extra_seconds(store: Path) -> list[float]:
    shutil.rmtree(store, ignore_errors=True)
    command = (sys.executable, "-c", FIND_AND_LOAD, str(store))
    cold, warm = (json.loads(watch(command).output) for _ in range(2))
    return [before - after for before, after in zip(cold, warm, strict=True)]
