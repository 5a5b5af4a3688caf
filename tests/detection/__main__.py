"""Print precision, recall and F1 per kind, beside presidio alone and WordNet's first sense alone.

python -m tests.detection [--split dev|test|fresh] [--errors]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.detection.labels import SPLITS, LabelledQuery, read_split
from tests.detection.scores import Score, Share, judge, scores
from tests.detection.systems import SYSTEMS, System

STORE = Path(tempfile.gettempdir()) / "logveil-test-store"


def main() -> None:
    """Measure all systems on one split."""
    parser = argparse.ArgumentParser(prog="python -m tests.detection", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, default="test")
    parser.add_argument("--errors", action="store_true", help="list what ours misses and makes up")
    chosen = parser.parse_args()
    queries = read_split(chosen.split)
    labels = sum(len(query.labels) for query in queries)
    print(f"split {chosen.split}: {len(queries)} queries, {labels} labels; 95 % Wilson intervals\n")
    for name, build in SYSTEMS.items():
        system = build(STORE)
        found = scores(judge(query, system(query.text)) for query in queries)
        print("\n".join(table(name, found)), end="\n\n")
    if chosen.errors:
        print("\n".join(errors(SYSTEMS["ours"](STORE), queries)))


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


def _cell(share: Share) -> str:
    low, high = share.interval
    return f"{share.value:.3f} [{low:.2f}, {high:.2f}] {share.hits}/{share.total}"


def errors(system: System, queries: Sequence[LabelledQuery]) -> list[str]:
    """Labels missed and findings that are none, with their queries."""
    lines = []
    for query in queries:
        findings = system(query.text)
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
