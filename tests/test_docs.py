"""README and docs: what they point to exists, what they promise of commands is so."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tasks.core.measures.public import rounding_table
from tests.bench.page import page, read_figures
from tests.bench.sizing import sizes

ROOT: Final = Path(__file__).parent.parent
DOCS: Final = ROOT / "docs"
PAGES: Final = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
README_LINES: Final = 150
LINK: Final = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
ANCHOR: Final = re.compile(r'<a id="([\w-]+)"></a>')
DECISION: Final = re.compile(r'<a id="([\w-]+)"></a>\n\*\*(\d+)\. ')
NAMED_PLACE: Final = re.compile(
    r"`((?:tasks|flows|tests|deployments|docs)/[\w./-]*)(?:: (\w+(?:, \w+)*))?`"
)
NAMED_MODULE: Final = re.compile(r"python -m ((?:tasks|flows|tests|deployments)(?:\.\w+)*)")
OPTION: Final = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
COMMANDS: Final = ("run", "inbox", "compare", "verify", "sample")
COMMAND_LINE: Final = re.compile(rf"(?:logveil |flows\.)({'|'.join(COMMANDS)})\b([^`\n#|]*)")
OTHERS: Final = {
    *("--nthreads", "--memory-limit"),  # of `dask worker`
    *("--owner", "--times", "--split", "--labels", "--help"),  # of createdb, of the tests
    *("--only", "--json", "--sizes", "--scopes", "--peers", "--profile"),  # of tests.bench
    "--work",  # of tests.bench.large
    *("--raw", "--active", "--without"),  # of tests.attacks
}


def words(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def slug(heading: str) -> str:
    """GitHub's anchor of a heading."""
    plain = re.sub(r"[`*]|\[([^\]]+)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@cache
def anchors(path: Path) -> set[str]:
    return {slug(heading) for heading in HEADING.findall(words(path))} | set(
        ANCHOR.findall(words(path))
    )


def links() -> Iterator[tuple[Path, str, str]]:
    for path in PAGES:
        for found in LINK.finditer(words(path)):
            yield path, found["text"], found["target"]


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    named = {(ROOT / target).resolve() for path, _, target in links() if path == PAGES[0]}
    assert {path.resolve() for path in PAGES[1:]} <= named


def test_links_and_anchors_resolve() -> None:
    broken = []
    for path, _, target in links():
        if target.startswith(("http:", "https:")):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        if not place.exists() or (anchor and anchor not in anchors(place)):
            broken.append(f"{path.name}: {target}")
    assert not broken


def test_decisions_are_called_by_their_numbers() -> None:
    numbers = dict(DECISION.findall(words(DOCS / "decisions.md")))
    assert list(map(int, numbers.values())) == list(range(1, len(numbers) + 1))
    assert set(numbers) == set(ANCHOR.findall(words(DOCS / "decisions.md")))
    for path, text, target in links():
        if text.startswith("decision "):
            said = text.removeprefix("decision ")
            assert numbers[target.partition("#")[2]] == said, f"{path.name}: {text}"


def test_code_cites_decisions_that_exist() -> None:
    """Readers have no other copy of what was decided."""
    for folder in ("tasks", "flows", "deployments", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = words(path)
            for file, anchor in re.findall(r"docs/(\w+\.md)(?:#([\w-]+))?", text):
                assert (DOCS / file).exists(), f"{path}: {file}"
                assert not anchor or anchor in anchors(DOCS / file), f"{path}: {file}#{anchor}"
            assert path == Path(__file__) or not re.search(r"\bSPEC\b", text), path


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_named_places_exist_and_hold_what_is_named(path: Path) -> None:
    for place, names in NAMED_PLACE.findall(words(path)):
        assert (ROOT / place).exists(), place
        for name in filter(None, names.split(", ")):
            assert f"def {name}(" in words(ROOT / place), f"{place} has no {name}"
    for module in NAMED_MODULE.findall(words(path)):
        file = ROOT.joinpath(*module.split("."))
        assert file.with_suffix(".py").exists() or (file / "__main__.py").exists(), module


def test_the_paper_to_code_table_names_places_and_tests() -> None:
    table = words(DOCS / "paper.md").partition("## Golden values")[0]
    assert len([names for _, names in NAMED_PLACE.findall(table) if names]) > 10
    tests = words(ROOT / "tests" / "test_paper.py")
    named = re.findall(r"`(test_\w+)`", table)
    assert len(named) >= 7
    assert all(f"def {name}(" in tests for name in named)


def test_the_readme_is_short() -> None:
    assert len(words(PAGES[0]).splitlines()) <= README_LINES


@cache
def help_of(command: str) -> str:
    line = (sys.executable, "-m", f"flows.{command}", "--help")
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_option_exists(path: Path) -> None:
    """An option beside its command is one of that command; any other is one of some command."""
    text = words(path)
    for command, rest in COMMAND_LINE.findall(text):
        for option in OPTION.findall(rest):
            assert f"{option} " in help_of(command) or f"{option}\n" in help_of(command), option
    all_options = {option for command in COMMANDS for option in OPTION.findall(help_of(command))}
    assert set(OPTION.findall(text)) <= all_options | OTHERS


def test_the_benchmark_page_is_what_the_command_makes() -> None:
    """`python -m tests.bench.page > docs/benchmarks.md`"""
    assert words(DOCS / "benchmarks.md") == page(read_figures())


def test_the_sizes_on_paper_are_what_the_command_makes() -> None:
    """`python -m tests.bench.sizing`"""
    assert sizes(read_figures()["dask"]) in words(DOCS / "scaling.md")


def test_every_measure_is_explained(sample_measures: dict[str, object]) -> None:
    table = words(DOCS / "measures.md").partition("## Methods side by side")[0]
    for key in sample_measures:
        assert f"`{key}" in table, key


def test_every_rounding_is_told() -> None:
    """The table of public figures is the program's."""
    told = words(DOCS / "measures.md").splitlines()
    missing = [line for line in rounding_table() if line not in told]
    assert missing == []
