"""`python -m tests.bench.information`: information kept by us, the floor and version 0.1.

On generated logs of three shapes, in both scopes, at k = 5, 10 and 20; all by the same measures.
Deterministic: the file it writes is a fact about the code.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from flows import sample
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.arrays import split_ragged, sums_by
from tasks.core.choices import Scope
from tasks.core.measures.information import information_kept, truth_of
from tasks.core.measures.information_loss import information_loss
from tasks.core.records import PRECISIONS, SURPLUS, TIME_NONE, RecordTable, Release
from tasks.core.redaction.class_sizes import limit_shares
from tasks.core.rows.candidates import candidates_of
from tasks.core.rows.levels import VAGUEST, ItemLevels, item_levels
from tasks.core.rows.prices import price_rows
from tasks.core.rows.problem import WORTH, RowProblem, row_problem
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import dataset_centre
from tasks.core.similarity.pairs import NO_PAIRS, SetPairs
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.baselines.greedy_rows import greedy_rows
from tasks.evaluation.measures import cohesive_shares
from tasks.evaluation.method import Material, published_by_rows
from tasks.folders import default_store
from tasks.phases.analyse import analyse
from tasks.phases.cluster import cluster
from tasks.phases.compare import compare
from tasks.phases.job import Job
from tasks.phases.read import read
from tasks.phases.redact import redact
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tests.bench.first_version import FirstVersion, first_release
from tests.bench.information_tables import FIRST, FLOOR, MOST, OURS, information_tables
from tests.bench.results import machine_facts

Found = dict[str, Any]
SHAPES: Final = (
    "--queries 10000 --users 800 --seed 7",
    "--queries 10000 --users 2000 --seed 8",
    "--queries 30000 --users 1500 --seed 9",
)
SCOPES: Final[tuple[Scope, ...]] = ("sensitive", "all")
KS: Final = (5, 10, 20)
MOST_LEVELS: Final = 6
ROUNDS: Final = 300
"""Of the bound: more than the search takes, for a closer one."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    cells = []
    for said in options.shapes:
        log = generated(said, options.work)
        for scope in options.scopes:
            cells += list(_measured(said, log, scope, options))
    found = {"machine": machine_facts(), "cells": cells}
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n\n".join(information_tables(found).values()))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.information", description=__doc__)
    here, work = Path(__file__).parent, Path(tempfile.gettempdir()) / "logveil-information"
    option = parser.add_argument
    option("--shapes", nargs="+", default=SHAPES, metavar="OPTIONS", help="of flows.sample")
    option("--scopes", nargs="+", choices=SCOPES, default=SCOPES)
    option("--k", nargs="+", type=int, default=KS, metavar="K")
    option("--json", type=Path, default=here / "information.json", metavar="FILE")
    option("--store", default=default_store(), metavar="DIR")
    option("--work", type=Path, default=work, metavar="DIR", help="logs, and version 0.1")
    return parser


def generated(said: str, folder: Path) -> Path:
    log = folder / f"{said.replace('--', '').replace(' ', '-')}.tsv"
    with log.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
        sample.main(said.split())
    return log


