"""The command line: `logveil COMMAND`, and what its commands share.

Each command is a module of `flows` with a parser and a `main`, which `python -m flows.run` calls as
well. Heavy libraries are imported only after the first line is on the screen.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flows.config_file import CONFIG_FILE, config_of, only_settings
from flows.process import interrupted, noting_interrupts, speak_to_any_terminal
from tasks.errors import LogveilError, UsageError
from tasks.folders import default_store
from tasks.settings import CHOICES, Settings
from tasks.version import VERSION

if TYPE_CHECKING:
    from flows.display import Screen

COMMANDS: Final = {
    "inspect": "what a log is taken for, before anything is released",
    "run": "one release from log files",
    "inbox": "release the files that have come into a folder",
    "verify": "prove an existing release again",
    "compare": "all methods, baselines and peers on one log, side by side",
    "sample": "a synthetic query log to try things on",
}
EXAMPLES: Final = """\
examples:
  logveil inspect log.csv                          its columns, people, language; what k costs
  logveil run                                      the sample log that comes with it, to ./release
  logveil run log.tsv --k 10 --out release-10      ten people behind every published record
  logveil verify release-10                        prove it once more, from the file
  logveil inbox --inbox incoming --out published   what has come in, as one more release
  logveil sample --queries 10000 --users 800 > log.tsv
  logveil compare log.tsv --out comparison         needs: pip install 'logveil[compare]'

logveil COMMAND --help tells all options of a command, its files and its exit codes.

Tab completes commands and options after: pip install 'logveil[completion]', and in bash or zsh
  eval "$(register-python-argcomplete logveil)"
