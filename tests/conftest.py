"""Fixtures that every test may use."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from flows.run import main
from tasks.adapters.wordnet import WordNet, load_wordnet
from tests.helpers.stores import prepared_store

# Machines are noisy: no test fails for its time. In CI the examples are the same every time.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")

# The day of a release: nothing differs from one side of midnight to the other.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1790000000")

# WordNet is compiled once per machine and code version, not once per test run.
SHARED_STORE = Path(tempfile.gettempdir()) / "logveil-test-store"


@pytest.fixture(scope="session")
def store() -> Path:
    """A store that already holds the compiled WordNet."""
    load_wordnet(SHARED_STORE)
    return SHARED_STORE


@pytest.fixture
def new_store(store: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes stores that hold nothing but the compiled WordNet: whatever runs there is computed."""
    numbers = count()

    def make() -> Path:
        return prepared_store(tmp_path / f"store{next(numbers)}", store)

    return make


@pytest.fixture(scope="session")
def sample_measures(store: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The internal measures of a release of the shipped sample."""
    out = tmp_path_factory.mktemp("sample") / "release"
    with redirect_stdout(io.StringIO()) as printed:
        assert main(["--bare", "--json", "--out", str(out), "--store", str(store)]) == 0
    loaded: dict[str, object] = json.loads(printed.getvalue())
    return loaded


@pytest.fixture(scope="session")
def wordnet(store: Path) -> WordNet:
    return load_wordnet(store)
