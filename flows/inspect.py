"""`python -m flows.inspect`: what a log is taken for, before anything is released of it.

(A module of that name is in the standard library, too: as everywhere here, run this by `-m`.)
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from flows.cli import add_reading_options, as_typed, new_parser, run_command, settings_from

if TYPE_CHECKING:
    from flows.display import Screen
    from tasks.phases.inspect import Inspection

REMAINS: Final = "nothing is lost: nothing was to be released"
DETAILS: Final = """\
Said are names of columns, counts, formats and languages; no text of the log. Of a long file the
beginning is read. How much a release would hold is tried on a few thousand rows of it, with the
default method: a longer log holds more, because more people share a row. The last line is the
command to go on with.

examples:
  python -m flows.inspect log.csv
  python -m flows.inspect export.jsonl --person customer_id
  python -m flows.inspect logs/*.gz --json

exit codes: 0 inspected; 2 wrong usage or settings; 3 the log cannot be read; 130 interrupted
"""
SAID: Final = ("format", "encoding", "delimiter", "query_param", "sheet", "date_order", "language")
"""Options of reading that the command to go on with repeats as they are."""


def parser() -> argparse.ArgumentParser:
    about = "Say what a log is taken for, and what a release of it would hold."
    made = new_parser("python -m flows.inspect", about, DETAILS)
    made.add_argument("logs", nargs="*", metavar="LOG", help="files, folders or globs (sample)")
    add_reading_options(made)
    shown = made.add_argument_group("what you see")
    shown.add_argument("--quiet", action="store_true", help="errors only")
    shown.add_argument("--json", action="store_true", help="the same on standard output, as JSON")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(parser(), arguments, _work, REMAINS)


def _work(options: argparse.Namespace, screen: Screen) -> int:
    settings = settings_from(options)
    from flows.inspection import show_inspection
    from tasks.phases.inspect import inspect_log

    screen.say(f"logveil: {len(settings.logs)} log(s), read to be inspected")
    found = inspect_log(settings, screen.progress)
    command = next_command(options, found)
    if options.json:
        print(json.dumps(as_json(found, command), indent=2, ensure_ascii=False))
    show_inspection(screen.console, found, command)
    return 0


def next_command(options: argparse.Namespace, found: Inspection) -> str:
    """How to go on: what was said, and what is still to be said."""
    parts = list(options.logs)
    for name in SAID:
        if value := getattr(options, name):
            parts += [f"--{name.replace('_', '-')}", value]
    if options.config:
        parts += ["--config", options.config]
    if options.columns:
        parts += ["--columns", options.columns]
    if options.person:
        parts += ["--person", options.person]
    if options.exact_ids:
        parts.append("--exact-ids")
    parts += ["--any-language"] if options.any_language else []
    said = [shlex.quote(part) for part in parts] + (["--person COLUMN"] if found.doubt else [])
    return as_typed(" ".join(["python -m flows.run", *said, "--k 5", "--out release"]))


def as_json(found: Inspection, command: str) -> dict[str, Any]:
    """The inspection as plain values; shares are parts, 0 … 1."""
    languages = found.languages
    return {
        "files": [{**asdict(file), "times": times} for file, times in found.files],
        "person": {"counted": found.counted if not found.doubt else "", "doubt": found.doubt},
        "rows": {"usable": found.usable, "whole": found.is_whole, "rejected": found.rejects},
        "people": None if found.doubt else found.people,
        "queries_per_person": list(found.per_person),
        "months": list(found.span),
        "words_known": round(languages.english_words / max(1, languages.words), 3),
        "language": {
            "english": languages.is_english,
            "not_understood": round(languages.not_understood, 3),
            "by_language": languages.shown(),
        },
        "warnings": list(found.warnings),
        "estimate": {
            "rows": found.sample[0],
            "people": found.sample[1],
            "by_k": [estimate._asdict() for estimate in found.estimates],
        },
        "command": command,
    }


if __name__ == "__main__":
    sys.exit(main())
