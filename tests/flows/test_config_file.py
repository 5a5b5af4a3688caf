"""`logveil.toml`: what it may say, who wins, and that nobody's file is read unseen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from deployments.deployed import Deployed
from flows import config_file, inbox, run, verify
from tasks.errors import UsageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(
    capsys: pytest.CaptureFixture[str], *arguments: str, command: object = run
) -> dict[str, object]:
    """The settings in force."""
    assert command.main(["--print-config", *arguments]) == 0  # type: ignore[attr-defined]
    return tomllib.loads(capsys.readouterr().out)


def test_the_file_in_this_folder_is_read_and_said(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "logveil.toml").write_text(
        'k = 7\nlogs = ["a.csv"]\nany_language = true\n[columns]\nuser = "uid"\n'
    )
    assert run.main(["--print-config", "--quiet"]) == 0
    told = capsys.readouterr()
    assert told.err == (
        "logveil: logveil.toml says k = 7, logs = ('a.csv',), any_language = True, "
        "columns = {'user': 'uid'}\n"
    )
    got = tomllib.loads(told.out)
    assert (got["k"], got["logs"], got["any_language"]) == (7, ["a.csv"], True)
    assert got["columns"] == {"user": "uid"}
    assert list(here.iterdir()) == [here / "logveil.toml"]


def test_the_line_wins_over_the_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "other.toml").write_text('k = 7\nl = 2\n[columns]\nuser = "uid"\ntime = "at"\n')
    got = printed(capsys, "--config", "other.toml", "--k", "9", "--person", "account")
    assert (got["k"], got["l"]) == (9, 2)
    assert got["columns"] == {"user": "account", "time": "at"}


def test_what_is_printed_says_the_same_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--k", "6", "--person", 'odd "name"\\é', "--scope", "all", "--time", "none"]
    assert run.main(["--print-config", "my log.tsv", *options]) == 0
    first = capsys.readouterr().out
    (here / "logveil.toml").write_text(first)
    assert run.main(["--print-config"]) == 0
    assert capsys.readouterr().out == first


def test_an_inbox_has_its_folder_there_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "in").mkdir()
    (here / "logveil.toml").write_text('inbox = "in"\nedition = "new"\nsettle = 1\nout = "o"\n')
    got = printed(capsys, "--settle", "3", command=inbox)
    assert (got["inbox"], got["edition"], got["settle"], got["out"]) == ("in", "new", 3.0, "o")
    assert "inbox" not in printed(capsys)


def test_all_faults_of_a_file_come_at_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "logveil.toml").write_text(
        'garantee = "terms"\nk = "many"\nguarantee = "weak"\nreplace = true\nshared = "x"\n'
    )
    assert run.main([]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "logveil: logveil.toml: no such setting: garantee; guarantee is meant?",
        "logveil.toml: k: Input should be a valid integer, unable to parse string as an integer",
        "logveil.toml: guarantee: Input should be 'strict', 'terms' or 'paper'",
        "logveil.toml: no such setting: replace",
        "logveil.toml: no such setting: shared",
    ]


@pytest.mark.parametrize("content", ["k = ", "k: 5"])
def test_what_is_no_toml_is_refused(
    here: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "logveil.toml").write_text(content)
    assert run.main([]) == 2
    assert "logveil.toml is not TOML" in capsys.readouterr().err
    assert run.main(["--config", "none.toml"]) == 2
    assert "cannot read none.toml" in capsys.readouterr().err


def test_a_file_that_others_may_write_is_read_only_if_it_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "logveil.toml").write_text("k = 2\n")
    (here / "logveil.toml").chmod(0o666)
    assert run.main(["--print-config"]) == 2
    assert "not yours alone" in capsys.readouterr().err
    assert printed(capsys, "--config", "logveil.toml")["k"] == 2


def test_verify_looks_for_the_store_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "logveil.toml").write_text('store = "elsewhere"\n')
    (here / "release").mkdir()
    (here / "release" / "manifest.json").write_text("{}")
    assert verify.main(["release"]) == 3
    assert "elsewhere" in capsys.readouterr().err


def test_a_deployment_reads_the_file_that_it_names(here: Path) -> None:
    (here / "mine.toml").write_text('k = 11\ninbox = "not here"\n')
    settings = {"config": "mine.toml", "logs": ["logs"], "out": "released"}
    made = Deployed(
        Path("prefect.yaml"), "mine", "flows.anonymise.anonymise", {"settings": settings}
    )
    assert made.parameters_for({"settings": settings})["settings"].k == 11
    for asked in ({"k": 10}, {"config": "other.toml"}):
        with pytest.raises(UsageError, match="refused"):
            made.parameters_for({"settings": asked})


def test_every_setting_can_be_said_in_a_file() -> None:
    """Also those that come after this was written."""
    from dataclasses import asdict

    from tasks.settings import Settings

    told = {n: v for n, v in asdict(Settings()).items() if n not in config_file.SAID_EACH_TIME}
    assert config_file.checked(told, {}) == told
