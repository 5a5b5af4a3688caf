"""`python -m tests.bench.house`: what a stranger counts in this tree, for docs/architecture.md.

Modules, lines and imports are read off the sources; how far it is from the command to the log, and
in how many files code runs in each phase, is watched in a run on the shipped sample (one process,
scope `all`, a store that has nothing but compiled lists).
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from flows.display import PhaseLine, Screen
from flows.release import Phases, make_release
from tasks.phases.job import Job
from tasks.phases.publish import InFolder
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings

ROOT = Path(__file__).parents[2]
ROOMS = ("flows", "tasks", "deployments")
Functions = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> dict[str, Path]:
    """Product modules by name."""
    paths = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def body_lines(path: Path) -> Iterator[int]:
    """Lines of each function without its docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Functions):
            first = 1 if ast.get_docstring(node) and len(node.body) > 1 else 0
            yield (node.end_lineno or 0) - node.body[first].lineno + 1


class Watch:
    """The stack when the log is opened, and the own files in which code runs, by phase."""

    def __init__(self) -> None:
        self.phase = ""
        self.stack: list[str] = []
        self.files: dict[str, set[str]] = defaultdict(set)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        place = own_place(frame)
        if event != "call" or place is None:
            return
        if self.phase:
            self.files[self.phase].add(place)
        if frame.f_code.co_name == "open_log" and not self.stack:
            self.stack = list(callers(frame))


def own_place(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    if frame.f_code.co_name == "<module>" or ROOT not in path.parents:
        return None
    place = path.relative_to(ROOT)
    return str(place) if place.parts[0] in ROOMS else None


def callers(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        place = own_place(frame)
        if place is not None:
            yield f"{place}: {frame.f_code.co_name}"
        frame = frame.f_back


class WatchedScreen(Screen):
    """Tells the watch which phase is at work."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(quiet=True, stderr=True)
        self._watch = watch

    @contextmanager
    def phase(self, name: str) -> Iterator[PhaseLine]:
        self._watch.phase = name
        with super().phase(name) as line:
            yield line
        self._watch.phase = ""


def watched_run(folder: Path) -> Watch:
    """What `flows.run --bare` does once its options are read, watched from its first call on."""
    watch = Watch()
    settings = Settings(out=str(folder / "out"), store=str(folder / "store"), workers=1)
    release(settings, Watch())
    sys.setprofile(watch)
    try:
        release(Settings(**{**vars(settings), "scope": "all", "shared": ""}), watch)
    finally:
        sys.setprofile(None)
    return watch


def release(settings: Settings, watch: Watch) -> None:
    screen = WatchedScreen(watch)
    job = Job.of(settings, LocalExecutor(1), screen.progress)
    make_release(job, InFolder(Path(settings.out)), Phases(screen))


def main() -> None:
    found = modules()
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in found.values()]
    edges = {name: len(imports(path) & set(found)) for name, path in found.items()}
    busiest = max(edges, key=edges.__getitem__)
    bodies = sorted(body for path in found.values() for body in body_lines(path))
    print(f"modules {len(found)}, lines {sum(lines)}, median {statistics.median(lines):.0f}")
    print(f"function body, median {statistics.median(bodies):.0f}")
    print(f"imports of the busiest module: {edges[busiest]} ({busiest})")
    with TemporaryDirectory() as folder:
        watch = watched_run(Path(folder))
    places = {call.split(":")[0] for call in watch.stack}
    print(f"from the command to the log: {len(watch.stack)} calls in {len(places)} files")
    print("".join(f"  {call}\n" for call in reversed(watch.stack)), end="")
    for phase, files in watch.files.items():
        print(f"code of {len(files)} files runs in {phase}")


if __name__ == "__main__":
    main()
