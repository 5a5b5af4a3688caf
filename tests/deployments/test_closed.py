"""The services as an attacker meets them: another user of the machine, a page from elsewhere, and
somebody who has the credential but not the operator's leave.

Everything is tried from outside: raw requests, other processes, other users.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from deployments.automations import ALERT, ZOMBIES
from tests.helpers.generated import write_parts
from tests.helpers.services import ROOT, Services, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.prefect]
NOBODY = 65534
OPEN = {("get", "/health"), ("get", "/ready")}
"""They say that there is a server, and nothing else."""
WEBSOCKETS = (
    "events/in",
    "events/out",
    "logs/out",
    "task_runs/subscriptions/scheduled",
    "work_pools/logveil/workers/connect",
)
as_another_user = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture(scope="module")
def services(store: Path) -> Iterator[Services]:
    # Whoever is not let in must be kept out by the services' own folders, not by pytest's above.
    folder = Path(tempfile.mkdtemp(prefix="closed-"))
    folder.chmod(0o755)
    made = Services(folder / "of-logveil")
    made.folder.mkdir(mode=0o755)
    made.prepare(store, by_hand=True)
    write_parts(made.folder / "logs", 2, queries=600, users=60, seed=3)
    write_parts(folder / "private", 1, queries=600, users=60, seed=4)
    (folder / "private").chmod(0o700)
    (folder / "theirs").mkdir()
    (folder / "theirs").chmod(0o777)
    made.up()
    try:
        yield made
    finally:
        made.run("down")
        shutil.rmtree(folder)


@pytest.fixture
def theirs(services: Services) -> Path:
    """A folder in which everybody may write."""
    return services.folder.parent / "theirs"


def answer(
    services: Services,
    path: str,
    method: str = "GET",
    body: Any = None,
    credential: str | None = None,
    **headers: str,
) -> http.client.HTTPResponse:
    """What the server says to a request with exactly these headers."""
    if credential is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(credential.encode()).decode()}"
    if body is not None:
        headers["Content-Type"] = "application/json"
    line = http.client.HTTPConnection("127.0.0.1", services.port, timeout=60)
    line.request(method, path, None if body is None else json.dumps(body), headers)
    told = line.getresponse()
    told.read()
    line.close()
    return told


def adhoc(services: Services) -> str:
    told = services.ask("deployments/name/logveil-release/adhoc")
    return str(told["id"])


def start(services: Services, deployment: str = "", **asked: Any) -> str:
    """Start a run with the credential; returns its id."""
    place = f"deployments/{deployment or adhoc(services)}/create_flow_run"
    body = {"parameters": {"settings": asked}, "enforce_parameter_schema": False}
    return str(services.ask(place, body)["id"])


def end_of(services: Services, run: str) -> dict[str, Any]:
    """The state in which a run ends."""

    def ended() -> dict[str, Any] | None:
        state: dict[str, Any] = services.ask(f"flow_runs/{run}")["state"]
        return state if state["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED") else None

    found = wait_for("the run to end", ended)
    assert isinstance(found, dict)
    return found


def tasks_of(services: Services, run: str) -> list[Any]:
    found = services.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}})
    assert isinstance(found, list)
    return found


def nobody(command: str, *arguments: str) -> str:
    """What a script of Python prints for a user without any rights."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    python = str(Path(sys.executable).resolve())
    done = subprocess.run(
        [*drop, python, "-I", "-S", "-c", command, *arguments],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


POST = """
import base64, http.client, json, sys
port, deployment, credential, out = sys.argv[1:]
headers = {"Content-Type": "application/json"}
if credential:
    headers["Authorization"] = "Basic " + base64.b64encode(credential.encode()).decode()
settings = {"k": 2, "guarantee": "paper", "out": out}
body = {"parameters": {"settings": settings}, "job_variables": {"command": "touch " + out}}
line = http.client.HTTPConnection("127.0.0.1", int(port))
line.request("POST", f"/api/deployments/{deployment}/create_flow_run", json.dumps(body), headers)
print(line.getresponse().status)
"""


@as_another_user
@pytest.mark.parametrize("credential", ["", "logveil:", "logveil:guess", ":", "admin:admin"])
def test_another_user_starts_no_run(services: Services, theirs: Path, credential: str) -> None:
    before = services.ask("flow_runs/count", {})
    told = nobody(POST, str(services.port), adhoc(services), credential, str(theirs / "x"))
    assert told.strip() == "401"
    assert services.ask("flow_runs/count", {}) == before
    assert not (theirs / "x").exists()


READ = """
import os, socket, sys
for path in sys.argv[1:]:
    try:
        if path.endswith(".sock"):
            socket.socket(socket.AF_UNIX).connect(path)
        else:
            open(path, "rb").read(1)
        print("read", path)
    except PermissionError:
        pass
for folder in sys.argv[1:]:
    for found in os.walk(folder):
        print("listed", found)
"""


@as_another_user
def test_another_user_reads_nothing_of_the_services(services: Services) -> None:
    held = [str(path) for path in services.state.rglob("*") if path.exists() and not path.is_dir()]
    known = {Path(path).name for path in held}
    assert {"credential", "supervisor.sock", "prefect.db", "server.log", "worker.log"} <= known
    running = [f"/proc/{pid}/environ" for pid in services.processes().values()]
    assert nobody(READ, str(services.state), *held, *running) == ""


def test_every_file_of_the_services_is_private(services: Services) -> None:
    paths = [services.state, *services.state.rglob("*")]
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in paths}
    assert {path: mode for path, mode in modes.items() if mode & 0o077} == {}
    assert modes[services.state / "credential"] == 0o600
    assert modes[services.state / "prefect" / "prefect.db"] == 0o600


