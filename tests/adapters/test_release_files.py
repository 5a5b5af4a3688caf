"""The release on disk: what rows look like, and that files appear together or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow.parquet as pq
import pytest

from tasks.adapters.descriptors import write_descriptors
from tasks.adapters.release_files import (
    OTHER_FILES,
    Draft,
    open_draft,
    publish,
    write_measures,
    write_rows,
)
from tasks.core.records import NO_TIME, RecordTable, Release
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.errors import InputError
from tasks.schema import FinalMeasures
from tests.helpers.random_logs import table_of


@pytest.fixture
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vault")


@pytest.fixture
def taxonomy() -> Taxonomy:
    names = ["entity.n.01", "respiratory_disease.n.01", "cure.n.01"]
    words = ["entity", "respiratory disease", "cure"]
    return build_taxonomy(names, words, [[], [0], [0]], root="entity.n.01", version="")


@pytest.fixture
def table(taxonomy: Taxonomy) -> RecordTable:
    return table_of(taxonomy, [(user, [1], ["best", "near"], 0) for user in range(4)])


@pytest.fixture
def release(table: RecordTable) -> Release:
    best, near = (table.words.tolist().index(word) for word in ("best", "near"))
    moment = 1_141_207_200  # 2006-03-01 10:00:00
    return Release(
        class_of=np.array([1, 0, -1, 0], dtype=np.int32),
        term_offsets=np.array([0, 3, 4]),
        terms=np.array([best, -1 - 2, -1 - 1, near], dtype=np.int32),
        concept_offsets=np.array([0, 2, 2]),
        concepts=np.array([1, 2], dtype=np.int32),
        times=np.array([moment, NO_TIME]),
        precisions=np.array([3, 0], dtype=np.int32),
        clusters=np.array([6, -1], dtype=np.int32),
        reasons=np.array([0, 0, 1, 0], dtype=np.int32),
    )


ROWS = [
    ("best cure respiratory disease", "cure.n.01;respiratory_disease.n.01", "2006-03-01 10", "7"),
    ("best cure respiratory disease", "cure.n.01;respiratory_disease.n.01", "2006-03-01 10", "7"),
    ("near", "", "", ""),
]


@pytest.mark.parametrize("kind", ["tsv", "parquet"])
@pytest.mark.parametrize("seed", range(5))
def test_many_classes_are_written_in_the_order_of_their_rows(
    seed: int,
    kind: str,
    taxonomy: Taxonomy,
    tmp_path: Path,
    vault: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some at a time; that of text, not of numbers, and of records within a class."""
    rng, count, records = np.random.default_rng(seed), 60, 300
    table = table_of(
        taxonomy, [(user, [], ["b", "be", "b\u00e9", "a"], 0) for user in range(records)]
    )
    lengths = rng.integers(1, 4, count)
    has = rng.integers(0, 3, count)
    clusters = rng.integers(-1, 15, count).astype(np.int32)
    class_of = rng.permutation(
        np.append(np.arange(count), rng.integers(-1, count, records - count))
    )
    release = Release(
        class_of=class_of.astype(np.int32),
        term_offsets=np.append(0, np.cumsum(lengths)),
        terms=rng.integers(-3, len(table.words), lengths.sum()).astype(np.int32),
        concept_offsets=np.append(0, np.cumsum(has)),
        concepts=np.concatenate([np.arange(own) for own in has]).astype(np.int32),
        times=np.where(clusters > 3, NO_TIME, rng.integers(0, 10**9, count)),
        precisions=rng.integers(0, 4, count).astype(np.int32),
        clusters=clusters,
        reasons=(class_of < 0).astype(np.int32),
    )
    draft = open_draft(tmp_path, kind, vault)
    written = write_rows(draft, release, table, taxonomy)
    content = draft.release_path.read_bytes()
    if kind == "tsv":
        rows = [tuple(line.split("\t")) for line in content.decode().split("\n")[1:-1]]
    else:
        rows = [tuple(row.values()) for row in pq.read_table(draft.release_path).to_pylist()]
    assert rows == sorted(rows)
    assert len(rows) == len(written) == np.count_nonzero(class_of >= 0)
    row_of = dict(zip(written.tolist(), rows, strict=True))
    by_class = {int(own): row_of[record] for record, own in enumerate(class_of) if own >= 0}
    expected = sorted(
        (record for record in row_of),
        key=lambda record: (by_class[int(class_of[record])], int(class_of[record]), record),
    )
    assert written.tolist() == expected
    monkeypatch.setattr("tasks.adapters.release_files.TEXTS_AT_A_TIME", 7)
    monkeypatch.setattr("tasks.core.texts.TEXTS_AT_A_TIME", 5)
    monkeypatch.setattr("tasks.core.columns.ROWS_AT_A_TIME", 11)
    monkeypatch.setattr("tasks.core.arrays.PART", 3)
    again = write_rows(draft, release, table, taxonomy)
    assert again.tolist() == written.tolist()
    assert draft.release_path.read_bytes() == content


