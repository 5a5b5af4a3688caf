"""Options that the commands share, and their translation into settings."""

from __future__ import annotations

import argparse
from typing import Any

from tasks.core.errors import UsageError
from tasks.settings import CHOICES, Settings, default_store

NUMBERS: dict[str, type[int] | type[float]] = {
    "k": int,
    "l": int,
    "threshold": float,
    "workers": int,
    "keep_editions": int,
    "store_limit": float,
    "worker_memory": float,
}


def _choice(name: str) -> str:
    return "|".join(CHOICES[name])


def add_release_options(parser: argparse.ArgumentParser) -> None:
    """All options that decide what is released; their checks are made together later."""
    people = parser.add_argument_group("what is promised")
    people.add_argument("--k", metavar="N", help="people behind every published record (5)")
    people.add_argument("--l", metavar="N", help="distinct original sets in every cluster (1)")
    people.add_argument(
        "--guarantee",
        metavar=_choice("guarantee"),
        help="strict: every published row is shared by k people (default); terms: every word is; "
        "paper: the paper's redaction, no k-anonymity",
    )
    people.add_argument("--method", metavar=_choice("method"), help="clustering (adaptive)")
    people.add_argument("--release-format", metavar=_choice("release_format"), help="(tsv)")
    add_reading_options(parser)
    _add_engine_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Options that decide how logs are read and records compared, whatever becomes of them."""
    how = parser.add_argument_group("how")
    how.add_argument(
        "--scope", metavar=_choice("scope"), help="which nouns and verbs are attributes (sensitive)"
    )
    how.add_argument("--topics", metavar="FILE", help="own sensitive topics, TOML")
    how.add_argument("--threshold", metavar="X", help="similar from this similarity on (0.8)")
    how.add_argument("--ancestors", metavar=_choice("ancestors"), help="Eq. 1's T(x) (proper)")
    how.add_argument("--distance", metavar=_choice("distance"), help="Eq. 8 (jaccard)")
    how.add_argument("--spacy-model", metavar="NAME", help="a trained spaCy pipeline you have")
    files = parser.add_argument_group("files")
    files.add_argument("--format", metavar=_choice("format"), help="of the logs (auto)")
    files.add_argument(
        "--columns", metavar="user=…,query=…,time=…", help="names, or numbers, of the columns"
    )
    files.add_argument(
        "--store", metavar="DIR", help=f"private cache, or s3://… with Dask ({default_store()})"
    )
    files.add_argument(
        "--store-limit", metavar="GB", help="room for its cache; less only costs time (10)"
    )
    files.add_argument("--workers", metavar="N", help="processes to use (all cores)")


def _add_engine_options(parser: argparse.ArgumentParser) -> None:
    engine = parser.add_argument_group("past one machine")
    engine.add_argument(
        "--runner",
        metavar=_choice("runner"),
        help="who does the work of --workers: processes of this machine (local), or Dask",
    )
    engine.add_argument(
        "--dask-address", metavar="URL", help="of the scheduler, tcp://…:8786 (a cluster here)"
    )
    engine.add_argument("--worker-memory", metavar="GB", help="of each Dask worker (2)")


def settings_from(arguments: argparse.Namespace) -> Settings:
    """Check everything that was said; all faults come in one error."""
    faults: list[str] = []
    chosen: dict[str, Any] = {}
    for name in Settings.__dataclass_fields__:
        value = getattr(arguments, name, None)
        if value is None or value == []:
            continue
        try:
            chosen[name] = _convert(name, value)
        except UsageError as fault:
            faults.append(str(fault))
    if getattr(arguments, "bare", False) and chosen.get("runner") == "dask":
        faults.append("runner dask is one of Prefect's: leave out --bare")
    try:
        settings = Settings(**chosen)
    except UsageError as fault:
        faults.append(str(fault))
    if faults:
        raise UsageError("\n".join(faults))
    return settings


def _convert(name: str, value: Any) -> Any:
    if name in NUMBERS:
        try:
            return NUMBERS[name](value)
        except ValueError:
            raise UsageError(f"{name} must be a number, not {value!r}") from None
    if name == "columns":
        return _columns(value)
    return tuple(value) if isinstance(value, list) else value


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part]
    if not all(middle and name.strip() for _, middle, name in pairs):
        raise UsageError(f"columns must look like user=…,query=…,time=…, not {text!r}")
    return {role.strip(): name.strip() for role, _, name in pairs}
