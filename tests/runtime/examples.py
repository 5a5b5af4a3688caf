"""How many examples a property of the store is tried with: each has a store of its own."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

MANY_STORES = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
