"""The files of a comparison: numbers, figures, and one self-contained page that opens from disk."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tasks.adapters.pages.numbers import count, percent, plain
from tasks.adapters.pages.page import Figure, picture_file, render
from tasks.adapters.release_files import ASIDE
from tasks.evaluation.figures import TASK_NAMES, WIDE, figures, mean_score, say_which_k
from tasks.runtime.files import NOT_FOR_ALL

TEMPLATES: Final = Path(__file__).parent / "templates"
PAGE: Final = "comparison.html"
Row = tuple[str, ...]
"""Of a table: a name and its cells."""


def write_comparison(out: Path, found: dict[str, Any]) -> None:
    """Write numbers, figures and the page aside, then put them in place.

    The page comes last, and an old one goes first: where it is, all that belongs to it is. An
    interrupt in between leaves nothing of either.
    """
    drawn = figures(found)
    contents = {
        "comparison.json": json.dumps(found, indent=2, ensure_ascii=False),
        **{f"{figure.name}.svg": picture_file(figure.drawn, WIDE) for figure in drawn},
        PAGE: render_page(found, drawn),
    }
    made, aside = not out.exists(), out / f"{ASIDE}{os.getpid()}"
    try:
        out.mkdir(NOT_FOR_ALL, parents=True, exist_ok=True)
        aside.mkdir(exist_ok=True)
        for name, content in contents.items():
            (aside / name).write_text(content, encoding="utf-8")
        (out / PAGE).unlink(missing_ok=True)
        _put_in_place(aside, out, list(contents))
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if made:
            with suppress(OSError):
                out.rmdir()


def _put_in_place(aside: Path, out: Path, names: Sequence[str]) -> None:
    try:
        for name in names:
            (aside / name).replace(out / name)
    except BaseException:
        for name in names:
            (out / name).unlink(missing_ok=True)
        raise


def render_page(found: dict[str, Any], drawn: Sequence[Figure]) -> str:
    """The page, with these figures."""
    return render(
        TEMPLATES,
        "comparison.html",
        found=found,
        contest=_contest(found),
        task_names=list(TASK_NAMES.values()),
        which_k=say_which_k(found),
        methods=_methods(found, str(found["settings"]["k"])),
        fronts=_fronts(found),
        figures=drawn,
        peers=[_peer(own) for own in found["peers"]],
    )


def _contest(found: dict[str, Any]) -> list[Row]:
    """The tasks of everybody: the raw log, then those that hold k, the most useful first."""
    k, tasks = found["settings"]["k"], found["tasks"]
    best = {task: own["best"] for task, own in tasks["verdicts"].items()}
    ordered = sorted(
        tasks["methods"].items(),
        key=lambda entry: (entry[1]["least_people"] < k, -mean_score(entry[1])),
    )
    rows = [("the raw log", "", "1.00", *_scores(tasks["raw"], {}, ""), "", "")]
    for name, own in ordered:
        held = "✓" if own["least_people"] >= k else "✗"
        people = f"{count(own['least_people'])} {held}" if own["least_people"] else "none"
        private = f"{own['epsilon']:.2g}, {own['delta']:.0e}" if own["epsilon"] else ""
        scores = (f"{mean_score(own):.2f}", *_scores(own, best, name))
        rows.append((name, people, *scores, percent(100 * own["rows_published"]), private))
    return rows


def _scores(entry: dict[str, Any], best: dict[str, str], name: str) -> list[str]:
    return [
        (f"{entry['scores'][task]:.2f}" + (" ●" if best.get(task) == name else ""))
        if task in entry["scores"]
        else "–"
        for task in TASK_NAMES
    ]


def _methods(found: dict[str, Any], k: str) -> list[Row]:
    front = found["fronts"]["mean"][k]["front"]
    return [
        (name, *_cells(method["by_k"][k]), "yes" if name in front else "")
        for name, method in found["methods"].items()
    ]


def _cells(cell: dict[str, Any]) -> list[str]:
    return [
        count(cell["groups"]),
        count(cell["largest"]),
        count(cell["least_people"]),
        count(cell["records_below_k"]),
        percent(100 * cell["withheld"]),
        percent(cell["information_kept"]),
        percent(100 * cell["rows_published"]),
        percent(100 * cell["false_concepts"]),
        percent(cell["loss"]),
        percent(cell["symmetric_loss"]),
        percent(100 * cell["risk"]),
        percent(100 * cell["worst_risk"]),
        percent(100 * cell["groups_below_0_45"]),
        percent(100 * cell["records_below_0_45"]),
        f"{cell['seconds']:.2f}",
    ]


def _fronts(found: dict[str, Any]) -> list[Row]:
    """For each k who is on the front, by mean risk, and whether adaptive is, by either risk."""
    rows: list[Row] = []
    for k, own in found["fronts"]["mean"].items():
        worst = found["fronts"]["worst"][k]["adaptive_beaten_by"]
        verdicts = (_verdict(own["adaptive_beaten_by"]), _verdict(worst))
        rows.append((k, *verdicts, ", ".join(own["front"])))
    return rows


def _verdict(beaten_by: list[str]) -> str:
    return f"beaten by {', '.join(beaten_by)}" if beaten_by else "on the front"


def _peer(own: dict[str, Any]) -> Row:
    if "reason" in own:
        return own["name"], own["about"], f"skipped: {own['reason']}", "", "", ""
    times = (plain(own["seconds"]), plain(own["our_mdav_seconds"]))
    return (
        *(own["name"], own["about"], *times),
        *(count(own["least_people"]), percent(own["symmetric_loss"])),
    )
