"""The audit against an independent reader: the raw log, the release and nothing of ours between."""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from flows.inbox import main as inbox
from flows.run import main as run
from flows.verify import main as verify
from tasks.adapters.private_folders import private_folder_of
from tasks.adapters.wordnet import WordNet, open_reader
from tests.helpers.stores import prepared_store

K = 4
ILLS = ("asthma", "pneumonia", "influenza", "bronchitis", "gonorrhea", "syphilis", "diabetes")
CURES = ("cure", "remedy", "medication", "surgery")
PLACES = ("paris", "london", "chicago", "texas", "ohio")
REST = ("cheap flights", "how to", "weather tomorrow", "hotel", "of the")
HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
BAD = ("7\t\t2006-03-01 10:00:00\t\t\n", "7\tasthma\tno time\t\t\n", "\tasthma\t2006-03-01\t\t\n")


class Line(NamedTuple):
    """A line of an audit."""

    file: str
    row: int
    person: int | None
    release_row: int | None
    reason: str | None
    release: str | None = None


def write_log(path: Path, seed: int, rows: int = 240) -> Path:
    """Queries of which WordNet knows every word that says something, and rows that are unusable."""
    dice = random.Random(seed)
    lines = []
    for _ in range(rows):
        said = [dice.choice(part) for part in (ILLS, CURES, PLACES, REST) if dice.random() < 0.5]
        words = " ".join(said or ["weather"])
        moment = f"2006-0{dice.randint(3, 5)}-1{dice.randint(0, 9)} 10:00:00"
        lines.append(f"{dice.randint(1, 30)}\t{words}\t{moment}\t\t\n")
    for place, bad in zip((5, 60, rows), BAD, strict=True):
        lines.insert(place, bad)
    path.write_text(HEADER + "".join(lines))
    return path


def raw_rows(path: Path) -> dict[int, list[str]]:
    """Row number, as rejects count it, to cells; the header is row 1."""
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {number: cells for number, cells in enumerate(rows, start=1) if number > 1}


def read_tsv(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()[1:]]


def read_audit(path: Path) -> list[Line]:
    table = pq.read_table(path)
    assert table.column_names == list(Line._fields[: table.num_columns])
    return [Line(**line) for line in table.to_pylist()]


def assert_rejects_are_told(lines: Iterable[Line], rejects: list[list[str]]) -> None:
    told = [(line.file, str(line.row), line.reason) for line in lines if line.person is None]
    assert Counter(told) == Counter(map(tuple, rejects))


def assert_people_are_those_of_the_log(lines: Iterable[Line], raw: dict[int, list[str]]) -> None:
    """One number per user id, whatever numbers they are."""
    pairs = {(line.person, raw[line.row][0]) for line in lines if line.person is not None}
    assert len(pairs) == len({person for person, _ in pairs}) == len({user for _, user in pairs})


def assert_rows_are_shared(lines: Iterable[Line], release: list[list[str]]) -> None:
    """Every class of rows has k people, counted from the audit alone."""
    published = {line.release_row: line for line in lines if line.release_row is not None}
    assert sorted(published) == list(range(1, len(release) + 1))
    people: dict[tuple[str, ...], set[Any]] = defaultdict(set)
    for number, line in published.items():
        people[tuple(release[number - 1])].add(line.person)
        assert line.reason is None
    assert min(map(len, people.values())) >= K


def concepts_of(query: str, reader: Any) -> set[str]:
    """All that NLTK's WordNet finds in a query: every sense of every phrase, and what is above."""
    words = query.split()
    spans = [(start, end) for end in range(len(words) + 1) for start in range(end)]
    found = [s for start, end in spans for s in reader.synsets("_".join(words[start:end]))]
    above = [s.closure(lambda x: x.hypernyms() + x.instance_hypernyms()) for s in found]
    return {s.name() for s in (*found, *chain.from_iterable(above))} - {"entity.n.01"}