"""

Work = Callable[[argparse.Namespace, "Screen"], int]
"""Does what the options ask for, shows it, and returns the exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    """`logveil COMMAND …`: hand the rest of the line to the command; returns the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    speak_to_any_terminal()
    options = _logveil_parser().parse_args(arguments)
    code: int = import_module(f"flows.{options.command}").main(options.arguments)
    return code


def _logveil_parser() -> argparse.ArgumentParser:
    about = "Query logs to releases in which every published record stands for at least k people."
    listed = "".join(f"  {name:<9} {what}\n" for name, what in COMMANDS.items())
    made = new_parser("logveil", about, f"commands:\n{listed}\n{EXAMPLES}")
    made.add_argument("--version", action="version", version=f"logveil {VERSION}")
    made.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="what to do, see below")
    made.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="of the command")
    return made


def _complete() -> None:
    """Answer the shell, which asks what may follow, and leave."""
    import argcomplete

    whole = argparse.ArgumentParser(prog="logveil", allow_abbrev=False)
    whole.add_argument("--version", action="store_true")
    commands = whole.add_subparsers()
    for name in COMMANDS:
        own = import_module(f"flows.{name}").parser()
        commands.add_parser(name, parents=[own], add_help=False)
    argcomplete.autocomplete(whole)


def new_parser(prog: str, description: str, examples: str) -> argparse.ArgumentParser:
    """A parser whose help ends with examples, called by the name that the user typed."""
    return argparse.ArgumentParser(
        prog=as_typed(prog),
        description=description,
        epilog=as_typed(examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def as_typed(text: str) -> str:
    """Modules that were reached by `logveil run` do not speak of `python -m flows.run`."""
    typed = Path(sys.argv[0]).stem
    return text.replace("python -m flows.", "logveil ") if typed == "logveil" else text


def run_command(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, work: Work, remains: str
) -> int:
    """Run a command; returns the exit code.

    Args:
        remains: what to say of an interrupted run.
    """
    speak_to_any_terminal()
    options = parser.parse_args(arguments)
    from flows.display import Screen

    try:
        with noting_interrupts():
            options.in_file = config_of(options.config)
            return work(options, Screen(quiet=options.quiet, stderr=options.json))
    except LogveilError as fault:
        return _failed(str(fault), fault.exit_code)
    except TimeoutError:
        return _failed(f"the run took longer than LOGVEIL_TIMEOUT_SECONDS; {remains}", 1)
    except KeyboardInterrupt:
        return interrupted(remains)


def _failed(message: str, exit_code: int) -> int:
    print(f"logveil: {message}", file=sys.stderr)
    return exit_code


# Options that commands share, and their translation into settings


NUMBERS: dict[str, type[int] | type[float]] = {
    "k": int,
    "l": int,
    "dominance": float,
    "threshold": float,
    "workers": int,
    "keep_editions": int,
    "store_limit": float,
    "memory": float,
    "worker_memory": float,
    "epsilon": float,
    "delta": float,
    "budget": float,
}


def _choice(name: str) -> str:
    return "|".join(CHOICES[name])


def add_release_options(parser: argparse.ArgumentParser) -> None:
    """All options that decide what is released; their checks are made together later."""
    people = parser.add_argument_group("what is promised")
    people.add_argument("-k", "--k", metavar="N", help="people behind every published record (5)")
    people.add_argument(
        "--l", metavar="N", help="people with different sensitive sets behind a row (1)"
    )
    people.add_argument(
        "--dominance",
        metavar="X",
        help="no person has more than this share of the rows that read alike (0.5)",
    )
    people.add_argument(
        "--rounding",
        action="store_true",
        default=None,
        help="as many rows read alike as a multiple of k: exact numbers would show one row more",
    )
    people.add_argument(
        "--guarantee",
        metavar=_choice("guarantee"),
        help="strict: every published row is shared by k people (default); terms: every word is; "
        "paper: the paper's redaction, no k-anonymity",
    )
    people.add_argument(
        "--time",
        metavar=_choice("time"),
        help="finest time that is ever published, by any row (month); a finer one makes it easier "
        "to find somebody by queries planted in the log",
    )
    people.add_argument(
        "--counts",
        metavar=_choice("counts"),
        help="dp: also counts.tsv, people per word and concept, differentially private (none)",
    )
    people.add_argument("--epsilon", metavar="X", help="of the counts of one release; 1, say")
    people.add_argument("--delta", metavar="X", help="of all counts of these people; 1e-6, say")
    people.add_argument(
        "--budget", metavar="X", help="epsilon of all counts of these people (epsilon: once)"
    )
    people.add_argument("--method", metavar=_choice("method"), help="clustering (adaptive)")
    people.add_argument("--release-format", metavar=_choice("release_format"), help="(tsv)")
    add_reading_options(parser)
    _add_engine_options(parser)
    _add_certificate_options(parser)
    parser.add_argument(
        "--print-config",
        action="store_true",
        help=f"write what all this says as a {CONFIG_FILE} to standard output, and do nothing",
    )


def add_config_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        help=f"settings in TOML (./{CONFIG_FILE} if it is there); options win",
    )


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Options that decide how logs are read and records compared, whatever becomes of them."""
    how = parser.add_argument_group("how")
    how.add_argument(
        "--scope", metavar=_choice("scope"), help="which nouns and verbs are attributes (sensitive)"
    )
    how.add_argument("--topics", metavar="FILE", help="own sensitive topics, TOML")
    how.add_argument("--threshold", metavar="X", help="similar from this similarity on (0.8)")
    how.add_argument(
        "--ancestors",
        metavar=_choice("ancestors"),
        help="Eq. 1's T(x), for methods that compare records (inclusive; proper for paper)",
    )
    how.add_argument("--distance", metavar=_choice("distance"), help="Eq. 8 (jaccard)")
    how.add_argument("--spacy-model", metavar="NAME", help="a trained spaCy pipeline you have")
    files = parser.add_argument_group("files")
    add_config_option(files)
    files.add_argument("--format", metavar=_choice("format"), help="of the logs (auto)")
    files.add_argument(
        "--columns", metavar="user=…,query=…,time=…", help="names, or numbers, of the columns"
    )
    files.add_argument("--encoding", metavar="NAME", help="of text: utf-8, cp1252, … (auto)")
    files.add_argument(
        "--delimiter", metavar="C", help="between the fields of CSV (auto: comma, ;, | or tab)"
    )
    files.add_argument(
        "--query-param", metavar="NAME", help="of an access log: ?NAME=… is a search (q, query, …)"
    )
    files.add_argument("--sheet", metavar="NAME", help="of a workbook (the one that has cells)")
    files.add_argument(
        "--date-order", metavar=_choice("date_order"), help="what 03/04/2006 is (auto)"
    )
    files.add_argument(
        "--person",
        metavar="COLUMN|session:COLUMN|row",
        help="who is counted by k, if no column's name says it beyond doubt; sessions and rows are "
        "not people, and the release says so",
    )
    files.add_argument(
        "--language",
        metavar=_choice("language"),
        help="of the queries, if their words look otherwise (auto: a log that is not English is "
        "refused)",
    )
    files.add_argument(
        "--any-language",
        action="store_true",
        help="release it although part of it is not English: what is sensitive there is not known",
    )
    files.add_argument(
        "--exact-ids",
        action="store_true",
        help="ids that differ by case, or by characters that nobody sees, are different people",
    )
    files.add_argument(
        "--store",
        metavar="DIR",
        help=f"private: ledger, secret, cache; or s3://… with Dask ({default_store()}, and the "
        "cache in the user's cache folder)",
    )
    files.add_argument(
        "--store-limit", metavar="GB", help="room for its cache; less only costs time (10)"
    )
    files.add_argument("--workers", metavar="N", help="processes to use (all cores)")
    files.add_argument(
        "--memory",
        metavar="GB",
        help="for the run and its workers together, as 8GB: what of a log does not fit waits on "
        "the disk (half of this machine's)",
    )
    files.add_argument(
        "--temp",
        metavar="DIR",
        help="private: where that waits, in files that nobody can open (the store's cache)",
    )


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


