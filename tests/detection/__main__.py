"""Print precision, recall and F1 per kind, and how many sensitive queries were missed altogether.

python -m tests.detection [--split dev|test|fresh] [--errors]
    beside presidio alone and WordNet's first sense alone
python -m tests.detection --labels FILE [--json] [--errors]
    on any file of labelled queries; no text of it is printed unless --errors is given
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.detection.labels import FOLDER, SPLITS, LabelledQuery, read_labels
from tests.detection.scores import (
    Finding,
    Overlooked,
    Score,
    Share,
    judge,
    overlooked,
    scores,
)
from tests.detection.systems import SYSTEMS, System

STORE = Path(tempfile.gettempdir()) / "logveil-test-store"


def main() -> None:
    """Measure all systems on one split, or ours on a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.detection",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--split", choices=SPLITS, default="test")
    source.add_argument("--labels", type=Path, metavar="FILE", help="JSON Lines or lines")
    parser.add_argument("--json", action="store_true", help="the totals of ours as JSON")
    parser.add_argument("--errors", action="store_true", help="list what ours misses and makes up")
    chosen = parser.parse_args()
    path: Path = chosen.labels or FOLDER / f"{chosen.split}.txt"
    try:
        queries = read_labels(path)
    except (OSError, ValueError) as fault:
        parser.error(str(fault))
    ours = SYSTEMS["ours"](STORE)
    findings = [ours(query.text) for query in queries]
    if chosen.json:
        print(json.dumps(totals(queries, findings), indent=2))
    else:
        print_tables(path.stem, queries, findings, alone=chosen.labels is not None)
    if chosen.errors:
        print("\n".join(errors(queries, findings)))


def print_tables(
    name: str, queries: Sequence[LabelledQuery], ours: Sequence[list[Finding]], *, alone: bool
) -> None:
    """One table a system, and what ours overlooked."""
    labels = sum(len(query.labels) for query in queries)
    print(f"{name}: {len(queries)} queries, {labels} labels; 95 % Wilson intervals\n")
    print("\n".join(table("ours", scores(map(judge, queries, ours)))), end="\n\n")
    print("\n".join(missed_lines(overlooked(zip(queries, ours, strict=True)))), end="\n\n")
    for other, build in SYSTEMS.items():
        if other != "ours" and not alone:
            system: System = build(STORE)
            found = scores(judge(query, system(query.text)) for query in queries)
            print("\n".join(table(other, found)), end="\n\n")


def table(name: str, found: dict[str, Score]) -> list[str]:
    """One line a kind that has labels or findings."""
    head = f"{name:<26}{'precision':>26}{'recall':>28}{'F1':>7}{'kind agreed':>13}"
    rows = [
        f"{kind:<26}{_cell(score.precision):>26}  {_cell(score.recall):>26}"
        f"{score.f1:>7.3f}{score.kind_agreed.value:>13.3f}"
        for kind, score in found.items()
        if score.precision.total or score.recall.total
    ]
    return [head, *rows]


def missed_lines(missed: Overlooked) -> list[str]:
    """Sensitive queries in which nothing was found, and innocent ones that were marked."""
    named = {kind or "any label": share for kind, share in sorted(missed.nothing_found.items())}
    return [
        "queries in which no label was touched, by what they hold",
        *(f"{kind:<26}{_cell(share):>26}" for kind, share in named.items()),
        f"{'innocent, but marked':<26}{_cell(missed.innocent_marked):>26}",
    ]


def _cell(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.3f} [{low:.2f}, {high:.2f}] {share.hits}/{share.total}"


def totals(
    queries: Sequence[LabelledQuery], findings: Sequence[list[Finding]]
) -> dict[str, object]:
    """What the tables say, as plain values; a share of nothing is null."""
    missed = overlooked(zip(queries, findings, strict=True))
    return {
        **{
            kind.removeprefix("= "): {
                "recall": _value(score.recall),
                "precision": _value(score.precision),
                "hits": score.recall.hits,
                "labels": score.recall.total,
                "findings": score.precision.total,
            }
            for kind, score in scores(map(judge, queries, findings)).items()
        },
        "queries": len(queries),
        "nothing_found": _value(missed.nothing_found[""]),
        "nothing_found_by_kind": {
            kind: _value(share) for kind, share in sorted(missed.nothing_found.items()) if kind
        },
        "innocent_marked": _value(missed.innocent_marked),
    }


def _value(share: Share) -> float | None:
    return round(share.value, 4) if share.total else None


def errors(queries: Sequence[LabelledQuery], found: Sequence[list[Finding]]) -> list[str]:
    """Labels missed and findings that are none, with their queries."""
    lines = []
    for query, findings in zip(queries, found, strict=True):
        for label in query.labels:
            (judged,) = judge(LabelledQuery(query.text, (label,), ""), findings)[0] or (None,)
            if judged is not None and not judged.met:
                words = query.text[label.start : label.end]
                lines.append(f"missed {label.kind}: {words!r} in {query.text!r}")
        for finding in findings:
            if any(not own.met for own in judge(query, [finding])[1]):
                words = query.text[finding.start : finding.end]
                lines.append(f"no {finding.kind}: {words!r} in {query.text!r}")
    return lines


if __name__ == "__main__":
    main()
