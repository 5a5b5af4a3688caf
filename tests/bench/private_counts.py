"""`python -m tests.bench.private_counts`: what of a log's concepts `--counts dp` tells.

Concept mass: of all mentions of concepts, those that are told by the concept or by something above
it (held), and the same by shares of bits (graded). Beside it weighted Gaussian on concepts as they
are, without roll-up. Noise is not seeded: the mean of a few runs.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.adapters.private_counts import private_counts
from tasks.adapters.resources import wordnet
from tasks.core.arrays import owners, take_ragged
from tasks.core.measures.term_counts import term_counts
from tasks.core.records import ATTRIBUTE, Flags, Floats, Ints, RecordTable
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.baselines.rivals import BOUNDS, set_union
from tasks.folders import default_store
from tasks.phases.analyse import analyse
from tasks.phases.count import MOST_TERMS
from tasks.phases.job import Job
from tasks.phases.read import read
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tests.bench.contest import SHAPES
from tests.bench.information import SCOPES, generated
from tests.bench.results import machine_facts

PRICES: Final = {"1": (1.0, 1e-5), "ln 10": (math.log(10), 1e-5)}
RUNS: Final = 5
K: Final = 5


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    cells: list[dict[str, Any]] = []
    for scope in SCOPES:
        log = generated(SHAPES[0], options.work)
        settings = Settings(logs=(str(log),), scope=scope, store=options.store, workers=1)
        job = Job.of(settings, LocalExecutor(1))
        table, taxonomy = analyse(job, read(job)).value, wordnet(options.store).taxonomy
        for name, price in PRICES.items():
            runs = [_told(table, taxonomy, price) for _ in range(RUNS)]
            means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
            cells.append({"sample": SHAPES[0], "scope": scope, "epsilon": name, **means})
            print(cells[-1], file=sys.stderr, flush=True)
    found = {"machine": machine_facts(), "cells": cells}
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.private_counts", description=__doc__
    )
    here, work = Path(__file__).parent, Path(tempfile.gettempdir()) / "logveil-contest"
    parser.add_argument("--json", type=Path, default=here / "private_counts.json", metavar="FILE")
    parser.add_argument("--store", default=default_store(), metavar="DIR")
    parser.add_argument("--work", type=Path, default=work, metavar="DIR", help="of the logs")
    return parser


def _told(table: RecordTable, taxonomy: Taxonomy, price: tuple[float, float]) -> dict[str, float]:
    random = np.random.default_rng()
    found = term_counts(table, taxonomy, most=MOST_TERMS, random=random)
    people = np.concatenate([found.word_people, found.concept_people])
    told = private_counts(people, price=price, most=2 * MOST_TERMS, k=K)
    words, concepts = told[: len(found.words)], told[len(found.words) :]
    kept = np.zeros(len(taxonomy), dtype=np.bool_)
    kept[found.concepts] = [count is not None for count in concepts]
    users, said = _mentions(table)
    # Of the bounds that weighted Gaussian might have, the one by which it holds most.
    plain = max(
        (set_union(users, said, len(taxonomy), most, random, price).forms for most in BOUNDS),
        key=lambda own: float(own[said].mean()),
    )
    return {
        "words_told": float(sum(count is not None for count in words)),
        "concepts_told": float(kept.sum()),
        "held": _mass(taxonomy, said, kept, above=True)[0],
        "graded": _mass(taxonomy, said, kept, above=True)[1],
        "wgm_concepts_told": float(plain.sum()),
        "wgm_held": _mass(taxonomy, said, plain, above=False)[0],
    }


def _mentions(table: RecordTable) -> tuple[Ints, Ints]:
    """Person and concept of every mention."""
    offsets, items = take_ragged(table.forms.item_offsets, table.form_of)
    held = table.forms.item_kinds[items] == ATTRIBUTE
    return table.users[owners(offsets)[held]], table.forms.item_concepts[items[held]]


def _mass(taxonomy: Taxonomy, said: Ints, told: Flags, *, above: bool) -> tuple[float, float]:
    """The share of mentions that are told, and of their bits."""
    bits: Floats = np.where(told, taxonomy.information, 0.0)
    best = bits.copy()
    if above:
        np.maximum.at(best, owners(taxonomy.ancestor_offsets), bits[taxonomy.ancestors])
    graded = best[said] / np.maximum(taxonomy.information[said], 1e-9)
    return float((best[said] > 0).mean()), float(graded.mean())


if __name__ == "__main__":
    sys.exit(main())