def _measured(
    said: str, log: Path, scope: Scope, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """The figures of all three, for each k."""
    scene = Scene(Settings(logs=(str(log),), scope=scope, store=options.store, workers=1))
    first = FirstVersion(options.work)
    for k in options.k:
        theirs = first.released(log, scope, k)
        cell = {
            FIRST: {**scene.figures(scene.first(theirs), k), **_truth_as_read(theirs)},
            FLOOR: scene.figures(scene.floor(k), k),
            OURS: scene.figures(scene.ours(k), k),
            MOST: scene.most(k),
        }
        print(_line(said, scope, k, cell), file=sys.stderr, flush=True)
        yield {"sample": said, "scope": scope, "k": k, **cell}


def _truth_as_read(first: Found) -> dict[str, float]:
    """How much was true by version 0.1's own reading: it need not answer for ours."""
    return {name: 100 * first[name] for name in ("concepts_true", "rows_true")}


def _line(said: str, scope: str, k: int, cell: Found) -> str:
    shown = (
        f"{name} {own['said']:.2f} % of {own['published']:.1f} % rows" for name, own in cell.items()
    )
    return f"{said} {scope} k = {k}: {', '.join(shown)}"


def rows_telling(table: RecordTable, release: Release, taxonomy: Taxonomy) -> int:
    """Published records of which anything true is told: a word that they typed, or a concept."""
    levels = item_levels(table, taxonomy)
    nodes = np.split(levels.nodes, levels.level_offsets[levels.item_offsets[1:-1]])
    said = split_ragged(release.term_offsets, release.terms)
    concepts = split_ragged(release.concept_offsets, release.concepts)
    told = [np.append(t[t >= 0], c + levels.words) for t, c in zip(said, concepts, strict=True)]
    records = np.flatnonzero(release.published)
    pairs = zip(table.form_of[records].tolist(), release.class_of[records].tolist(), strict=True)
    counts = Counter(pairs)
    return sum(n for (form, row), n in counts.items() if np.isin(told[row], nodes[form]).any())


def _tellable(problem: RowProblem) -> int:
    """Records that have something in common with k people."""
    units = np.unique(candidates_of(problem, most_levels=1).units)
    return int(problem.weights[units].sum())


class Scene:
    """A log in one scope, and everything that measures releases of it alike."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        job = self._job(settings)
        log = read(job)
        self.log, self.table = log.value, analyse(job, log).value
        self.taxonomy = wordnet(settings.store).taxonomy
        self.topics = topic_map(settings.store, settings.topics)
        self.material = self._material()

    def _job(self, settings: Settings) -> Job:
        return Job.of(settings, LocalExecutor(settings.workers))

    def _material(self) -> Material:
        """What the paper's measures need; ancestors are proper, as it has them."""
        table = self.table
        distances = measure_concepts(self.taxonomy, np.unique(table.sets.concepts))
        counts = np.bincount(table.set_of[table.set_of >= 0], minlength=len(table.sets))
        centre = dataset_centre(SetCosts.of(table.sets, distances), counts)
        no_pairs = SetPairs(*NO_PAIRS, compared=0)
        return Material(table, self.taxonomy, distances, no_pairs, table.sets.row(centre))

    def first(self, found: Found) -> Release:
        return first_release(found, self.log, self.table, self.taxonomy)

    def floor(self, k: int) -> Release:
        """Held to what ours promises: nobody has most of the rows that read alike."""
        found = greedy_rows(self.table, self.taxonomy, k, vaguest=VAGUEST)
        most = self.settings.dominance
        return limit_shares(
            found, found.class_of, self.table.users, most=most, multiple=1, reason=SURPLUS
        )

    def most(self, k: int) -> Found:
        """What no release of words and concepts could exceed, in percent: information, and rows.

        Rows are those of records that share anything at all with k people, however vague.
        """
        levels = item_levels(self.table, self.taxonomy, vaguest=VAGUEST, fillers=True)
        problem = self._problem(levels, k)
        found = candidates_of(problem, most_levels=MOST_LEVELS)
        told = replace(found, bits=found.bits - WORTH)
        forms = np.repeat(np.arange(len(levels)), np.diff(levels.item_offsets))
        held = np.repeat(sums_by(forms, levels.item_bits, len(levels)), problem.units_of_form)
        bound = price_rows(problem, told, ROUNDS).bound
        anything = self._problem(item_levels(self.table, self.taxonomy, fillers=True), k)
        return {
            "said": 100 * bound / float(held @ problem.weights),
            "published": 100 * _tellable(anything) / self.log.rows_read,
        }

    def _problem(self, levels: ItemLevels, k: int) -> RowProblem:
        return row_problem(self.table, levels, k=k, l=1, precision=TIME_NONE)[0]

    def ours(self, k: int) -> Release:
        """What `flows.run` releases by default."""
        job = self._job(replace(self.settings, k=k))
        log = read(job)
        table = analyse(job, log)
        compared = compare(job, table)
        return redact(job, table, compared, cluster(job, log, table, compared)).value

    def figures(self, release: Release, k: int) -> Found:
        """All in percent. Rows are parts of all that were read, also of rejected ones."""
        table, finest = self.table, PRECISIONS[self.settings.time]
        kept, said = (
            information_kept(table, release, self.taxonomy, self.topics, finest=precision)
            for precision in (finest, TIME_NONE)
        )
        truth = truth_of(table, release, self.taxonomy)
        return {
            "kept": kept.kept_percent,
            "said": said.kept_percent,
            "times": kept.time_percent,
            "published": 100 * int(release.published.sum()) / self.log.rows_read,
            "telling": 100 * rows_telling(table, release, self.taxonomy) / self.log.rows_read,
            "concepts_true": 100 * truth.concepts_true,
            "rows_true": 100 * truth.rows_true,
            **self._as_the_paper_measures(release, k),
        }

    def _as_the_paper_measures(self, release: Release, k: int) -> Found:
        outcome = published_by_rows(self.material, release)
        loss = information_loss(
            self.table,
            release,
            self.material.centre,
            self.taxonomy,
            self.topics,
            inclusive=False,
        )
        cohesive = cohesive_shares(self.material, outcome, k)["records_below_0_45"]
        return {
            "loss": loss.percent,
            "symmetric_loss": loss.symmetric_percent,
            "records_below_0_45": 100 * cohesive,
        }


if __name__ == "__main__":
    sys.exit(main())
