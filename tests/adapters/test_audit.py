"""The audit: every row that was read, once, in the order of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from tasks.adapters.audit import (
    OF_EDITION,
    OF_RELEASE,
    audit_of_edition,
    audit_of_release,
    write_audit,
)
from tasks.adapters.provenance import Provenance, RowsRead
from tasks.core.records import AttributeSets
from tasks.core.verification.evidence import Promise

REASONS = ("", "too few", "no query")


def table_of(rng: np.random.Generator, files: list[str], count: int) -> Provenance:
    """Rows of some files, each once: some published, some withheld, some rejected."""
    places = rng.choice(len(files) * 60, count, replace=False)
    published, asked = count // 3, 2 * count // 3
    read = RowsRead(
        files=tuple(f"{name}.tsv" for name in files),
        digests=tuple(files),
        origins=(places // 60).astype(np.int8),
        rows=(places % 60 * 7 + 1).astype(np.int32),
        users=rng.integers(0, 5, asked).astype(np.int32),
        people=np.arange(5) * 100 - 200,
        reasons=REASONS,
        reason_of=np.repeat([0, 1, 2], [published, asked - published, count - asked]),
    )
    none = np.zeros(published, dtype=np.int32)
    mentioned = AttributeSets(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    promise = Promise("strict", 5, 1, "month", count, count - asked, asked - published, published)
    return Provenance(read, none, none.astype(np.int64), none, mentioned, "3.0", promise)


def lines_of(table: Provenance, release: str | None = None) -> list[dict[str, Any]]:
    """The oracle: line by line."""
    read, lines = table.read, []
    for place, (origin, row) in enumerate(zip(read.origins, read.rows, strict=True)):
        is_published = place < len(table.sets)
        lines.append(
            {
                "file": read.files[origin],
                "row": int(row),
                "person": int(read.people[read.users[place]]) if place < len(read.users) else None,
                "release_row": place + 1 if is_published else None,
                "reason": REASONS[read.reason_of[place]] or None,
                **({"release": release if is_published else None} if release else {}),
            }
        )
    return lines


@pytest.fixture(params=[None, 5])
def _few_at_a_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr("tasks.core.columns.ROWS_AT_A_TIME", request.param)
        monkeypatch.setattr("tasks.adapters.audit.ROWS_PER_GROUP", 100)


@pytest.mark.usefixtures("_few_at_a_time")
@pytest.mark.parametrize("count", [0, 1, 60])
def test_rows_of_a_release_come_file_by_file(count: int, tmp_path: Path) -> None:
    table = table_of(np.random.default_rng(count), ["b", "a"], count)
    file = tmp_path / "audit.parquet"
    assert write_audit(file, OF_RELEASE, audit_of_release(table)) == count
    found = pq.read_table(file)
    assert found.schema.equals(OF_RELEASE)
    expected = sorted(lines_of(table), key=lambda line: ("ba".index(line["file"][0]), line["row"]))
    assert found.to_pylist() == expected
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("_few_at_a_time")
@pytest.mark.parametrize("seed", range(4))
def test_a_row_that_was_read_again_counts_as_it_was_read_last(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    tables = [table_of(rng, files, 70) for files in (["b", "a"], ["c", "a"], ["a", "b"])]
    names, file = ["one", "two", "three"], tmp_path / "audit.parquet"
    lines = write_audit(file, OF_EDITION, audit_of_edition(names, tables))
    last = {
        ("bac".index(line["file"][0]), line["row"]): line
        for name, table in zip(names, tables, strict=True)
        for line in lines_of(table, name)
    }
    found = pq.read_table(file)
    assert found.schema.equals(OF_EDITION)
    assert found.to_pylist() == [last[key] for key in sorted(last)]
    assert lines == len(last)
