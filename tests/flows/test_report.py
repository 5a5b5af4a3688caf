"""Reports of real releases of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.inbox import main as release_inbox
from flows.run import main as release_log
from tests.adapters.report.test_report import FIGURES, check, pictures
from tests.flows.test_inbox import Site


@pytest.mark.parametrize("guarantee", ["terms", "paper"])
@pytest.mark.parametrize("method", ["adaptive", "paper"])
def test_other_guarantees_and_methods_have_reports(
    tmp_path: Path, store: Path, guarantee: str, method: str
) -> None:
    options = ["--bare", "--quiet", "--guarantee", guarantee, "--method", method]
    assert release_log([*options, "--out", str(tmp_path), "--store", str(store)]) == 0
    page = (tmp_path / "report.html").read_text()
    check(page)
    assert f"Verified: {guarantee}, k = 5." in page
    assert tuple(pictures(page)) == FIGURES


def test_a_release_of_no_row_has_a_report(tmp_path: Path, store: Path) -> None:
    """Two people are fewer than k: their rows wait, and no word of theirs is on the page."""
    site = Site(tmp_path, store)
    rows = (
        "1\tlung cancer\t2006-03-01 10:00:00",
        "2\tknee surgery\t2006-03-01 10:00:00",
        "3\tx\t?",
    )
    lines = ("AnonID\tQuery\tQueryTime", *rows)
    (site.inbox / "log.tsv").write_text("".join(f"{line}\n" for line in lines))
    assert release_inbox(site.options) == 0
    (written,) = site.out.glob("edition-*/release-*/report.html")
    page = written.read_text()
    check(page)
    assert "0 of 3 rows are published, 2 withheld, 1 set aside" in page
    assert "time not understood" in page
    assert "cancer" not in page
    drawn = {"rows", "kept", "kept-topics", "withheld", "risk", "topics"}
    assert drawn == set(pictures(page))
