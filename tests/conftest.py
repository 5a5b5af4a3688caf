"""Fixtures that every test may use."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tasks.adapters.wordnet import WordNet, load_wordnet

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
