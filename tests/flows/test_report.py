"""Reports of real releases of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.run import main as release_log
from tests.adapters.report.test_report import FIGURES, PUBLIC_FIGURES, check, pictures
from tests.helpers.figures import internal_report


@pytest.mark.parametrize("guarantee", ["terms", "paper"])
@pytest.mark.parametrize("method", ["adaptive", "paper"])
def test_other_guarantees_and_methods_have_reports(
    tmp_path: Path, store: Path, guarantee: str, method: str
) -> None:
    options = ["--bare", "--quiet", "--guarantee", guarantee, "--method", method]
    assert release_log([*options, "--out", str(tmp_path), "--store", str(store)]) == 0
    public, page = (tmp_path / "report.html").read_text(), internal_report(store, tmp_path)
    check(public)
    assert tuple(pictures(public)) == PUBLIC_FIGURES
    check(page)
    assert f"Verified: {guarantee}, k = 5 people (column AnonID)." in page
    assert tuple(pictures(page)) == FIGURES
