"""The rules of the house: what may import what, seen in the source and in a real process."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "core": {"numpy", "scipy"},
    "evaluation": {"numpy", "scipy", "rapidfuzz"},
    "synthetic": {"numpy"},
}
# As pure as core: the methods of a comparison and their measures; the generator but for its files.
PURE_IN = {
    "evaluation": {"method", "own_methods", "catalogue", "measures", "baselines"},
    "synthetic": {"draws", "queries", "log"},
}
# One library, one door.
DOORS = {
    "prefect": {
        "flows/anonymise.py",
        "flows/comparison.py",
        "flows/dask_engine.py",
        "flows/run_page.py",
        "tasks/steps.py",
        "tasks/evaluation/steps.py",
    },
    "nltk": {"tasks/adapters/wordnet.py"},
    "spacy": {"tasks/adapters/detection/pipeline.py"},
    "presidio_analyzer": {"tasks/adapters/detection/identifiers.py"},
    "diskcache": {"tasks/runtime/cache.py"},
    "fsspec": {"tasks/runtime/shared_files.py"},
    "prefect_dask": {"flows/dask_engine.py"},
    "dask": {"flows/dask_engine.py"},
    "distributed": {"flows/dask_engine.py"},
    "rapidfuzz": {"tasks/evaluation/baselines/microaggregation.py"},
    "jinja2": {"tasks/adapters/pages/page.py"},
    "anonypyx": {"tasks/evaluation/peers.py"},
}
IMPURE_CALLS = {"open", "print", "input"}


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports_of(path: Path) -> set[str]:
    """Full dotted names of every import, also those inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def top(name: str) -> str:
    return name.split(".")[0]


def pure_sources() -> list[Path]:
    return sources("tasks/core") + [
        path
        for room, pure in PURE_IN.items()
        for path in sources(f"tasks/{room}")
        if path.relative_to(ROOT / "tasks" / room).with_suffix("").parts[0] in pure
    ]


def may_use(room: str, name: str) -> bool:
    """Core uses core alone; the pure part of another room uses core and itself."""
    room_of_name, *rest = name.split(".")[1:]
    if room_of_name in PURE_IN:
        return room == room_of_name and (not rest or rest[0] in PURE_IN[room])
    return room_of_name == "core"


@pytest.mark.parametrize("path", pure_sources(), ids=lambda p: p.name)
def test_core_and_what_is_like_it_are_pure(path: Path) -> None:
    room = path.relative_to(ROOT / "tasks").parts[0]
    for name in imports_of(path):
        assert top(name) in MAY_IMPORT[room] | {"tasks"} | sys.stdlib_module_names, name
        assert top(name) not in {"os", "pathlib", "logging", "time", "random", "socket"}, name
        if top(name) == "tasks" and name != "tasks":
            assert may_use(room, name), name
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & IMPURE_CALLS


@pytest.mark.parametrize("path", sources("tasks") + sources("flows"), ids=lambda p: str(p.name))
def test_each_library_has_one_door(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for name in imports_of(path):
        doors = DOORS.get(top(name))
        assert doors is None or place in doors, f"{place} imports {name}"


@pytest.mark.parametrize("path", sources("tasks"), ids=lambda p: p.name)
def test_data_flows_one_way(path: Path) -> None:
    names = imports_of(path)
    assert not any(top(name) == "flows" for name in names)
    if "adapters" in path.parts:
        assert not any(
            name.startswith(("tasks.phases", "tasks.steps", "tasks.workbench")) for name in names
        )
    if path.name == "phases.py":
        assert not any(name.startswith("tasks.steps") for name in names)


def test_core_and_phases_run_without_prefect() -> None:
    modules = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in sources("tasks/core")]
    code = (
        "import sys\n"
        + "".join(f"import {module}\n" for module in modules if "__init__" not in module)
        + "import tasks.phases\n"
        + "assert 'prefect' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_steps_hold_no_logic() -> None:
    tree = ast.parse((ROOT / "tasks/steps.py").read_text(encoding="utf-8"))
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While | ast.If)]
    assert not loops


def test_steps_wrap_every_phase_and_keep_handles_only() -> None:
    from tasks import steps, workbench

    assert tuple(steps.STEPS) == workbench.PHASES
    for phase, step in steps.STEPS.items():
        bench = SimpleNamespace(handle=lambda name: f"handle of {name}")
        assert step.cache_key_fn(None, {"bench": bench}) == f"handle of {phase}"
        assert step.result_serializer == "json"
    assert steps.publish.persist_result is False