def test_no_command_line_and_no_log_tells_the_credential(services: Services) -> None:
    secret = services.credential.partition(":")[2].encode()
    assert len(secret) >= 40
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret not in path.read_bytes()
        except OSError:
            continue
    for path in services.state.glob("*.log"):
        assert secret not in path.read_bytes()


def test_every_route_asks_for_the_credential(services: Services) -> None:
    routes = services.ask("openapi.json")["paths"]
    asked = [(method, path) for path, methods in routes.items() for method in methods]
    assert len(asked) > 150
    for wrong in (None, "logveil:guess"):
        refused = {
            (method, path)
            for method, path in asked
            if answer(services, f"/api{path}", method.upper(), {}, wrong).status == 401
        }
        assert set(asked) - refused == OPEN


def test_what_is_open_tells_nothing(services: Services) -> None:
    for path in ("/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json"):
        assert answer(services, path).status == 404
    for path in ("/api/docs", "/api/openapi.json", "/api/version", "/api/admin/settings"):
        assert answer(services, path).status == 401
    line = http.client.HTTPConnection("127.0.0.1", services.port)
    line.request("GET", "/ui-settings")
    told = json.load(line.getresponse())
    assert told.pop("api_url") == f"{services.url}/api"
    known = ("auth", "available_uis", "csrf_enabled", "default_ui", "flags")
    assert sorted(told) == sorted((*known, "v1_base_url", "v2_base_url"))
    line.request("GET", "/")
    page = line.getresponse().read().decode()
    assert "logveil" not in page
    assert str(services.folder) not in page


@pytest.mark.parametrize("path", WEBSOCKETS)
def test_websockets_ask_for_the_credential(services: Services, path: str) -> None:
    address = f"ws://127.0.0.1:{services.port}/api/{path}"
    with pytest.raises(InvalidStatus) as refused, connect(address):
        pass
    assert refused.value.response.status_code == 403
    for first in ({"type": "auth", "token": "logveil:guess"}, {"type": "auth"}, {"type": "hello"}):
        with connect(address, subprotocols=[Subprotocol("prefect")]) as line:
            line.send(json.dumps(first))
            with pytest.raises(ConnectionClosed) as closed:
                line.recv(timeout=30)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
    with connect(address, subprotocols=[Subprotocol("prefect")]) as line:
        line.send(json.dumps({"type": "auth", "token": services.credential}))
        assert json.loads(line.recv(timeout=30)) == {"type": "auth_success"}


