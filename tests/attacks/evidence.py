"""What attackers hold and what judges them: releases, the raw log, the audit; read by own code."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa

COLUMNS: Final = ["query", "concepts", "time", "cluster"]
QUERY_NAMES: Final = ("query", "q", "search", "text", "querytext")
USER_NAMES: Final = ("anonid", "user", "userid", "user_id", "person")
TIME_NAMES: Final = ("querytime", "time", "timestamp", "date", "datetime")
MONTH: Final = 7
"""Characters of a time that tell its month: 2006-03."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Releases of one edition, or of one log, with those who stand behind their rows.

    Attributes:
        k: people behind each row, as promised.
        records: what was published, a line a row: class, person, text and month in the log.
        classes: each distinct row of each release: its release and its columns.
        population: people in the log.
        settings: of the first release, as its public figures tell them.
    """

    k: int
    records: Any
    classes: Any
    population: int
    settings: Mapping[str, Any]

    @property
    def chance(self) -> float:
        """How often somebody is named rightly by whoever knows the log's people and no more."""
        return 1 / self.population

    def people(self) -> Any:
        """How many people stand behind each class."""
        return self.records.groupby("cls").person.nunique()


class EvidenceError(Exception):
    """Something is missing for the attack."""


def read_evidence(
    releases: Sequence[Path], logs: Sequence[Path], audits: Sequence[Path], k: int | None = None
) -> Evidence:
    """Put together release, log and audit.

    Args:
        releases: folders of releases, or one of an edition, which holds those.
        logs: every file that was released.
        audits: one, of an edition; or one for each release, of one store: it keys the people.
        k: if the release does not say it.
    """
    told = pd.concat(map(_read_audit, audits), keys=range(len(audits)), names=["audit"])
    told = told.reset_index(level="audit").reset_index(drop=True)
    folders = [folder for path in releases for folder in _release_folders(path)]
    if "release" in told:
        told["folder"] = told.release.map({path.name: at for at, path in enumerate(folders)})
    elif len(audits) == len(folders):
        told["folder"] = told.audit
    else:
        raise EvidenceError(f"{len(folders)} releases need as many audits, or one of an edition")
    raw = read_logs(logs)
    published = told[told.release_row.notna()]
    if published.folder.isna().any():
        raise EvidenceError("the audit tells of releases that are not given: give them all")
    rows = pd.concat([read_release(path) for path in folders], keys=range(len(folders)))
    rows["cls"] = rows.groupby([rows.index.get_level_values(0), *COLUMNS]).ngroup()
    places = pd.MultiIndex.from_arrays(
        [published.folder.astype(int), published.release_row.astype(int) - 1]
    )
    typed = raw.reindex(_places_in_logs(published, logs))
    if typed.text.isna().any():
        raise EvidenceError("rows of the audit are not in the logs: give every file with --raw")
    records = pd.DataFrame(
        {
            "cls": rows.cls.reindex(places).to_numpy(),
            "person": published.person.to_numpy(),
            "text": typed.text.to_numpy(),
            "month": typed.time.str[:MONTH].to_numpy(),
        }
    )
    classes = rows.rename_axis(["release", "row"]).reset_index("release").drop_duplicates("cls")
    settings = read_figures(folders[0]).get("settings", {})
    least = k or settings.get("k")
    if not least:
        raise EvidenceError("the release does not say its k: give --k")
    classes = classes.set_index("cls").sort_index()
    return Evidence(int(least), records, classes, told.person.nunique(), settings)


def _release_folders(path: Path) -> list[Path]:
    """The folder itself, or the releases of an edition in their order."""
    if _release_file(path):
        return [path]
    found = sorted(folder for folder in path.iterdir() if folder.is_dir() and _release_file(folder))
    if not found:
        raise EvidenceError(f"{path} holds no release.tsv or release.parquet")
    return found


def _release_file(folder: Path) -> Path | None:
    names = (folder / "release.tsv", folder / "release.parquet")
    return next((path for path in names if path.exists()), None)


def read_release(folder: Path) -> Any:
    """The published rows in their order, every cell a text."""
    path = _release_file(folder)
    if path is None:
        raise EvidenceError(f"{folder} holds no release.tsv or release.parquet")
    if path.suffix == ".parquet":
        rows = pd.read_parquet(path)
        cells = {name: ["" if pd.isna(cell) else str(cell) for cell in rows[name]] for name in rows}
        return pd.DataFrame(cells)[COLUMNS]
    with path.open(encoding="utf-8", newline="") as lines:
        header, *cut = (line.rstrip("\r\n").split("\t") for line in lines)
    return pd.DataFrame(cut, columns=header, dtype=object)[COLUMNS]


def read_figures(folder: Path) -> dict[str, Any]:
    """The public figures of a release; none if it has none."""
    path = folder / "measures.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _read_audit(path: Path) -> Any:
    return pd.read_parquet(path, dtype_backend="pyarrow")


def read_logs(logs: Sequence[Path]) -> Any:
    """User, text and time of every row, by place of its file and by row; a header is row 1."""
    parts = [pd.DataFrame(_rows(path), columns=["row", "user", "text", "time"]) for path in logs]
    table = pd.concat([part.set_index("row") for part in parts], keys=range(len(parts)))
    return table.rename_axis(["log", "row"])


def _rows(path: Path) -> Iterator[tuple[int, str, str, str]]:
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
        yield from _cut(lines, comma=".csv" in path.suffixes)


def _cut(lines: Iterable[str], *, comma: bool) -> Iterator[tuple[int, str, str, str]]:
    """Rows of CSV, or of AOL's format, in which quotes mean nothing and the header may lack."""
    rows = csv.reader(lines) if comma else csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    places = [0, 1, 2]
    for number, cells in enumerate(rows, start=1):
        names = [cell.strip().lower() for cell in cells]
        if number == 1 and set(names) & set(QUERY_NAMES):
            places = [_place(names, own) for own in (USER_NAMES, QUERY_NAMES, TIME_NAMES)]
        else:
            user, text, time = (cells[at] if -1 < at < len(cells) else "" for at in places)
            yield number, user, folded(text), time


def _place(names: Sequence[str], wanted: Sequence[str]) -> int:
    return next((names.index(name) for name in wanted if name in names), -1)


def folded(text: str) -> str:
    """A query as whoever knows it would write it down: lower case, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def _places_in_logs(published: Any, logs: Sequence[Path]) -> Any:
    """For each line of the audit the file's place among the logs, and the row."""
    by_path = {str(path.resolve()): at for at, path in enumerate(logs)}
    by_name = {path.name: at for at, path in enumerate(logs)}
    if len(by_name) < len(logs) and not set(published.file) <= set(by_path):
        raise EvidenceError("two logs have one name: run from where the release was made")
    files = {
        name: by_path.get(str(Path(name).resolve()), by_name.get(Path(name).name, -1))
        for name in published.file.unique()
    }
    return pd.MultiIndex.from_arrays([published.file.map(files), published.row.astype(int)])
