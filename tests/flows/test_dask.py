"""A real Dask cluster on loopback, one worker of which is killed: the bytes of a single process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tasks.settings import SAMPLE_LOG
from tests.flows.test_server import free_port
from tests.helpers.generated import write_parts
from tests.helpers.stores import prepared_store
from tests.runtime.test_executor import wait_until
from tests.test_privacy import CANARY_USER, CANARY_WORD, MOMENT, assert_no_canary, contents

ROOT = Path(__file__).parent.parent.parent
QUERIES, USERS, SEED = 100_000, 8_000, 3
pytestmark = [pytest.mark.slow, pytest.mark.prefect]


@dataclass(frozen=True)
class Cluster:
    """A scheduler and two workers, each a process."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated queries, and some that must be found nowhere afterwards."""
    folder = tmp_path_factory.mktemp("log")
    (path,) = write_parts(folder, 1, queries=QUERIES, users=USERS, seed=SEED)
    with path.open("a") as stream:
        stream.write(f"{CANARY_USER}\t{CANARY_WORD} lung cancer\t{MOMENT}\n")
    return path


@pytest.fixture(scope="module")
def plain(log: Path, store: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The release of a single process."""
    folder = tmp_path_factory.mktemp("plain")
    prepared_store(folder / "store", store)
    command = [*flow(log, folder / "out"), "--bare", "--workers", "1"]
    subprocess.run([*command, "--store", str(folder / "store")], cwd=ROOT, check=True)
    return published(folder / "out")


def flow(log: Path, out: Path) -> list[str]:
    command = [sys.executable, "-m", "flows.run", str(log), "--scope", "all", "--quiet"]
    return [*command, "--out", str(out)]


def published(out: Path) -> bytes:
    return (out / "release.tsv").read_bytes()


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Nothing that this machine's user has: another home, another cache."""
    kept = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    own = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}
    own["XDG_STATE_HOME"] = str(folder / "state")
    prefect = {"PREFECT_HOME": str(folder / "prefect"), "PYTHONPATH": str(ROOT)}
    return {**kept, **own, **prefect, **more}


@contextmanager
def started(folder: Path, name: str, env: dict[str, str], *command: str) -> Iterator[Popen]:
    """A process of this test, ended with it; what it says lies in the folder."""
    with (folder / f"{name}.log").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=ROOT, env=env, stdout=said, stderr=said
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


Popen = subprocess.Popen[bytes]


