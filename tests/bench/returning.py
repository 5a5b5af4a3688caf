"""What it costs that people who return keep their company: `python -m tests.bench.returning`.

A generated log, ordered by time, comes in several files; each is appended to one edition. Counted
with the rule and without it: rows published and waiting, and units (a person and a query) that
several classes tell, with the people whom all of these have in common.
"""

from __future__ import annotations

import argparse
import io
import json
import re
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from flows.inbox import main as inbox
from tasks.adapters.published import provenance_of
from tasks.adapters.wordnet import load_wordnet
from tasks.core.records import RETURNING, Flags, Longs
from tasks.core.rows.returning import Company
from tasks.phases import cluster as cluster_phase
from tasks.phases import verify as verify_phase
from tests.helpers.generated import generated_lines

TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def write_batches(folder: Path, count: int, *, queries: int, users: int, seed: int) -> None:
    """The rows by time, in files of equal size."""
    header, rows = generated_lines(queries, users, seed)
    ordered = sorted(rows, key=lambda row: (TIME.findall(row), row))
    folder.mkdir(parents=True)
    for number in range(count):
        part = ordered[len(rows) * number // count : len(rows) * (number + 1) // count]
        (folder / f"part{number:02d}.tsv").write_text(header + "".join(part), encoding="utf-8")


def stay(classes: Longs, company: Company, *, k: int) -> tuple[Longs, Flags]:
    return classes, np.zeros(len(classes), dtype=np.bool_)


def take_all(company: Company, *, k: int) -> Flags:
    return np.zeros(len(company.met_of), dtype=np.bool_)


def without_the_rule(stack: ExitStack) -> None:
    """Nobody leaves a class, and nobody complains."""
    stack.enter_context(patch.object(cluster_phase, "keep_company", stay))
    stack.enter_context(patch.object(cluster_phase, "never_enough", take_all))
    stack.enter_context(patch.object(verify_phase, "faults_of_edition", lambda *_: []))


def appended(folder: Path, store: Path, options: argparse.Namespace, *, rule: bool) -> Any:
    """What an edition of all files comes to."""
    log = {"queries": options.queries, "users": options.users, "seed": options.seed}
    write_batches(folder / "inbox", options.batches, **log)
    out = folder / "out"
    given = ["--inbox", str(folder / "inbox"), "--out", str(out), "--store", str(store)]
    given += ["--settle", "0", "--bare", "--json", "--k", str(options.k), "--scope", options.scope]
    told = io.StringIO()
    with ExitStack() as stack:
        if not rule:
            without_the_rule(stack)
        stack.enter_context(redirect_stderr(io.StringIO()))
        stack.enter_context(redirect_stdout(told))
        assert inbox(given) == 0
    released = json.loads(told.getvalue())["released"]
    files = sorted(out.glob("edition-*/release-*/release.tsv"))
    left, last = people_left(store, files), provenance_of(store, files[-1]).read
    return {
        "published": sum(entry["records"]["published"] for entry in released),
        "waiting": released[-1]["waiting"],
        "of these because they return": int((last.reason_of == RETURNING).sum()),
        "units in several classes": len(left),
        "of these left with fewer than k people": sum(count < options.k for count in left),
        "of these left with one": left.count(1),
    }


def people_left(store: Path, files: list[Path]) -> list[int]:
    """People whom all classes of a unit share, where it has several."""
    members: dict[tuple[str, str], set[int]] = {}
    told: dict[int, set[tuple[str, str]]] = {}
    for file in files:
        behind = provenance_of(store, file)
        rows = file.read_text(encoding="utf-8").splitlines()[1:]
        for row, user, unit in zip(rows, behind.users.tolist(), behind.units.tolist(), strict=True):
            own = (file.parent.name, row)
            members.setdefault(own, set()).add(user)
            told.setdefault(unit, set()).add(own)
    several = (own for own in told.values() if len(own) > 1)
    return [len(set.intersection(*(members[each] for each in own))) for own in several]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.returning", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=800)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--scope", default="all")
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        store = Path(place) / "store"
        load_wordnet(store)
        for rule in (True, False):
            found = appended(Path(place) / f"rule-{rule}", store, options, rule=rule)
            print("with the rule:" if rule else "without:", json.dumps(found))


if __name__ == "__main__":
    main()
