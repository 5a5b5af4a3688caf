"""What the services are told, what they deploy, and what they refuse."""

from __future__ import annotations

import shlex
import socket
import sys
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from deployments.config import POOL, ROOT, read_config
from deployments.deployed import read_deployments
from deployments.pool import runs_with_a_process
from deployments.services import main, make_folders, parser, processes
from tasks.errors import UsageError

SHIPPED = ROOT / "deployments" / "prefect.yaml"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOGVEIL_PORT", "LOGVEIL_DEPLOYMENTS", "PREFECT_SERVER_API_AUTH_STRING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOGVEIL_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def write_settings(state: Path, *lines: str, mode: int = 0o600) -> Path:
    state.mkdir(mode=0o700, exist_ok=True)
    path = state / "stack.env"
    path.write_text("\n".join(lines))
    path.chmod(mode)
    return path


def test_settings_come_from_the_private_file_and_the_environment_before_it(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(
        state, "# a comment", "", "LOGVEIL_PORT=4300", "PREFECT_SERVER_API_AUTH_STRING = a:b=c"
    )
    config = read_config()
    assert config.url == "http://127.0.0.1:4300"
    told = config.environment()
    assert told["PREFECT_API_AUTH_STRING"] == "a:b=c"
    assert told["PREFECT_API_URL"] == "http://127.0.0.1:4300/api"
    assert told["PREFECT_HOME"] == str(state / "prefect")
    assert told["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    monkeypatch.setenv("LOGVEIL_PORT", "4301")
    assert read_config().url == "http://127.0.0.1:4301"
    assert state.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("LOGVEIL_PROT=1", "no such setting: LOGVEIL_PROT"),
        ("PATH=/tmp", "no such setting: PATH"),
        ("LOGVEIL_PORT=high", "LOGVEIL_PORT must be a number"),
        ("LOGVEIL_PORT", "every line must be NAME=value"),
        ("PREFECT_SERVER_API_AUTH_STRING=word", "must be name:password in ASCII"),
        ("PREFECT_SERVER_API_AUTH_STRING=a:é", "must be name:password in ASCII"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(
    state: Path, line: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_settings(state, line)
    assert main(["status"]) == 2
    assert complaint in capsys.readouterr().err


def test_credentials_that_others_may_read_are_refused(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_settings(state, "PREFECT_SERVER_API_AUTH_STRING=admin:hidden", mode=0o640)
    assert main(["up"]) == 2
    told = capsys.readouterr().err
    assert f"chmod 600 {path}" in told
    assert "hidden" not in told


def test_a_credential_is_made_once(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # An empty setting asks for none, and gets one.
    write_settings(state, "PREFECT_SERVER_API_AUTH_STRING=")
    told = read_config().environment()
    path = state / "credential"
    assert path.read_text() == told["PREFECT_API_AUTH_STRING"] + "\n"
    assert told["PREFECT_SERVER_API_AUTH_STRING"] == told["PREFECT_API_AUTH_STRING"]
    name, _, password = told["PREFECT_API_AUTH_STRING"].partition(":")
    assert (name, len(password)) == ("logveil", 43)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_config().environment() == told
    assert read_config().credential_place == str(path)
    for spoil in (lambda: path.chmod(0o644), lambda: path.write_text("\n")):
        spoil()
        assert main(["up"]) == 2
        path.chmod(0o600)
    said = capsys.readouterr().err
    assert f"chmod 600 {path}" in said
    assert f"{path} is empty" in said


def test_a_credential_that_is_given_is_the_one(state: Path) -> None:
    write_settings(state, "PREFECT_SERVER_API_AUTH_STRING=admin:given")
    assert read_config().client_environment()["PREFECT_API_AUTH_STRING"] == "admin:given"
    assert not (state / "credential").exists()
    assert "stack.env" in read_config().credential_place


def test_a_shell_is_told_what_prefect_needs(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_settings(state, "PREFECT_SERVER_API_AUTH_STRING=a:b'; touch x")
    assert main(["env"]) == 0
    lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [
        ["export", "PREFECT_API_URL=http://127.0.0.1:4200/api"],
        ["export", "PREFECT_API_AUTH_STRING=a:b'; touch x"],
    ]


def test_services_that_do_not_run(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 1
    assert main(["down"]) == 0
    assert processes(read_config()) is None
    assert "do not run" in capsys.readouterr().out


def test_a_port_that_somebody_uses_is_refused(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "prefect").mkdir(parents=True)
    (state / "prefect" / "prefect.db").touch(0o644)
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        somebody.listen()
        monkeypatch.setenv("LOGVEIL_PORT", str(somebody.getsockname()[1]))
        assert main(["up"]) == 3
    assert "choose another LOGVEIL_PORT" in capsys.readouterr().err
    # What another version has left open is closed before anything starts.
    assert [path for path in state.rglob("*") if path.stat().st_mode & 0o077] == []
    assert processes(read_config()) is None


def test_the_shipped_deployments() -> None:
    told = {each["name"]: each for each in yaml.safe_load(SHIPPED.read_text())["deployments"]}
    assert set(told) == {"adhoc", "inbox"}
    assert told["inbox"]["schedules"] == [{"cron": "0 * * * *"}]
    (trigger,) = told["inbox"]["triggers"]
    assert trigger["expect"] == ["logveil.file.arrived"]
    assert trigger["match"] == {"prefect.resource.name": "inbox"}
    assert told["inbox"]["concurrency_limit"] == {"limit": 1, "collision_strategy": "CANCEL_NEW"}
    for each in told.values():
        assert each["work_pool"] == {"name": POOL}
        module, _, flow = each["entrypoint"].rpartition(".")
        assert f"def {flow}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text()


def test_folders_of_logs_are_made_private(tmp_path: Path) -> None:
    inbox, logs = tmp_path / "new" / "incoming", tmp_path / "logs"
    listed = [
        {"name": "a", "entrypoint": "a.b", "parameters": {"inbox": str(inbox)}},
        {"name": "b", "entrypoint": "a.b"},
        {
            "name": "c",
            "entrypoint": "a.b",
            "parameters": {"settings": {"logs": [str(logs), "s3://bucket/logs"]}},
        },
    ]
    (tmp_path / "prefect.yaml").write_text(yaml.safe_dump({"deployments": listed}))
    make_folders(read_deployments(tmp_path / "prefect.yaml").values())
    for folder in (inbox, logs):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "content",
    ["", "- a", "deployments: 3", "{", "deployments: [a]", "deployments: [{name: a}]"],
)
def test_a_file_without_deployments_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "prefect.yaml").write_text(content)
    with pytest.raises(UsageError, match="lists no deployments"):
        read_deployments(tmp_path / "prefect.yaml")
    with pytest.raises(UsageError, match="No such file"):
        read_deployments(tmp_path / "missing.yaml")


def test_deployments_have_names_of_their_own(tmp_path: Path) -> None:
    listed = [{"name": "a", "entrypoint": entrypoint} for entrypoint in ("a.b", "a.c")]
    (tmp_path / "prefect.yaml").write_text(yaml.safe_dump({"deployments": listed}))
    with pytest.raises(UsageError, match="a name of its own"):
        read_deployments(tmp_path / "prefect.yaml")


def test_a_run_is_alive_as_long_as_a_process_works_on_it(tmp_path: Path) -> None:
    run = uuid4()
    for number, told in enumerate(
        [f"A=1\0PREFECT__FLOW_RUN_ID={run}\0B=2", f"NOT_PREFECT__FLOW_RUN_ID={uuid4()}", ""]
    ):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "environ").write_text(told)
    (tmp_path / "7").mkdir()
    assert runs_with_a_process(tmp_path) == {run}


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    told = capsys.readouterr().out
    assert "python -m deployments.services up" in told
    assert "LOGVEIL_DEPLOYMENTS" in told
    assert sys.executable not in told