def _add_certificate_options(parser: argparse.ArgumentParser) -> None:
    said = parser.add_argument_group(
        "what the certificate says",
        "report.html and README.md; what is not given is a line to fill in by hand",
    )
    said.add_argument("--title", metavar="TEXT", help="of the release")
    said.add_argument("--purpose", metavar="TEXT", help="what it is published for")
    said.add_argument("--operator", metavar="TEXT", help="who made it, and answers for the log")
    said.add_argument("--approver", metavar="TEXT", help="who signs that it may be published")
    said.add_argument(
        "--review-date", metavar="DATE", help="when it is looked at again: 2027-01-31"
    )
    said.add_argument("--contact", metavar="TEXT", help="whom recipients may ask")
    said.add_argument("--licence", metavar="TEXT", help="under which it may be used")


def add_shown_options(parser: argparse.ArgumentParser, json_shows: str) -> None:
    """Options that decide what is on the screen."""
    shown = parser.add_argument_group("what you see")
    shown.add_argument("--quiet", action="store_true", help="errors only")
    shown.add_argument("--json", action="store_true", help=f"{json_shows} on standard output")
    shown.add_argument("--bare", action="store_true", help="the same phases without Prefect")


def settings_from(arguments: argparse.Namespace) -> Settings:
    """Check everything that was said, on the line or else in the file; all faults in one error."""
    faults: list[str] = []
    chosen = only_settings(arguments.in_file)
    for name in Settings.__dataclass_fields__:
        value = getattr(arguments, name, None)
        if value is None or value == [] or value is False:
            continue
        try:
            chosen[name] = _convert(name, value)
        except UsageError as fault:
            faults.extend(fault.args)
    _let_the_line_win(arguments, chosen)
    if getattr(arguments, "bare", False) and chosen.get("runner") == "dask":
        faults.append("runner dask is one of Prefect's: leave out --bare")
    try:
        settings = Settings(**chosen)
    except UsageError as fault:
        faults.extend(fault.args)
    if faults:
        raise UsageError(*faults)
    return settings


def _let_the_line_win(arguments: argparse.Namespace, chosen: dict[str, Any]) -> None:
    """`--person` and `--columns user=` say the same: either takes the other's place."""
    if arguments.person and "columns" in chosen and not arguments.columns:
        chosen["columns"] = {r: n for r, n in chosen["columns"].items() if r != "user"}
    if "user" in chosen.get("columns", {}) and arguments.columns and not arguments.person:
        chosen.pop("person", None)


def _convert(name: str, value: Any) -> Any:
    if name in NUMBERS:
        try:
            return NUMBERS[name](_without_unit(value) if name == "memory" else value)
        except ValueError:
            raise UsageError(f"{name} must be a number, not {value!r}") from None
    if name == "columns":
        return _columns(value)
    return tuple(value) if isinstance(value, list) else value


def _without_unit(value: Any) -> Any:
    """8GB, 8 GB and 8 are one."""
    return (
        value.strip().upper().removesuffix("B").removesuffix("G") if str is type(value) else value
    )


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part]
    if not all(middle and name.strip() for _, middle, name in pairs):
        raise UsageError(f"columns must look like user=…,query=…,time=…, not {text!r}")
    return {role.strip(): name.strip() for role, _, name in pairs}
