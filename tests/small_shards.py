"""Shards of few things each, so that small logs have many."""

from __future__ import annotations

import pytest


def small(monkeypatch: pytest.MonkeyPatch, size: int = 50) -> None:
    """Many shards, of few things each."""
    monkeypatch.setattr("tasks.core.pairs.PAIRS_PER_SHARD", 10 * size)
    monkeypatch.setattr("tasks.core.pairs.MATCHES_PER_SHARD", size)
    monkeypatch.setattr("tasks.core.costs.SETS_PER_SHARD", size)
    monkeypatch.setattr("tasks.core.measures.ROWS_PER_SHARD", size)
    monkeypatch.setattr("tasks.measuring.SETS_PER_SHARD", size)
    monkeypatch.setattr("tasks.measuring.FEWEST_TO_SHARE", 1)