@contextmanager
def running_cluster(folder: Path, env: dict[str, str]) -> Iterator[Cluster]:
    port = str(free_port())
    address = f"tcp://127.0.0.1:{port}"
    limits = ("--nthreads", "1", "--no-nanny", "--memory-limit", "2GB", "--no-dashboard")
    scheduler = ("dask", "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    with ExitStack() as stack:
        stack.enter_context(started(folder, "scheduler", env, *scheduler))
        workers = [
            stack.enter_context(
                started(folder, name, env, "dask", "worker", address, *limits, "--name", name)
            )
            for name in ("one", "two")
        ]
        for name in ("one", "two"):
            wait_until(lambda: b"Registered to" in (folder / f"{name}.log").read_bytes())  # noqa: B023
        yield Cluster(address, workers)


def run_and_kill(
    command: list[str], env: dict[str, str], cluster: Cluster, results: Callable[[], int]
) -> None:
    """Run a flow; as soon as there is a first result of a shard, kill a worker."""
    with started(Path(env["HOME"]).parent, "flow", env, *command[2:]) as process:
        while not results():
            assert process.poll() is None
            time.sleep(0.02)
        cluster.workers[0].kill()
        assert process.poll() is None
        assert process.wait(1800) == 0
    assert cluster.workers[1].poll() is None


def test_a_worker_is_killed_and_the_bytes_are_those_of_one_process(
    log: Path, plain: bytes, tmp_path: Path
) -> None:
    env = environment(tmp_path)
    store = tmp_path / "store"
    command = [*flow(log, tmp_path / "out"), "--store", str(store), "--runner", "dask"]
    with running_cluster(tmp_path, env) as cluster:
        command += ["--dask-address", cluster.address]
        run_and_kill(command, env, cluster, lambda: len(list((store / "shards").glob("results/*"))))
    assert published(tmp_path / "out") == plain
    assert not any(path.is_file() for path in (store / "shards").rglob("*"))
    assert_no_canary(list(contents(tmp_path)))


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables that lead to an empty bucket on loopback."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    variables = {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1"}
    variables |= {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing"}
    env = environment(tmp_path)
    server = ("moto.server", "-H", "127.0.0.1", "-p", str(port))
    with started(tmp_path, "s3", env, *server):
        wait_until(lambda: answers(url))
        urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT")).close()
        yield variables


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/moto-api/data.json").close()
    except OSError:
        return False
    return True


def objects(url: str, prefix: str) -> int:
    with urllib.request.urlopen(f"{url}/bucket?list-type=2&prefix={prefix}") as answer:
        return int(answer.read().count(b"<Key>"))


def test_the_same_with_a_store_at_s3(
    log: Path, plain: bytes, bucket: dict[str, str], tmp_path: Path
) -> None:
    env, url = environment(tmp_path, **bucket), bucket["AWS_ENDPOINT_URL"]
    store = ["--store", "s3://bucket/logs", "--runner", "dask"]
    with running_cluster(tmp_path, env) as cluster:
        command = [*flow(log, tmp_path / "out"), *store, "--dask-address", cluster.address]
        run_and_kill(command, env, cluster, lambda: objects(url, "logs/results/"))
    assert published(tmp_path / "out") == plain
    assert objects(url, "") == 0
    (private,) = (tmp_path / "state" / "logveil").rglob("secret")
    assert (private.parent / "releases").is_dir()
    assert list((tmp_path / "cache" / "logveil" / "stores").glob("*/cache"))
    assert_no_canary(list(contents(tmp_path)))
    proof = [sys.executable, "-m", "flows.verify", str(tmp_path / "out")]
    subprocess.run([*proof, "--store", "s3://bucket/logs"], cwd=ROOT, env=env, check=True)


@pytest.mark.parametrize("edition", ["append", "new"])
def test_an_inbox_has_the_bytes_of_one_process(edition: str, tmp_path: Path) -> None:
    """Two parts of a log, the second of which comes when the first has been released."""
    env = environment(tmp_path)
    parts = write_parts(tmp_path / "parts", 2, queries=3_000, users=200, seed=SEED)
    ways = {"bare": ["--bare", "--workers", "1"], "dask": ["--runner", "dask", "--workers", "2"]}
    for way, options in ways.items():
        inbox = tmp_path / way / "inbox"
        inbox.mkdir(parents=True)
        command = [sys.executable, "-m", "flows.inbox", "--inbox", str(inbox), "--settle", "0"]
        command += ["--out", str(tmp_path / way / "out"), "--store", str(tmp_path / way / "store")]
        for part in parts:
            shutil.copy(part, inbox)
            full = [*command, "--edition", edition, "--quiet", *options]
            subprocess.run(full, cwd=ROOT, env=env, check=True)
    released = [
        {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("release.tsv"))}
        for root in (tmp_path / "bare" / "out", tmp_path / "dask" / "out")
    ]
    assert len(released[0]) == 2
    assert released[0] == released[1]


def test_an_error_of_a_worker_is_told_as_our_own(store: Path, tmp_path: Path) -> None:
    command = [*flow(SAMPLE_LOG, tmp_path / "out"), "--store"]
    command += [str(tmp_path / "store"), "--runner", "dask", "--workers", "1"]
    done = subprocess.run(
        [*command, "--spacy-model", "en_no_such_model"],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    # A worker that ends in the middle of something may leave a warning of Dask's before our line.
    ours = [line for line in done.stderr.splitlines() if line.startswith("logveil: ")]
    assert ours[0].startswith("logveil: spaCy pipeline 'en_no_such_model' is not installed")
