"""Shards of few things each, so that small logs have many."""

from __future__ import annotations

import pytest


def small(monkeypatch: pytest.MonkeyPatch, size: int = 50) -> None:
    """Many shards, of few things each."""
    monkeypatch.setattr("tasks.core.similarity.pairs.PAIRS_PER_SHARD", 10 * size)
    monkeypatch.setattr("tasks.core.similarity.pairs.MATCHES_PER_SHARD", size)
    monkeypatch.setattr("tasks.core.similarity.costs.SETS_PER_SHARD", size)
    monkeypatch.setattr("tasks.core.measures.information_loss.ROWS_PER_SHARD", size)
    monkeypatch.setattr("tasks.measuring.SETS_PER_SHARD", size)
    monkeypatch.setattr("tasks.measuring.FEWEST_TO_SHARE", 1)
