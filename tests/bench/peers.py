"""The part `peers`: the same step on the same data by others, as far as they are there."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np

from flows import run as command
from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.core.clustering.mdav import mdav
from tasks.phases.prove import prove_folder
from tests.bench.logs import SEED, Log
from tests.bench.ratios import ratio
from tests.bench.timing import Timed, timed
from tests.bench.watched import RunFailed, watch
from tests.helpers.microdata import RowSizes, RowSpace

TEXTS: Final = 2_000
WARM_UP: Final = "mail a.b@example.com or call 212-736-5000"
"""Both sides have loaded what they load on first use before the clock starts."""

ROWS, COLUMNS, K = 2_000, 5, 5
ANONYPYX: Final = "anonypyx==0.2.11"
MDAV_BY_ANONYPYX: Final = """\
import json, sys, time
import numpy, pandas
from anonypyx.microaggregation import MDAVGeneric
rows = numpy.load(sys.argv[1])
frame = pandas.DataFrame(rows, columns=[f"c{i}" for i in range(rows.shape[1])])
started = time.perf_counter()
clusters = MDAVGeneric(frame, list(frame.columns)).partition(int(sys.argv[2]))
seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "sizes": [len(cluster) for cluster in clusters]}))
"""

Found = dict[str, Any]


def against_peers(folder: Path, store: Path, log: Log, *, install: bool) -> list[Found]:
    """Every peer's figures, or why there are none."""
    return [
        presidio(log),
        pycanon(folder, store, log),
        anonypyx(folder, install=install),
        _skipped("privlib", "WordNet MDAV", "said to fail on Python 3.11 and later, not tried"),
    ]


def _skipped(peer: str, step: str, reason: str) -> Found:
    return {"peer": peer, "step": step, "remark": f"skipped: {reason}"}


def _beside(peer: str, step: str, ours: float, theirs: float, remark: str) -> Found:
    return {
        **{"peer": peer, "step": step, "our_seconds": ours, "peer_seconds": round(theirs, 3)},
        **{"ratio": ratio(theirs, ours), "remark": remark},
    }


def presidio(log: Log) -> Found:
    """Presidio's own analyser, without a trained model, against our identifier recognisers."""
    texts = _distinct_texts(log)
    finder = load_identifier_finder()
    finder.find(WARM_UP)
    ours = timed(lambda: [bool(finder.find(text)) for text in texts])
    theirs = _presidio_flags(texts)
    remark = f"texts flagged: ours {sum(ours.result)}, theirs {sum(theirs.result)}"
    step = f"identifiers in {len(texts):,} queries"
    return _beside("Presidio", step, ours.seconds, theirs.seconds, remark)


def _distinct_texts(log: Log) -> list[str]:
    """Queries of the log as our analysis sees them: lower case, single blanks."""
    lines = log.first.read_text(encoding="utf-8").splitlines()[1:]
    texts = dict.fromkeys(" ".join(line.split("\t")[1].lower().split()) for line in lines)
    return list(texts)[:TEXTS]


def _presidio_flags(texts: Sequence[str]) -> Timed[list[bool]]:
    import spacy
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    engine = SpacyNlpEngine()
    engine.nlp = {"en": spacy.blank("en")}
    analyser = AnalyzerEngine(nlp_engine=engine)
    # Left alone it would download a list of host names' endings.
    offline = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    with mock.patch.object(tldextract, "extract", offline):
        analyser.analyze(WARM_UP, "en")
        return timed(lambda: [bool(analyser.analyze(text, "en")) for text in texts])


def pycanon(folder: Path, store: Path, log: Log) -> Found:
    """The proof of a written release: pyCANON counts equal rows, ours people and all clauses."""
    step = "check of a written release"
    if importlib.util.find_spec("pycanon") is None:
        return _skipped("pyCANON", step, "not installed")
    out = folder / "checked"
    places = ("--store", str(store), "--out", str(out))
    if code := command.main([*map(str, log.whole), *places, "--bare", "--quiet"]):
        raise RunFailed(f"exit {code}")
    prove_folder(out, store)
    _rows_alike(out / "release.tsv")
    ours = timed(lambda: prove_folder(out, store))
    theirs = timed(lambda: _rows_alike(out / "release.tsv"))
    remark = (
        f"theirs counts equal rows only (≥ {theirs.result}); faults by ours: {len(ours.result[1])}"
    )
    return _beside("pyCANON", step, ours.seconds, theirs.seconds, remark)


def _rows_alike(release: Path) -> int:
    import pandas
    from pycanon import anonymity

    rows = pandas.read_csv(release, sep="\t", dtype=str).fillna("")
    return int(anonymity.k_anonymity(rows, list(rows.columns)))


def anonypyx(folder: Path, *, install: bool) -> Found:
    """MDAV on rows of numbers: the one step that tables and queries have in common."""
    step = f"MDAV, {ROWS:,} rows of {COLUMNS} numbers, k = {K}"
    if not install:
        return _skipped("AnonyPyx", step, "install it with --peers")
    try:
        python = _environment(folder, ANONYPYX)
    except RunFailed as fault:
        return _skipped("AnonyPyx", step, str(fault).splitlines()[-1])
    rows = np.random.default_rng(SEED).normal(size=(ROWS, COLUMNS))
    np.save(folder / "rows.npy", rows)
    ours = timed(lambda: mdav(RowSpace(rows), RowSizes(K), len(rows)))
    said = watch((python, "-c", MDAV_BY_ANONYPYX, str(folder / "rows.npy"), str(K))).output
    theirs = json.loads(said)
    remark = f"clusters: ours {ours.result.max() + 1}, theirs {len(theirs['sizes'])}"
    return _beside("AnonyPyx", step, ours.seconds, theirs["seconds"], remark)


def _environment(folder: Path, requirement: str) -> str:
    """The Python of an environment of the peer's own, so that nothing of ours changes."""
    place = folder / "peers"
    watch((sys.executable, "-m", "venv", str(place)))
    python = str(place / "bin" / "python")
    watch((python, "-m", "pip", "install", "-q", "--disable-pip-version-check", requirement))
    return python
