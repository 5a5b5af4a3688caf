"""The benchmark of information kept: how version 0.1 is measured, and when the verdict is no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks.core.arrays import split_ragged
from tasks.core.records import QueryLog
from tasks.core.texts import TextColumn
from tasks.evaluation.method import without_times
from tests.bench.first_version import first_release, phrases
from tests.bench.information import rows_telling
from tests.bench.information_tables import information_tables, verdict
from tests.helpers.random_logs import table_of
from tests.helpers.strategies import mini_taxonomy

KINDS = ("kept", "said", "times", "published", "telling", "concepts_true", "rows_true")
PAPERS = ("loss", "symmetric_loss", "records_below_0_45")


def cell(**kept: float) -> dict[str, Any]:
    """One log in one scope; ours holds everything unless something else is said."""
    usual = dict.fromkeys((*KINDS, *PAPERS), 50.0) | {"concepts_true": 100.0, "rows_true": 100.0}
    ours = {**usual, "kept": 60.0, "said": 60.0, **kept}
    about = {"sample": "--queries 10000 --users 800 --seed 7", "scope": "all", "k": 5}
    most = {"said": 70.0, "published": 90.0}
    return {**about, "0.1": usual, "floor": usual, "ours": ours, "most": most}


def test_all_holds() -> None:
    lines = verdict([cell(), cell()]).splitlines()
    held = [line.startswith("- holds in all 2 cells:") for line in lines]
    assert held == [True] * 6 + [False] * 3 + [True]
    assert [line.endswith("in 0 cells") for line in lines[6:8]] == [True] * 2
    assert lines[8].endswith("at least 0.857 is")
    assert "least 1.200 (10,000 of 800, `all`, k = 5)" in lines[0]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ({"kept": 52.0}, 0),
        ({"kept": 50.0}, 1),
        ({"said": 52.0}, 2),
        ({"said": 50.0}, 3),
        ({"published": 49.9}, 4),
        ({"telling": 49.9}, 5),
        ({"concepts_true": 99.9}, 9),
        ({"rows_true": 99.9}, 9),
    ],
)
def test_one_cell_that_falls_short_is_told(broken: dict[str, float], line: int) -> None:
    lines = verdict([cell(), cell(**broken)]).splitlines()
    assert lines[line].startswith("- **does not hold** in 1 of 2 cells:")


def test_tables_show_all_three_side_by_side() -> None:
    found = information_tables({"cells": [cell()]})
    last = found["information_table"].splitlines()[-1]
    assert last.startswith("| 10,000 of 800 | all | 5 | 50.0 / 50.0 / 60.0 |")
    assert last.endswith("| 1.200 | 1.200 | 1.200 | 1.200 | 1.400 | 90.0 |")
    assert "50.0 / 50.0 / 50.0" in found["paper_measures_table"]


def test_what_version_0_1_said_is_told_in_our_words_by_line_of_the_log() -> None:
    """Three lines; the second was a row of fillers alone, the third was withheld."""
    taxonomy = mini_taxonomy()
    rows = [(0, [5], ["cheap", "shoes"], 0), (1, [6], ["the"], 0), (2, [7], ["best"], 0)]
    table = table_of(taxonomy, rows)
    lines = np.array([2, 4, 5], dtype=np.int64)
    log = QueryLog(
        texts=TextColumn.of(["", "", ""]),
        users=table.users,
        times=table.times,
        people=np.arange(3),
        sources=("log",),
        origins=np.zeros(3, dtype=np.int32),
        rows=lines,
        reject_sources=np.zeros(0, dtype=np.int32),
        reject_rows=np.zeros(0, dtype=np.int64),
        reject_reasons=np.zeros(0, dtype=object),
        has_times=True,
    )
    name = str(taxonomy.names[3])
    told = {"query": "cheap shoes unknown", "concepts": [name], "cluster": 4, "precision": 2}
    fillers = {"query": "the", "concepts": [], "cluster": -1, "precision": 0}
    found = {
        "rows": [{**told, "fillers_only": False}, {**fillers, "fillers_only": True}],
        "row_of": {"2": 0, "4": 1},
    }
    release = first_release(found, log, table, taxonomy)
    by_line = dict(zip(lines[table.log_rows].tolist(), release.class_of.tolist(), strict=True))
    assert by_line == {2: 0, 4: -1, 5: -1}
    said, _ = split_ragged(release.term_offsets, release.terms)
    assert sorted(table.words[said]) == ["cheap", "shoes"]
    assert release.concepts.tolist() == [3]
    assert release.precisions.tolist() == [2, 0]


def test_words_of_ours_may_be_several_of_a_query() -> None:
    assert phrases("new york new") == ["new", "york", "new york", "york new", "new york new"]


def test_a_row_tells_something_true_by_a_typed_word_or_a_concept_above() -> None:
    """A row of c3, which is above 5, 6 and 7 but not 8, and of a word that one record typed."""
    taxonomy = mini_taxonomy()
    rows = [(0, [5], [], 0), (1, [8], ["cheap"], 0), (2, [8], [], 0), (3, [6], [], 0)]
    table = table_of(taxonomy, rows)
    cheap = table.words.tolist().index("cheap")
    withheld = table.users == 3
    class_of = np.where(withheld, -1, 0).astype(np.int32)
    release = without_times(class_of, [[cheap, -4]], [[3]], [0])
    assert rows_telling(table, release, taxonomy) == 2
