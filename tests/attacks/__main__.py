"""Attack releases and print how often that succeeds, against chance, with 95 % intervals.

    python -m tests.attacks RELEASE... --raw LOG... --audit FILE... [--active N] [--json]

RELEASE is a folder that `flows.run` wrote, or one of an edition; FILE is what `flows.verify RELEASE
--audit FILE` wrote. Attacks that need several releases or make some themselves are tried where
they can be. The output names no person and no query. Exit code 0: every promise held; 1: an
attack succeeded; 2: something is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attacks.differencing import differencing, left_out
from tests.attacks.dominance import dominance
from tests.attacks.evidence import Evidence, EvidenceError, read_evidence, read_logs
from tests.attacks.intersection import intersection
from tests.attacks.releasing import releaser
from tests.attacks.singling_out import singling_out
from tests.attacks.sybil import sybil
from tests.attacks.trials import Trial, table

PASSIVE = (singling_out, intersection, dominance)
"""Attacks that need nothing but releases."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack as the command line says."""
    chosen = _parser().parse_args(arguments)
    try:
        evidence = read_evidence(chosen.releases, chosen.raw, chosen.audit, chosen.k)
        trials = passive(evidence)
        if chosen.without:
            trials += differencing([(chosen.releases[0], chosen.without)], evidence.k)
        if chosen.active:
            trials += active(evidence, chosen.raw, chosen.active)
    except (EvidenceError, OSError) as error:
        print(f"attacks: {error}", file=sys.stderr)
        return 2
    shown = json.dumps([trial.figures() for trial in trials], indent=1) if chosen.json else None
    print(shown or f"k = {evidence.k}, {evidence.population:,} people\n\n{table(trials)}")
    return int(any(trial.succeeds and trial.promised for trial in trials))


def passive(evidence: Evidence) -> list[Trial]:
    """Attacks by whoever reads."""
    return list(chain.from_iterable(attack(evidence) for attack in PASSIVE))


def active(evidence: Evidence, logs: Sequence[Path], targets: int) -> list[Trial]:
    """Attacks by whoever acts: the log is changed and released again, with the same settings."""
    rows = read_logs(logs)[["user", "text", "time"]]
    usable = [row for row in rows.itertuples(index=False, name=None) if all(row)]
    with TemporaryDirectory() as folder:
        make = releaser(Path(folder), evidence.settings)
        found: Iterator[Trial] = chain(
            differencing(left_out(usable, make, min(targets, 5)), evidence.k),
            sybil(usable, make, evidence.k, targets),
        )
        return list(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.attacks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("releases", nargs="+", type=Path, metavar="RELEASE")
    parser.add_argument("--raw", nargs="+", type=Path, required=True, metavar="LOG")
    parser.add_argument("--audit", nargs="+", type=Path, required=True, metavar="FILE")
    parser.add_argument("--k", type=int, help="people behind each row (default: as released)")
    parser.add_argument(
        "--without", type=Path, metavar="RELEASE", help="a release of the log without one person"
    )
    parser.add_argument(
        "--active",
        type=int,
        default=0,
        metavar="N",
        help="change the log and release it again: N Sybil attacks, up to 5 people left out",
    )
    parser.add_argument("--json", action="store_true", help="all figures as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
