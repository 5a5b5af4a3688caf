"""What `flows.inspect` shows, and what `flows.run` shows of it in short: names and counts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tasks.errors import printable
from tasks.schema import FileRead

if TYPE_CHECKING:
    from tasks.phases.inspect import Inspection

FORMATS: Final = {
    **{"aol": "AOL's", "csv": "CSV", "tsv": "TSV", "jsonl": "JSON Lines", "json": "JSON"},
    **{"access": "access log", "solr": "Solr's log", "slowlog": "a search engine's slow log"},
    **{"parquet": "Parquet", "xlsx": "workbook"},
}
DELIMITERS: Final = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
ENOUGH: Final = 20
"""Of fewer people the quarters are single ones'."""
BINARY: Final = ("parquet", "xlsx")


def format_of(file: FileRead) -> str:
    """CSV, semicolon, utf-8."""
    parts = [FORMATS.get(file.format, file.format)]
    if file.delimiter and file.format in ("csv", "tsv"):
        parts.append(DELIMITERS.get(file.delimiter, repr(file.delimiter)))
    return ", ".join(parts if file.format in BINARY else [*parts, file.encoding])


def in_short(file: FileRead) -> str:
    """One line about a file: log.csv: CSV, comma, utf-8; person: user_id, query: q."""
    used = [f"{one.taken_for}: {one.name}" for one in file.columns if one.taken_for != "not used"]
    return f"{file.name}: {format_of(file)}; {', '.join(used)}"


def show_inspection(console: Console, found: Inspection, command: str) -> None:
    """All of it."""
    for file, times in found.files:
        console.print(_headed(f"\n{printable(file.name)}:", format_of(file)), soft_wrap=True)
        console.print(_columns(file, times))
    console.print(_facts(found))
    console.print()
    if found.doubt:
        console.print(_headed("Who is a person?", f"{printable(found.doubt)}.\n"))
    for warning in () if found.doubt else found.warnings:
        console.print(f"warning: {printable(warning)}\n")
    if not found.languages.is_english:
        refused = (
            "A run refuses this log, unless you say --language en (it is English all the same) or "
            "--any-language (what is sensitive in it may be published).\n"
        )
        console.print(_headed("Not English.", refused))
    if found.estimates:
        (rows, people), unit = found.sample, found.counted.split(maxsplit=1)[0].strip(",")
        console.print(
            f"What a release holds, a guess: tried on {rows:,} rows by {people:,} {unit}; a longer "
            "log publishes more."
        )
        console.print(_estimates(found))
    console.print("Go on with:")
    console.print(f"  {command}", soft_wrap=True)


def _columns(file: FileRead, times: str) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    for name in ("column", "taken for", "why"):
        table.add_column(name)
    for column in file.columns:
        why = f"{column.why}; {times}" if column.taken_for == "time" and times else column.why
        table.add_row(printable(column.name), column.taken_for, why)
    return table


def _facts(found: Inspection) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("what", no_wrap=True)
    table.add_column("is")
    for what, value in _fact_rows(found):
        table.add_row(what, value)
    return table


def _fact_rows(found: Inspection) -> list[tuple[str, str]]:
    part = "" if found.is_whole else " (of the beginning of each file; it goes on)"
    aside = sum(found.rejects.values())
    rows = [("usable rows", f"{found.usable:,}{part}"), ("rows set aside", f"{aside:,}")]
    rows += [("", f"{count:,} {reason}") for reason, count in list(found.rejects.items())[:5]]
    if not found.doubt:
        rows.append(("counted", f"{found.people:,} {printable(found.counted)}"))
    if found.people >= ENOUGH and not found.doubt:
        low, middle, high = found.per_person
        rows.append(("queries of each", f"{middle} in the middle; half have {low} to {high}"))
    rows.append(("months", " to ".join(found.span) or "no times"))
    languages = found.languages
    if languages.words:
        rows.append(
            ("words known", f"{_percent(languages.english_words / languages.words)}, of English")
        )
        rows.append(("language", _language(found)))
    return rows


def _language(found: Inspection) -> str:
    parts = ", ".join(
        f"{name} {_percent(share)}" for name, share in found.languages.shown().items()
    )
    said = f"{_percent(found.languages.not_understood)} of queries are not understood"
    told = "English" if found.languages.is_english else "not English"
    return f"{told}; {said}{f' ({parts})' if parts else ''}"


def _estimates(found: Inspection) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    for name in ("k", "rows published", "information kept"):
        table.add_column(name, justify="right")
    for estimate in found.estimates:
        shares = (_percent(estimate.rows), _percent(estimate.information))
        table.add_row(str(estimate.k), *shares)
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _headed(head: str, text: str) -> Text:
    return Text.assemble((head, "bold"), f" {text}")
