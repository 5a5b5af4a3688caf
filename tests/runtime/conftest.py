"""Stores for properties: a new one for every example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tasks.runtime.store import Store

ROOMY = 10**9


@pytest.fixture
def make_store(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Makes a store of its own for every example."""
    made: list[Store] = []

    def make() -> Store:
        made.append(Store(tmp_path / f"store{len(made)}", ROOMY))
        return made[-1]

    yield make
    for store in made:
        store.close()