FOREIGN_HOSTS = ("evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "0.0.0.0")
FOREIGN_ORIGINS = (
    "http://evil.example",
    "null",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:1",
    "http://127.0.0.1",
    "http://127.0.0.1:{port}.evil.example",
)
PAGES: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("GET", "/", None),
    ("GET", "/api/health", None),
    ("POST", "/api/flow_runs/filter", {}),
)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_is_refused(services: Services, host: str) -> None:
    for credential in (None, services.credential):
        for method, path, body in PAGES:
            name = host.format(port=services.port)
            assert answer(services, path, method, body, credential, Host=name).status == 400


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_origin_is_refused(services: Services, origin: str) -> None:
    named = origin.format(port=services.port)
    for credential in (None, services.credential):
        for method, path, body in PAGES:
            told = answer(services, path, method, body, credential, Origin=named)
            assert told.status == 403
            assert told.getheader("access-control-allow-origin") is None
    asking = {"Access-Control-Request-Method": "POST", "Origin": named}
    told = answer(services, "/api/flow_runs/filter", "OPTIONS", **asking)
    assert (told.status, told.getheader("access-control-allow-origin")) == (403, None)


@pytest.mark.parametrize(
    ("header", "code"), [({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 400)]
)
def test_a_foreign_page_gets_no_websocket(
    services: Services, header: dict[str, str], code: int
) -> None:
    asked = {
        "Host": f"127.0.0.1:{services.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Protocol": "prefect",
        **header,
    }
    lines = [
        "GET /api/events/out HTTP/1.1",
        *(f"{name}: {value}" for name, value in asked.items()),
    ]
    with socket.create_connection(("127.0.0.1", services.port), timeout=60) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        assert line.recv(4096).split()[1] == str(code).encode()


def test_its_own_page_and_programs_are_let_in(services: Services) -> None:
    for host in ("127.0.0.1", "localhost"):
        origin = f"http://{host}:{services.port}"
        headers = {"Origin": origin, "Host": f"{host}:{services.port}"}
        told = answer(services, "/api/flow_runs/filter", "POST", {}, services.credential, **headers)
        assert (told.status, told.getheader("access-control-allow-origin")) == (200, origin)
    asked = 'eval "$("$1" -m deployments.services env)" && "$1" -m prefect deployment ls'
    done = subprocess.run(
        ["bash", "-c", asked, "bash", sys.executable],
        cwd=ROOT,
        env=services.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "logveil-inbox/inbox" in done.stdout, done.stderr


def test_a_run_may_ask_for_more_than_its_deployment_has(services: Services) -> None:
    log, out = services.folder / "logs" / "part00.tsv", services.folder / "released" / "one"
    run = start(services, logs=[str(log)], out=str(out), k=7)
    assert end_of(services, run)["type"] == "COMPLETED"
    assert (out / "release.tsv").stat().st_size > 0
    assert json.loads((out / "measures.json").read_text())["settings"]["k"] == 7


def test_what_a_deployment_does_not_allow_is_refused_to_everybody(
    services: Services, theirs: Path
) -> None:
    private = services.folder.parent / "private"
    asked: list[tuple[dict[str, Any], str]] = [
        ({"k": 2}, "refused: k must be at least 5, not 2"),
        ({"guarantee": "paper"}, "refused: guarantee must be strict or stronger, not paper"),
        ({"out": str(theirs / "out")}, "refused: out must lie in"),
        ({"out": f"{services.folder}/released/../../theirs/out"}, "refused: out must lie in"),
        ({"logs": [str(private)]}, "refused: logs must lie in"),
        ({"logs": [f"{services.folder}/logs/../../private/*"]}, "refused: logs must lie in"),
        ({"store": str(theirs / "store")}, "refused: store must be"),
        ({"topics": str(theirs / "topics.yaml")}, "refused: topics must be"),
        ({"columns": {"user": "query"}}, "refused: columns must be"),
    ]
    for settings, message in asked:
        run = start(services, **settings)
        state = end_of(services, run)
        assert state["type"] == "FAILED"
        assert state["message"].startswith(message)
        assert tasks_of(services, run) == []
    assert list(theirs.iterdir()) == []


def test_nobody_brings_commands(services: Services, theirs: Path) -> None:
    """Not by a run, and not by a pool or a deployment that were edited with the credential."""
    mark = theirs / "mark"
    wanted = {"command": f"touch {mark}", "env": {"LOGVEIL_DEPLOYMENTS": "/x"}, "working_dir": "/"}
    place = f"deployments/{adhoc(services)}"
    with pytest.raises(urllib.error.HTTPError) as refused:
        services.ask(f"{place}/create_flow_run", {"job_variables": wanted})
    assert refused.value.code == 422
    template = {
        "job_configuration": {name: f"{{{{ {name} }}}}" for name in wanted},
        "variables": {"type": "object", "properties": {name: {} for name in wanted}},
    }
    steps = [{"prefect.deployments.steps.run_shell_script": {"script": f"touch {mark}"}}]
    services.ask("work_pools/logveil", {"base_job_template": template}, method="PATCH")
    services.ask(place, {"pull_steps": steps, "entrypoint": "os.getcwd"}, method="PATCH")
    (theirs / "own.py").write_text(
        f"import pathlib, prefect\npathlib.Path({str(mark)!r}).touch()\n"
        "@prefect.flow\ndef own(): pass\n"
    )
    flow = services.ask(place)["flow_id"]
    own = services.ask(
        "deployments/",
        {
            "name": "own",
            "flow_id": flow,
            "work_pool_name": "logveil",
            "entrypoint": f"{theirs}/own.py:own",
            "job_variables": wanted,
            "pull_steps": steps,
        },
    )
    body = {"job_variables": wanted, "parameters": {"settings": {"k": 2}}}
    # The form's bounds: the server refuses it, unless it is told not to look; then the run does.
    with pytest.raises(urllib.error.HTTPError, match="409"):
        services.ask(f"{place}/create_flow_run", body)
    body["enforce_parameter_schema"] = False
    edited = services.ask(f"{place}/create_flow_run", body)["id"]
    state = end_of(services, edited)
    assert (state["type"], mark.exists()) == ("FAILED", False)
    assert state["message"].startswith("refused: k must be at least 5, not 2")
    state = end_of(services, start(services, own["id"]))
    assert (state["type"], mark.exists()) == ("FAILED", False)
    assert "lists no deployment 'own'" in state["message"]


def test_a_crashed_run_brings_no_commands_either(services: Services, theirs: Path) -> None:
    mark = theirs / "crash-mark"
    steps = [{"prefect.deployments.steps.run_shell_script": {"script": f"touch {mark}"}}]
    services.ask(f"deployments/{adhoc(services)}", {"pull_steps": steps}, method="PATCH")
    run = start(services, out=str(services.folder / "released" / "crashed"))
    wait_for("its process to be killed", lambda: services.kill_flow_runs(run))
    assert (end_of(services, run)["type"], mark.exists()) == ("CRASHED", False)


def test_another_start_makes_the_pool_and_the_deployments_anew(services: Services) -> None:
    credential = services.credential
    services.down()
    services.up()
    assert services.credential == credential
    told = services.ask("work_pools/logveil")["base_job_template"]
    assert told["variables"]["properties"] == {}
    names = [each["name"] for each in services.ask("automations/filter", {})]
    assert names.count(ZOMBIES) == 1
    assert ALERT not in names  # nobody said where to

    assert answer(services, "/api/health").status == 200
