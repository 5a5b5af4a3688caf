"""What tests of services share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.receiver import Alerts, receiver


@pytest.fixture(scope="module")
def alerts() -> Iterator[Alerts]:
    with receiver() as running:
        yield running
