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
    "evaluation": {
        *("method", "own_methods", "catalogue", "measures", "baselines"),
        *("usefulness", "contest"),
    },
    "synthetic": {"draws", "identifiers", "log", "phrases", "queries"},
}
# One library, one door.
DOORS = {
    "prefect": {
        "flows/anonymise.py",
        "flows/comparison.py",
        "flows/dask_executor.py",
        "flows/run_page.py",
        "tasks/steps.py",
        "tasks/evaluation/steps.py",
    },
    "nltk": {"tasks/adapters/wordnet.py"},
    "spacy": {"tasks/adapters/detection/pipeline.py"},
    "presidio_analyzer": {"tasks/adapters/detection/identifiers.py"},
    "diskcache": {"tasks/runtime/store.py"},
    "fsspec": {"tasks/runtime/remote.py", "tasks/runtime/sources.py"},
    "ijson": {"tasks/adapters/logs/json_logs.py"},
    "python_calamine": {"tasks/adapters/logs/sheets.py"},
    "prefect_dask": {"flows/dask_executor.py"},
    "dask": {"flows/dask_executor.py"},
    "distributed": {"flows/dask_executor.py"},
    "rapidfuzz": {"tasks/evaluation/baselines/microaggregation.py"},
    "jinja2": {"tasks/adapters/pages/page.py"},
    "pydp": {"tasks/adapters/private_counts.py"},
    "dp_accounting": {"tasks/adapters/private_counts.py"},
    "anonypyx": {"tasks/evaluation/peers.py"},
}
IMPURE_CALLS = {"open", "print", "input"}
ROOTS = ("deployments", "flows", "tasks")
# A room imports rooms of lower rank alone. The leaves: what everybody may say.
RANKS = {
    **dict.fromkeys(("tasks.errors", "tasks.folders", "tasks.schema", "tasks.version"), 0),
    "tasks.core": 1,
    "tasks.settings": 2,
    "tasks.runtime": 3,
    "tasks.adapters": 4,
    "tasks.synthetic": 5,
    "tasks.phases": 5,
    "tasks.steps": 6,
    "tasks.editions": 6,
    "tasks.evaluation": 6,
    "flows": 7,
    "deployments": 8,
}
# Commands answer --help before they import anything heavy; spaCy takes a second, and a run that
# meets no new text does not need it.
COMMANDS = ("cli", "compare", "inbox", "inspect", "notebook", "process", "run", "sample", "verify")
LATE = {*(f"flows/{name}.py" for name in COMMANDS), "tasks/adapters/detection/text_reader.py"}
UNTYPED = {"text_pipeline"}
"""spaCy's own type, which has no stubs."""
LEAVES = ("tasks.errors", "tasks.schema")
"""What the pure part may use beside itself."""


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


def place_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def own_sources() -> list[Path]:
    return [path for root in ROOTS for path in sources(root)]


def own_imports(path: Path) -> set[str]:
    return {name for name in imports_of(path) if top(name) in ROOTS and name not in ROOTS}


def room_of(name: str) -> str:
    """The room that a module, or something in it, is in."""
    first, *rest = name.split(".")
    return first if first != "tasks" or not rest else f"tasks.{rest[0]}"


def late_imports(path: Path) -> set[str]:
    """What is imported within functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = [node for function in functions for node in ast.walk(function)]
    return {node.module for node in found if isinstance(node, ast.ImportFrom) and node.module}


def names_in_signature(function: ast.FunctionDef) -> set[str]:
    arguments = (*function.args.args, *function.args.kwonlyargs)
    said = [argument.annotation for argument in arguments] + [function.returns]
    return {
        node.id
        for annotation in said
        if annotation is not None
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name)
    }


def pure_sources() -> list[Path]:
    return sources("tasks/core") + [
        path
        for room, pure in PURE_IN.items()
        for path in sources(f"tasks/{room}")
        if path.relative_to(ROOT / "tasks" / room).with_suffix("").parts[0] in pure
    ]


def may_use(room: str, name: str) -> bool:
    """Core uses core alone; the pure part of another room uses core and itself."""
    if name.startswith(LEAVES):
        return True
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


@pytest.mark.parametrize("path", own_sources(), ids=place_of)
def test_arrows_are_never_reversed(path: Path) -> None:
    """Also by imports within functions, and for types alone."""
    room = room_of(module_of(path))
    for name in own_imports(path):
        other = room_of(name)
        assert other == room or RANKS[other] < RANKS[room], f"{room} imports {name}"


@pytest.mark.parametrize("path", sources("flows") + sources("deployments"), ids=place_of)
def test_flows_reach_core_through_phases_alone(path: Path) -> None:
    assert not [name for name in own_imports(path) if room_of(name) == "tasks.core"]


@pytest.mark.parametrize("path", own_sources(), ids=place_of)
def test_nothing_is_imported_late_but_for_a_reason(path: Path) -> None:
    late = {name for name in late_imports(path) if top(name) in ROOTS}
    assert not late or place_of(path) in LATE, late


def test_core_and_phases_run_without_prefect() -> None:
    modules = [module_of(p) for p in sources("tasks/core") + sources("tasks/phases")]
    code = (
        "import sys\n"
        + "".join(f"import {module}\n" for module in modules)
        + "assert 'prefect' not in sys.modules\n"
        + "assert 'spacy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_release_is_calls_in_a_row_between_named_types() -> None:
    """What one phase returns the next takes, and mypy sees it: there is no `Any` between them."""
    for path in [*sources("tasks/phases"), ROOT / "flows" / "release.py"]:
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name not in UNTYPED:
                assert "Any" not in names_in_signature(function), (
                    f"{place_of(path)}:{function.name}"
                )


def test_steps_hold_no_logic() -> None:
    tree = ast.parse((ROOT / "tasks/steps.py").read_text(encoding="utf-8"))
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While | ast.If)]
    assert not loops


def test_prefect_keeps_fingerprints_only() -> None:
    from tasks import steps

    result = SimpleNamespace(fingerprint="name of a result")
    assert steps.phase.cache_key_fn is not None
    assert steps.phase.cache_key_fn(None, {"result": result}) == "name of a result"  # type: ignore
    assert steps.phase.result_serializer == "json"
    assert steps.publish.persist_result is False
    assert steps.part.persist_result is False
