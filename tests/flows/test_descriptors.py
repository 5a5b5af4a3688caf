"""Others can load a release: by Frictionless, by Croissant, as CSV and as Parquet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import frictionless
import mlcroissant
import pyarrow.parquet as pq
import pytest

from flows.run import main
from flows.verify import main as verify
from tasks.adapters.verifier import read_release
from tasks.schema import COLUMNS


@pytest.fixture(scope="module", params=["tsv", "csv", "parquet"])
def released(
    request: pytest.FixtureRequest, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("described") / "out"
    command = ["--bare", "--quiet", "--out", str(out), "--store", str(store)]
    said = ["--title", "Of a library", "--licence", "CC-BY-4.0"]
    assert main([*command, *said, "--release-format", request.param]) == 0
    assert verify([str(out), "--store", str(store)]) == 0
    (found,) = out.glob("release.*")
    assert found.suffix == f".{request.param}"
    return found


def test_the_data_package_is_valid(released: Path) -> None:
    package = frictionless.Package(str(released.with_name("datapackage.json")))
    assert package.resources[0].path == released.name
    report = frictionless.validate(str(released.with_name("datapackage.json")))
    assert report.valid, report.flatten()
    rows = [tuple(row.to_list()) for row in package.get_table_resource("release").read_rows()]
    assert rows == list(read_release(released).rows)


def test_the_croissant_is_valid_and_loads(released: Path) -> None:
    dataset = mlcroissant.Dataset(str(released.with_name("croissant.json")))
    assert dataset.metadata.ctx.issues.errors == set()
    rows = [
        # pandas, by which it reads text, takes numbers with gaps for 3.0
        tuple((row[f"rows/{name}"] or b"").decode().removesuffix(".0") for name in COLUMNS)
        for row in dataset.records("rows")
    ]
    assert rows == list(read_release(released).rows)


def test_they_say_what_is_promised(released: Path) -> None:
    for name in ("datapackage.json", "croissant.json"):
        told = json.loads(released.with_name(name).read_text())["description"]
        assert told.startswith(
            "Verified: strict, k = 5 people (column AnonID). Every published row"
        )


def test_they_say_what_the_publisher_says(released: Path) -> None:
    package = json.loads(released.with_name("datapackage.json").read_text())
    page = json.loads(released.with_name("croissant.json").read_text())
    assert (package["title"], page["alternateName"]) == ("Of a library",) * 2
    assert (package["licenses"][0]["name"], page["license"]) == ("CC-BY-4.0",) * 2


def test_columns_are_described_in_parquet(released: Path) -> None:
    if released.suffix != ".parquet":
        pytest.skip("text has no place for it")
    schema = pq.read_schema(released)
    assert {f.name: f.metadata[b"description"].decode() for f in schema} == COLUMNS


def test_csv_is_plain_or_refused(released: Path, tmp_path: Path) -> None:
    if released.suffix != ".csv":
        pytest.skip("of CSV alone")
    with released.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    assert tuple(header) == tuple(COLUMNS)
    assert [tuple(row) for row in rows] == list(read_release(released).rows)
    marked = tmp_path / "release.csv"
    content = released.read_text()
    for other in (content.replace(f"\n{rows[0][0]},", f'\n"{rows[0][0]}",', 1), content + '"'):
        marked.write_text(other)
        assert "the release file can be read: broken" in read_release(marked).faults[0]
