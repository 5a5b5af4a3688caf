"""Fixtures that every test may use."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tasks.adapters.wordnet import WordNet, load_wordnet

# Machines are noisy: no test fails for its time. In CI the examples are the same every time.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")

# WordNet is compiled once per machine and code version, not once per test run.
SHARED_STORE = Path(tempfile.gettempdir()) / "logveil-test-store"


@pytest.fixture(scope="session")
def store() -> Path:
    """A store that already holds the compiled WordNet."""
    load_wordnet(SHARED_STORE)
    return SHARED_STORE


@pytest.fixture(scope="session")
def wordnet(store: Path) -> WordNet:
    return load_wordnet(store)
