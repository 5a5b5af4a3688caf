"""What there is of each row lies in columns: beside them only what there is of forms and classes.

Columns are mapped here, which tracemalloc does not see; what it sees is all the rest.
"""

from __future__ import annotations

import mmap
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tasks.core import columns
from tasks.core.columns import column, columns_in, computed
from tasks.core.records import SURPLUS, TIME_DAY, TIME_MONTH, Ints, RecordTable
from tasks.core.redaction.by_record import redact_by_terms
from tasks.core.redaction.class_sizes import limit_shares
from tasks.core.redaction.reasons import withheld_reasons
from tasks.core.rows.classes import cut_into_parts, only
from tasks.core.rows.levels import LogLevels
from tasks.core.rows.problem import row_problem
from tasks.core.rows.told import release_of
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import table_of

FORMS, ROWS_OF_FORM, AT_A_TIME = 200, 4000, 1 << 12
BYTES_A_ROW = 2
"""The narrowest array of all rows but for flags would take more."""
WORDS = tuple(f"query{number}" for number in range(FORMS))


class Mapped:
    """Columns lie in maps of the system."""

    def column(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        size = max(1, prod(shape) * kind.itemsize)
        return np.ndarray(shape, dtype=kind, buffer=mmap.mmap(-1, size))

    def rest(self) -> None: ...


@pytest.fixture(autouse=True)
def _in_columns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(columns, "ROWS_AT_A_TIME", AT_A_TIME)
    monkeypatch.setattr("tasks.core.rows.told.RECORDS_AT_A_TIME", AT_A_TIME)
    with columns_in(Mapped()):
        yield


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    return build_taxonomy(["entity"], ["entity"], [[]], root="entity", version="")


@pytest.fixture(scope="module")
def table(taxonomy: Taxonomy) -> RecordTable:
    """Few queries, each of many people, who ask it twice."""
    few = table_of(taxonomy, [(0, [], [word], 0) for word in WORDS])
    rows = np.arange(FORMS * ROWS_OF_FORM)
    return replace(
        few,
        form_of=(rows // ROWS_OF_FORM).astype(np.int32),
        users=(rows % (ROWS_OF_FORM // 2)).astype(np.int32),
        times=rows % ROWS_OF_FORM * 60,
        log_rows=rows.astype(np.int32),
    )


def bytes_a_row(table: RecordTable, made: Callable[[], object]) -> float:
    """The most memory that it takes beside columns."""
    tracemalloc.start()
    try:
        made()
        return tracemalloc.get_traced_memory()[1] / len(table)
    finally:
        tracemalloc.stop()


def classes_of_rows(table: RecordTable) -> Ints:
    """A few hundred people in each class."""
    classes = column(len(table), np.int32)
    classes[:] = np.arange(len(table)) // 500
    return classes


def test_units_and_parts_take_no_memory_for_each_row(
    table: RecordTable, taxonomy: Taxonomy
) -> None:
    levels = LogLevels(table, taxonomy)

    def made() -> None:
        problem, _ = row_problem(table, levels, k=5, l=1, precision=TIME_DAY)
        half = len(problem) // 2
        some = computed(half, np.int32, lambda own: 2 * np.arange(own.start, own.stop))
        cut_into_parts(only(problem, some), units_per_part=ROWS_OF_FORM)

    assert bytes_a_row(table, made) < BYTES_A_ROW


def test_redaction_takes_no_memory_for_each_row(table: RecordTable, taxonomy: Taxonomy) -> None:
    levels, class_of = LogLevels(table, taxonomy), classes_of_rows(table)

    def made() -> None:
        release = release_of(table, class_of, levels, k=5, precision=TIME_MONTH, senses=True)
        withheld_reasons(table, release.published, taxonomy, k=5)
        limit_shares(release, class_of, table.users, most=0.001, multiple=1, reason=SURPLUS)
        redact_by_terms(table, release, k=5, finest=TIME_MONTH, attributes=True)

    assert bytes_a_row(table, made) < BYTES_A_ROW
