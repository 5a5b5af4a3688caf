"""The `logveil` command: which command it hands on to, what it says, what Tab offers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli import COMMANDS, main
from tasks.version import VERSION

ROOT = Path(__file__).parents[2]
CALL = "import sys; from flows.cli import main; sys.exit(main())"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the user had typed `logveil`."""
    monkeypatch.setattr(sys, "argv", ["/some/where/bin/logveil"])


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is printed by a call that ends in its help or the like."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("typed")
def test_help_teaches_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "--help")
    assert "examples:" in told
    for name in COMMANDS:
        assert f"  logveil {name} " in told, name
        assert f"usage: logveil {name} [-h]" in shown(capsys, name, "--help")


@pytest.mark.usefixtures("typed")
@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_in_the_words_that_were_typed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = shown(capsys, name, "--help")
    assert f"  logveil {name} " in told
    assert "python -m" not in told


def test_a_module_speaks_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert "  python -m flows.run log.csv" in shown(capsys, "run", "--help")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "--version") == f"logveil {VERSION}\n"


def test_options_and_exit_code_are_the_commands_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--queries", "0"]) == 2
    assert "queries must be from 1" in capsys.readouterr().err
    assert main(["sample", "--queries", "2", "--users", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("arguments", [[], ["release"], ["--k", "5"]])
def test_what_is_no_command_is_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2


def test_help_needs_no_heavy_library() -> None:
    code = (
        "import sys\nfrom flows.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'prefect', 'spacy', 'nltk', 'numpy', 'pyarrow', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    for name in COMMANDS:
        subprocess.run(
            [sys.executable, "-c", code, name, "--help"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            check=True,
        )


@pytest.mark.parametrize(
    ("line", "offered"),
    [("logveil ver", {"verify"}), ("logveil inbox --keep", {"--keep-editions"})],
)
def test_tab_completes_commands_and_options(line: str, offered: set[str], tmp_path: Path) -> None:
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    subprocess.run([sys.executable, "-c", CALL], cwd=ROOT, env={**os.environ, **asked}, check=True)
    assert {word.strip() for word in answer.read_text().split("\n")} == offered
