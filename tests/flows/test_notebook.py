"""The Python interface: tables in, the bytes of a file out; and the notebook that shows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flows.notebook import Released, release
from tasks.errors import InputError, NothingToRelease, UsageError
from tasks.settings import SAMPLE_LOG

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
FRAME = pl.read_csv(SAMPLE_LOG, separator="\t", quote_char=None)


def as_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(frame.to_dict(as_series=False))


def as_arrow(frame: pl.DataFrame) -> pa.Table:
    return pa.table(frame.to_dict(as_series=False))


@pytest.fixture(scope="module")
def by_file(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Released:
    out = tmp_path_factory.mktemp("notebook") / "release"
    return release(SAMPLE_LOG, out=str(out), store=str(store), quiet=True)


@pytest.mark.parametrize("kind", [lambda frame: frame, as_pandas, as_arrow])
def test_a_table_gives_the_bytes_of_the_file(
    kind: Callable[[pl.DataFrame], Any], by_file: Released, store: Path, tmp_path: Path
) -> None:
    made = release(kind(FRAME), out=str(tmp_path / "out"), store=str(store), quiet=True)
    assert (made.folder / "release.tsv").read_bytes() == (
        by_file.folder / "release.tsv"
    ).read_bytes()
    assert made.table.equals(by_file.table)
    assert made.measures["records"] == by_file.measures["records"]


def test_what_is_returned_is_what_was_published(by_file: Released) -> None:
    lines = (by_file.folder / "release.tsv").read_text().splitlines()
    assert by_file.table.column_names == lines[0].split("\t")
    assert ["\t".join(row.values()) for row in by_file.table.to_pylist()] == lines[1:]
    assert by_file.measures["rounded"]
    assert by_file.report.html == (by_file.folder / "report.html").read_text()
    assert "Verified: strict, k = 5 people" in by_file._repr_html_()
    assert "srcdoc=" in by_file.report._repr_html_()


def test_a_table_leaves_no_raw_text(
    new_store: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    frame = FRAME.with_columns(Query=pl.lit("zyxcanary ") + pl.col("Query"))
    release(frame, out=str(tmp_path / "out"), store=str(new_store()), quiet=True, workers=1)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    told = {path for path in kept if b"zyxcanary" in path.read_bytes()}
    # k people asked for it, so it stands in rows, of which reports and data card show some.
    assert {path for path in told if path.parent != tmp_path / "out"} == {
        path for path in kept if path.name == "report.html" and path.parent != tmp_path / "out"
    }
    assert {path.name for path in told} == {"release.tsv", "report.html", "README.md"}
    assert not list((tmp_path / "temporary").iterdir())
    with pytest.raises(InputError, match="<table> does not exist"):
        release("<table>", out=str(tmp_path / "out"), store=str(new_store()), quiet=True)


def test_faults_are_those_of_the_command(store: Path, tmp_path: Path) -> None:
    out, kept = str(tmp_path / "out"), str(store)
    with pytest.raises(UsageError, match="no such setting: gurantee; guarantee is meant"):
        release(FRAME, gurantee="terms", out=out, store=kept)
    with pytest.raises(UsageError, match="runner local alone"):
        release(FRAME, runner="dask", out=out, store=kept)
    with pytest.raises(NothingToRelease):
        release(FRAME, k=10_000, out=out, store=kept, quiet=True)
    assert not list((tmp_path / "out").glob("*"))


def test_the_config_holds_here_too(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logveil.toml").write_text(f'k = 6\nout = "there"\nstore = "{store}"\n')
    assert release([SAMPLE_LOG], quiet=True).measures["settings"]["k"] == 6
    assert (tmp_path / "there" / "release.tsv").exists()


def test_the_notebook_runs(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOK.parents[1]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    (tmp_path / "logveil.toml").write_text(f'store = "{store}"\n')
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = "".join(str(cell.get("outputs", "")) for cell in notebook.cells)
    assert "verify the written release" in shown
    assert "iframe srcdoc" in shown
    assert "holds a release already" in shown
    assert os.listdir(tmp_path / "release")
