"""A release is read back as it lies on the disk, and what cannot be read is a fault."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.adapters.verifier import read_release, verify_file, verify_union
from tasks.core.records import AttributeSets
from tasks.core.verification.evidence import COLUMNS, Behind, Promise
from tasks.core.verification.union import union_promise
from tests.core.release_cases import CLAUSES, HEADER, KNOWLEDGE, NAME, STRICT, Case


def write_tsv(path: Path, case: Case = STRICT) -> None:
    lines = ["\t".join(row) + "\n" for row in (case.header, *case.rows)]
    path.write_bytes("".join(lines).encode())


def as_table(case: Case = STRICT) -> pa.Table:
    columns = [pa.array(column, type=pa.string()) for column in zip(*case.rows, strict=True)]
    return pa.table(columns, names=list(case.header))


def write_parquet(path: Path, case: Case = STRICT) -> None:
    pq.write_table(as_table(case), path)


WRITERS: dict[str, Callable[..., None]] = {"tsv": write_tsv, "parquet": write_parquet}


def verify(path: Path, case: Case = STRICT) -> list[str]:
    return verify_file(path, case.behind, case.promise, KNOWLEDGE)


@pytest.mark.parametrize("kind", WRITERS)
def test_an_honest_file_is_proven(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"release.{kind}"
    WRITERS[kind](path)
    assert verify(path) == []


@pytest.mark.parametrize("kind", WRITERS)
def test_what_is_broken_in_the_file_is_found(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"release.{kind}"
    WRITERS[kind](path, STRICT.with_cell(0, 0, f"{STRICT.rows[0][0]} {NAME}").sorted())
    found = verify(path)
    assert [fault.partition(":")[0] for fault in found] == [
        "no query holds a direct identifier",
        CLAUSES["sets"],
        "every whole row is shared by at least 3 people",
        CLAUSES["common"],
    ]
    assert NAME not in " ".join(found)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_missing_file_is_a_fault(kind: str, tmp_path: Path) -> None:
    assert verify(tmp_path / f"release.{kind}") == [
        "the release file can be read: broken, it cannot be opened (No such file or directory)"
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("release.tsv", b"query\tconcepts\ttime\tcluster\nj\xf6rg\t\t\t\n"),
        ("release.parquet", b""),
        ("release.parquet", b"PAR1 jorg PAR1"),
    ],
)
def test_a_damaged_file_is_a_fault_that_quotes_nothing(
    name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert verify(path) == [
        "the release file can be read: broken, it is not what its name says, or damaged"
    ]


def test_text_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    """Parquet does not check what it calls a string."""
    path = tmp_path / "release.parquet"
    bad = pa.array([b"j\xf6rg"] * len(STRICT.rows), type=pa.binary()).view(pa.string())
    pq.write_table(as_table().set_column(0, "query", bad), path)
    assert verify(path) == [
        "the release file can be read: broken, it is not what its name says, or damaged"
    ]


def test_a_file_without_any_column_is_a_fault(tmp_path: Path) -> None:
    pq.write_table(pa.table({}), tmp_path / "release.parquet")
    (tmp_path / "release.csv").write_bytes(b"\n")
    for path in tmp_path.iterdir():
        assert "the release file can be read: broken" in verify(path)[0]


@pytest.mark.parametrize("content", [b"", b"query\tconcepts\ttime\tcluster", b"a\nb"])
def test_a_file_cut_off_is_a_fault(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "release.tsv"
    path.write_bytes(content)
    assert verify(path) == ["the release file can be read: broken, it ends within a line"]


def test_only_line_feeds_and_tabs_divide(tmp_path: Path) -> None:
    path = tmp_path / "release.tsv"
    path.write_bytes("a\tb\r\nc\x0b\u2028d\te\n".encode())
    reading = read_release(path)
    assert reading.header == ("a", "b\r")
    assert list(reading.rows) == [("c\x0b\u2028d", "e")]


def peak_of_verifying(path: Path, classes: int, people: int = 20) -> int:
    """Of classes of as many people, who ask in all of them."""
    texts = sorted(f"winter{number}" for number in range(classes))
    lines = ["\t".join(COLUMNS) + "\n", *(f"{text}\t\t\t\n" * people for text in texts)]
    path.write_text("".join(lines))
    rows = classes * people
    users = np.tile(np.arange(people, dtype=np.int32), classes)
    none = np.zeros(rows, dtype=np.int32)
    mentioned = AttributeSets(np.array([0, 0]), np.zeros(0, dtype=np.int32))
    behind = Behind(users, np.arange(rows) % (rows // 2), none, none, mentioned)
    promise = Promise("strict", 5, 1, "month", rows, 0, 0, rows, dominance=0.5)
    tracemalloc.start()
    try:
        assert verify_file(path, behind, promise, KNOWLEDGE) == []
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_row_more_takes_few_bytes_to_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("verification.truth.PART", "members.ROWS_PER_GROUP", "columns.ROWS_AT_A_TIME"):
        monkeypatch.setattr(f"tasks.core.{name}", 1 << 12)
    small, large = (peak_of_verifying(tmp_path / "release.tsv", size) for size in (500, 2500))
    assert (large - small) / (2000 * 20) < 90


def verify_all(paths: list[Path], case: Case = STRICT) -> list[str]:
    """The same release several times over."""
    people = [(case.behind, case.promise)] * len(paths)
    return verify_union(paths, people, union_promise([case.promise] * len(paths)), KNOWLEDGE)


@pytest.mark.parametrize("kind", WRITERS)
def test_an_edition_is_read_back_file_by_file(kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.{kind}" for number in (1, 2, 3)]
    for path in paths:
        WRITERS[kind](path)
    assert verify_all(paths) == []
    WRITERS[kind](paths[1], STRICT.with_cell(0, 0, f"{STRICT.rows[0][0]} {NAME}").sorted())
    found = verify_all(paths)
    assert [fault.rpartition(":")[0] for fault in found] == [
        "release 2: no query holds a direct identifier",
        f"release 2: {CLAUSES['sets']}",
        "release 2: every whole row is shared by at least 3 people",
        f"release 2: {CLAUSES['common']}",
        f"all releases: {CLAUSES['sets']}",
        "all releases: every whole row is shared by at least 3 people",
        f"all releases: {CLAUSES['common']}",
    ]
    assert NAME not in " ".join(found)


def test_an_edition_of_which_a_file_is_missing_is_not_proven(tmp_path: Path) -> None:
    write_tsv(tmp_path / "1.tsv")
    assert verify_all([tmp_path / "1.tsv", tmp_path / "2.tsv"]) == [
        "release 2: the release file can be read: "
        "broken, it cannot be opened (No such file or directory)"
    ]


def with_missing_cell(table: pa.Table) -> pa.Table:
    cells = [cell or None for cell in table.column("time").to_pylist()]
    return table.set_column(2, "time", pa.array(cells, type=pa.string()))


def with_numbers(table: pa.Table) -> pa.Table:
    cells = [int(cell or 0) for cell in table.column("cluster").to_pylist()]
    return table.set_column(3, "cluster", pa.array(cells))


def with_notes(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({"users": ",".join(map(str, STRICT.users))})


def with_column_notes(table: pa.Table) -> pa.Table:
    noted = pa.field("query", pa.string(), metadata={"users": "1,2,3"})
    return table.cast(pa.schema([noted, *list(table.schema)[1:]]))


@pytest.mark.parametrize("hide", [with_missing_cell, with_numbers, with_notes, with_column_notes])
def test_parquet_carries_nothing_beside_text(
    hide: Callable[[pa.Table], pa.Table], tmp_path: Path
) -> None:
    path = tmp_path / "release.parquet"
    pq.write_table(hide(as_table()), path)
    assert verify(path)[0].startswith("a Parquet release holds text and nothing beside it: broken")


def test_what_a_parquet_file_carries_is_found_in_an_edition(tmp_path: Path) -> None:
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    write_parquet(paths[0])
    pq.write_table(with_notes(as_table()), paths[1])
    assert verify_all(paths) == [
        "release 2: a Parquet release holds text and nothing beside it: broken by notes in the file"
    ]


def test_a_user_column_of_numbers_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    pq.write_table(as_table().append_column("user", pa.array(STRICT.users)), path)
    assert "the columns are query, concepts, time, cluster: no user key" in " ".join(verify(path))


def test_the_verifier_shares_no_code_with_redaction_or_the_writer() -> None:
    script = "import sys, tasks.adapters.verifier, tasks.adapters.provenance; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ours = {name for name in run.stdout.split() if name.startswith("tasks.")}
    assert ours == {
        "tasks.adapters",
        "tasks.adapters.private_folders",
        "tasks.adapters.provenance",
        "tasks.runtime",
        "tasks.runtime.codec",
        "tasks.runtime.files",
        "tasks.adapters.verifier",
        "tasks.core",
        "tasks.core.arrays",
        "tasks.core.choices",
        "tasks.core.columns",
        "tasks.core.counted",
        "tasks.core.members",
        "tasks.core.texts",
        "tasks.errors",
        "tasks.schema",
        "tasks.core.records",
        "tasks.core.taxonomy",
        "tasks.core.verification",
        "tasks.core.verification.clauses",
        "tasks.core.verification.evidence",
        "tasks.core.verification.truth",
        "tasks.core.verification.union",
    }


def test_the_writers_columns_are_the_verifiers_columns() -> None:
    """Written down twice on purpose: this is where they meet."""
    from tasks.schema import COLUMNS

    assert tuple(COLUMNS) == HEADER