def assert_rows_are_true(
    lines: Iterable[Line], raw: dict[int, list[str]], release: list[list[str]], reader: Any
) -> None:
    """What a row publishes stands in the query as typed; words, too, in strict."""
    judged = 0
    for line in lines:
        if line.release_row is not None:
            query, concepts = release[line.release_row - 1][:2]
            names, typed = set(filter(None, concepts.split(";"))), raw[line.row][1]
            assert names <= concepts_of(typed, reader)
            assert concepts or set(query.split()) <= set(typed.split())
            judged += len(names)
    assert judged > 100


def assert_the_rest_has_a_reason(lines: Iterable[Line]) -> None:
    for line in lines:
        assert (line.release_row is None) == bool(line.reason)


@pytest.fixture
def private(tmp_path: Path, store: Path) -> Path:
    return prepared_store(tmp_path / "store", store)


@pytest.mark.parametrize("guarantee", ["strict", "paper"])
def test_every_row_read_is_told_once_and_truly(
    guarantee: str, tmp_path: Path, private: Path, store: Path, wordnet: WordNet
) -> None:
    """Two files of the same content are two files."""
    one = write_log(tmp_path / "one.tsv", seed=1)
    two = tmp_path / "two.tsv"
    two.write_bytes(one.read_bytes())
    out, audit, where = tmp_path / "out", tmp_path / "audit.parquet", ["--store", str(private)]
    options = ["--bare", "--quiet", "--k", str(K), "--guarantee", guarantee, "--out", str(out)]
    options += ["--method", "paper"] if guarantee == "paper" else []
    assert run([str(one), str(two), *options, *where]) == 0
    assert verify([str(out), *where, "--audit", str(audit)]) == 0
    lines, raw = read_audit(audit), raw_rows(one)
    expected = [(str(path), number) for path in (one, two) for number in raw]
    assert [(line.file, line.row) for line in lines] == expected
    assert_rejects_are_told(lines, read_tsv(private_folder_of(private, out) / "rejects.tsv"))
    assert_people_are_those_of_the_log(lines, raw)
    assert_the_rest_has_a_reason(lines)
    if guarantee == "strict":
        release, reader = (
            read_tsv(out / "release.tsv"),
            open_reader(store / "wordnet" / wordnet.version),
        )
        assert_rows_are_shared(lines, release)
        assert_rows_are_true(lines, raw, release, reader)


@pytest.mark.parametrize("edition", ["append", "new"])
def test_a_row_of_an_edition_is_told_once_by_the_release_that_published_it(
    edition: str, tmp_path: Path, private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    incoming, out, audit = tmp_path / "in", tmp_path / "out", tmp_path / "audit.parquet"
    incoming.mkdir()
    files = [write_log(incoming / f"{seed}.tsv", seed=seed, rows=60) for seed in (1, 2, 3)]
    raw = {str(file): raw_rows(file) for file in files}
    where = ["--store", str(private)]
    options = ["--inbox", str(incoming), "--out", str(out), "--settle", "0", "--edition", edition]
    assert inbox([*options, "--bare", "--quiet", "--k", str(K), *where]) == 0
    folder = out / "edition-0001"
    assert verify([str(folder), *where, "--audit", str(audit)]) == 0
    lines = read_audit(audit)
    expected = [(file, number) for file, rows in raw.items() for number in rows]
    assert [(line.file, line.row) for line in lines] == expected
    releases = sorted(path.name for path in folder.iterdir())
    listed = [private_folder_of(private, folder / name) / "rejects.tsv" for name in releases]
    rejects = [row for path in listed for row in read_tsv(path)]
    assert_rejects_are_told(lines, rejects)
    assert_the_rest_has_a_reason(lines)
    for name in releases:
        own = [line for line in lines if line.release == name]
        assert_rows_are_shared(own, read_tsv(folder / name / "release.tsv"))
    assert {line.release for line in lines if line.release_row is None} == {None}
    later = [line for line in lines if line.release and line.file != f"{incoming}/3.tsv"]
    waited = {line.release for line in later} - {f"release-000{n}" for n in (1, 2)}
    assert waited == ({"release-0003"} if edition == "append" else set()), "some rows waited"
