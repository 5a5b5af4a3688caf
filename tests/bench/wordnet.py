"""What the compilation of WordNet costs a cold run, and a store in which it is done."""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path
from typing import Final

from tests.bench.watched import watch

LOAD: Final = """\
import sys, time
from pathlib import Path
from tasks.adapters.wordnet import load_wordnet
started = time.perf_counter()
load_wordnet(Path(sys.argv[1]))
print(time.perf_counter() - started)
"""


def compilation_seconds(store: Path, repeats: int) -> float:
    """Median seconds that loading takes longer on a store without the compiled WordNet.

    The store holds it afterwards.
    """
    return round(statistics.median(_extra_seconds(store) for _ in range(repeats)), 3)


def _extra_seconds(store: Path) -> float:
    shutil.rmtree(store, ignore_errors=True)
    cold, warm = (float(watch((sys.executable, "-c", LOAD, str(store))).output) for _ in range(2))
    return cold - warm
