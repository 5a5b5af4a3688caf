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
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from flows import run
from tests.test_architecture import imports_of

ROOT = Path(__file__).parents[2]
ROOMS = ("flows", "tasks", "deployments")
Functions = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> dict[str, Path]:
    """Product modules by name."""
    paths = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


def body_lines(path: Path) -> Iterator[int]:
    """Lines of each function without its docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Functions):
            first = 1 if ast.get_docstring(node) and len(node.body) > 1 else 0
            yield (node.end_lineno or 0) - node.body[first].lineno + 1


class Watch:
    """The stack when the log is opened, and the own files in which code runs, by phase.

    A phase begins when the screen is told of it, and ends when `Phases.run` returns.
    """

    def __init__(self) -> None:
        self.phase = ""
        self.stack: list[str] = []
        self.files: dict[str, set[str]] = defaultdict(set)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        place, name = own_place(frame), frame.f_code.co_name
        if event == "return" and (place, name) == ("flows/release.py", "run"):
            self.phase = ""
        if event == "call" and place is not None:
            self._called(frame, place, name)

    def _called(self, frame: FrameType, place: str, name: str) -> None:
        if (place, name) == ("flows/display.py", "phase"):
            self.phase = frame.f_locals["name"]
        if self.phase:
            self.files[self.phase].add(place)
        if name == "open_log" and not self.stack:
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


def watched_run(folder: Path) -> Watch:
    """What `python -m flows.run --bare` does, from its first call on."""
    watch = Watch()
    options = ["--bare", "--quiet", "--workers", "1", "--replace", "--out", str(folder / "out")]
    options += ["--store", str(folder / "store")]
    # With another k, so that nothing but what it has compiled is known later.
    run.main([*options, "--k", "6"])
    sys.setprofile(watch)
    try:
        run.main([*options, "--scope", "all"])
    finally:
        sys.setprofile(None)
    return watch


def main() -> None:
    found = modules()
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in found.values()]
    edges = {name: len(imports_of(path) & set(found)) for name, path in found.items()}
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