def test_rows_read_like_queries_and_are_sorted_by_what_they_say(
    tmp_path: Path, vault: Path, release: Release, table: RecordTable, taxonomy: Taxonomy
) -> None:
    draft = open_draft(tmp_path / "out", "tsv", vault)
    written = write_rows(draft, release, table, taxonomy)
    lines = draft.release_path.read_text().splitlines()
    assert lines[0].split("\t") == ["query", "concepts", "time", "cluster"]
    assert [tuple(line.split("\t")) for line in lines[1:]] == ROWS
    assert written.tolist() == [1, 3, 0]


def test_parquet_holds_the_same_rows(
    tmp_path: Path, vault: Path, release: Release, table: RecordTable, taxonomy: Taxonomy
) -> None:
    draft = open_draft(tmp_path / "out", "parquet", vault)
    write_rows(draft, release, table, taxonomy)
    columns = pq.read_table(draft.release_path).to_pydict()
    assert list(zip(*columns.values(), strict=True)) == ROWS


@pytest.mark.parametrize(
    ("precision", "shown"), [(0, ""), (1, "2006-03"), (2, "2006-03-01"), (3, "2006-03-01 10")]
)
def test_times_are_shown_as_finely_as_they_are_cut(
    tmp_path: Path, vault: Path, table: RecordTable, taxonomy: Taxonomy, precision: int, shown: str
) -> None:
    one = Release(
        class_of=np.zeros(4, dtype=np.int32),
        term_offsets=np.array([0, 1]),
        terms=np.zeros(1, dtype=np.int32),
        concept_offsets=np.array([0, 0]),
        concepts=np.zeros(0, dtype=np.int32),
        times=np.array([1_141_207_200]),
        precisions=np.array([precision], dtype=np.int32),
        clusters=np.array([-1], dtype=np.int32),
        reasons=np.zeros(4, dtype=np.int32),
    )
    draft = open_draft(tmp_path, "tsv", vault)
    write_rows(draft, one, table, taxonomy)
    assert draft.release_path.read_text().splitlines()[1].split("\t")[2] == shown


def finished(draft: Draft, mark: str) -> None:
    draft.release_path.write_text(mark)
    (draft.folder / "manifest.json").write_text(mark)
    for name in ("report.html", "README.md"):
        (draft.folder / name).write_text(mark)
    figures = cast("FinalMeasures", {"mark": mark})
    write_measures(draft, figures, figures)
    write_descriptors(draft.release_path, mark)


def test_nothing_is_visible_before_publication(tmp_path: Path, vault: Path) -> None:
    draft = open_draft(tmp_path, "tsv", vault)
    finished(draft, "new")
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
    publish(draft)
    names = {"release.tsv", *OTHER_FILES}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_killed_publication_shows_no_release(
    tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sees release.tsv sees all that belongs to it, at every step of the way."""
    publish_old = open_draft(tmp_path, "tsv", vault)
    finished(publish_old, "old")
    publish(publish_old)
    replace = os.replace
    seen: list[set[str]] = []

    def watched(source: Path, target: Path) -> None:
        if (tmp_path / "release.tsv").exists():
            marks = {p.read_text()[:3] for p in tmp_path.iterdir() if p.suffix in (".tsv", ".html")}
            seen.append(marks)
        replace(source, target)

    draft = open_draft(tmp_path, "tsv", vault)
    finished(draft, "new")
    monkeypatch.setattr(os, "replace", watched)
    publish(draft)
    assert seen == []
    assert (tmp_path / "release.tsv").read_text() == "new"


def test_leftovers_of_dead_runs_go_those_of_living_ones_stay(tmp_path: Path, vault: Path) -> None:
    (tmp_path / ".logveil-999999999").mkdir()
    (tmp_path / ".logveil-1").mkdir()
    open_draft(tmp_path, "tsv", vault)
    assert not (tmp_path / ".logveil-999999999").exists()
    assert (tmp_path / ".logveil-1").exists()


def test_an_output_that_is_a_file_is_a_clear_error(tmp_path: Path, vault: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="cannot write to --out"):
        open_draft(tmp_path / "out", "tsv", vault)
