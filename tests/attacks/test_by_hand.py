"""Attacks on releases so small that the right answer can be counted by hand."""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest

from tests.attacks.__main__ import main
from tests.attacks.differencing import differencing, telling_figures
from tests.attacks.dominance import dominance
from tests.attacks.evidence import Evidence, EvidenceError, read_evidence
from tests.attacks.intersection import intersection, people_left
from tests.attacks.releasing import HEADER, Row, write_log
from tests.attacks.rivals import publish_allowed_words
from tests.attacks.singling_out import singling_out
from tests.attacks.sybil import Suspicion, planted, rare_rows, sybil
from tests.attacks.trials import Trial, table

Published = tuple[str, str, str, str]
"""Person, text as typed, query as published, and time as published; all of March 2006."""

COLUMNS = "query\tconcepts\ttime\tcluster"


def make(
    folder: Path, releases: Mapping[str, Sequence[Published]], k: int = 2, **settings: Any
) -> Evidence:
    """An edition of releases, its log and its audit, all written and read."""
    log, lines, rows = folder / "log.tsv", [], []
    for name, published in releases.items():
        out = folder / name
        out.mkdir()
        told = [f"{query}\t\t{time}\t" for _, _, query, time in published]
        (out / "release.tsv").write_text("\n".join([COLUMNS, *told, ""]))
        (out / "measures.json").write_text(json.dumps({"settings": {"k": k} | settings}))
        for place, (person, text, _, _) in enumerate(published, start=1):
            rows.append((person, text, "2006-03-01 10:00:00"))
            line = {"file": str(log), "row": len(rows) + 1, "person": int(person)}
            lines.append(line | {"release_row": place, "reason": None, "release": name})
    write_log(log, rows)
    pd.DataFrame(lines).to_parquet(folder / "audit.parquet")
    return read_evidence(
        [folder / name for name in releases], [log], [folder / "audit.parquet"], None
    )


def by_assumption(trials: Any) -> dict[str, Trial]:
    return {trial.assumed: trial for trial in trials}


def test_one_of_the_people_behind_a_row_is_guessed(tmp_path: Path) -> None:
    """Two people share a row, one stands alone: (1/2 + 1/2 + 1) of 3."""
    rows = [("1", "flu", "flu", ""), ("2", "flu", "flu", ""), ("2", "flu", "flu", "")]
    found = by_assumption(
        singling_out(make(tmp_path, {"a": [*rows, ("3", "gout pain", "gout", "2006-03")]}))
    )
    shown = found["shown the row"]
    assert (shown.tries, shown.successes, shown.bound) == (3, 2.0, 0.5)
    assert shown.chance == pytest.approx(1 / 3)
    few = found["shown the row: fewer than k people"]
    assert (few.successes, few.verdict) == (1, "SUCCEEDS")
    assert found["knows query and month"].successes == 2.0
    # Of gout pain one word is kept back; what is left of flu is nothing to search by.
    assert found["knows all words but one, and the month"].tries == 1


def test_rows_that_fit_equally_well_share_the_guess(tmp_path: Path) -> None:
    """Without the month either row may be the right one."""
    rows = [("1", "flu", "flu", "2006-03"), ("2", "flu", "flu", "2006-03")]
    rows += [("3", "ague", "flu", "2006-04"), ("4", "ague", "flu", "2006-04")]
    found = by_assumption(singling_out(make(tmp_path, {"a": rows})))
    # Nobody finds a row by a word that it does not hold.
    assert found["knows the query"].successes == pytest.approx(2 / 2 / 2)
    assert found["knows query and month"].successes == pytest.approx(2 / 2)


def test_rows_of_one_query_are_intersected_over_releases(tmp_path: Path) -> None:
    first = [(person, "flu", "flu", "") for person in "123"]
    second = [(person, "flu", "flu cure", "") for person in "145"]
    second += [("6", "cure", "flu cure", "")]
    evidence = make(tmp_path, {"a": first, "b": second})
    assert people_left(evidence) == [1]
    found = by_assumption(intersection(evidence))
    assert found["shown all rows of a query"].rate == 1.0
    assert found["shown all rows of a query: one left"].succeeds


def test_another_query_of_the_same_people_is_not_intersected(tmp_path: Path) -> None:
    first = [(person, "flu", "flu", "") for person in "12"]
    second = [(person, "gout", "gout", "") for person in "13"]
    trials = list(intersection(make(tmp_path, {"a": first, "b": second})))
    assert {trial.verdict for trial in trials} == {"no try"}


def test_the_same_rows_again_leave_everybody(tmp_path: Path) -> None:
    rows = [(person, "flu", "flu", "") for person in "12"]
    assert people_left(make(tmp_path, {"a": rows, "b": rows})) == [2, 2]


def test_two_rows_of_one_release_are_intersected(tmp_path: Path) -> None:
    rows = [("1", "flu", "flu", ""), ("2", "flu", "flu", "")]
    rows += [("1", "flu", "flu", "2006-03"), ("3", "flu", "flu", "2006-03")]
    assert people_left(make(tmp_path, {"a": rows})) == [1]


def test_who_wrote_most_is_guessed(tmp_path: Path) -> None:
    """Three rows of four by one person; then one of two by each."""
    rows = [("1", "flu", "flu", "")] * 3 + [("2", "flu", "flu", "")]
    rows += [("1", "gout", "gout", ""), ("2", "gout", "gout", "")]
    row, classes = dominance(make(tmp_path, {"a": rows}))
    assert (row.tries, row.successes, row.chance, row.bound) == (6, 4, 0.5, 0.5)
    assert (classes.tries, classes.successes) == (2, 1)


def test_the_bound_of_dominance_is_the_releases_own(tmp_path: Path) -> None:
    rows = [("1", "flu", "flu", "")] * 3 + [("2", "flu", "flu", "")]
    row, classes = dominance(make(tmp_path, {"a": rows}, dominance=0.75))
    assert (row.bound, classes.successes) == (0.75, 0)


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        ({"users": {"read": 101}}, {"users": {"read": 100}}, ["users.read"]),
        ({"users": {"read": 105}}, {"users": {"read": 100}}, []),
        ({"health": 5}, {"health": 0}, ["health"]),
        ({"health": 3}, {}, ["health"]),
        ({"health": 3}, {"health": None}, ["health"]),
        ({"health": 5}, {"health": None}, []),
        ({"health": None}, {"health": None}, []),
        ({"seconds": {"read": 1.2}}, {"seconds": {"read": 1.3}}, []),
        ({"share": 0.25}, {"share": 0.26}, ["share"]),
        ({"share": 0.25}, {"share": 0.3}, []),
        ({"kept": 20.0}, {"kept": 20.1}, ["kept"]),
    ],
)
def test_figures_that_differ_by_less_than_k_tell_somebody(
    here: dict[str, Any], there: dict[str, Any], told: list[str]
) -> None:
    assert telling_figures(here, there, k=5) == told


def test_two_folders_are_compared(tmp_path: Path) -> None:
    rows = [("1", "flu", "flu", ""), ("2", "flu", "flu", "")]
    make(tmp_path, {"a": rows, "b": rows[:1]}, k=2)
    figures, told = differencing([(tmp_path / "a", tmp_path / "b")], k=2)
    assert (figures.successes, told.successes, told.promised) == (0, 1, False)


LOG: list[Row] = [
    *(
        (str(person), f"rare{chr(96 + person)} thing", f"2006-03-1{person % 9} 10:00:00")
        for person in range(1, 9)
    ),
    *((str(person), "weather tomorrow", "2006-03-01 10:00:00") for person in range(1, 9)),
]


def counting(folder: Path, k: int = 3) -> Any:
    """A releaser that publishes each query that k people asked, in the finest time they share."""

    def release(rows: Sequence[Row], name: str, options: Mapping[str, str]) -> Path:
        told: list[str] = []
        finest = {"month": 7, "hour": 13}[options["time"]]
        for text in sorted({text for _, text, _ in rows}):
            own = [(user, time) for user, asked, time in rows if asked == text]
            for moment in sorted({time[:finest] for _, time in own}):
                then = [user for user, time in own if time.startswith(moment)]
                told += [f"{text}\t\t{moment}\t"] * (len(then) if len(set(then)) >= k else 0)
        out = folder / name
        out.mkdir()
        (out / "release.tsv").write_text("\n".join([COLUMNS, *told, ""]))
        return out

    return release


def test_sybils_learn_what_and_when_from_exact_counts(tmp_path: Path) -> None:
    asked, month, hour = sybil(LOG, counting(tmp_path), k=3, targets=8)
    assert (asked.tries, asked.rate) == (8, 1.0)
    assert month.rate == 0.5, "the month says nothing of the hour"
    assert hour.rate == 1.0
    assert not any(trial.promised for trial in (asked, month, hour))


def test_sybils_are_one_short_of_k() -> None:
    (row,) = rare_rows(LOG[:1], 5)
    assert rare_rows([*LOG[:1], ("9", LOG[0][1], "")], 5) == [], "asked by two: not rare"
    own = planted([Suspicion(row, row[2][:13], True)], k=5)
    assert len({user for user, _, _ in own} - {row[0]}) == 4
    assert {text for _, text, _ in own} == {row[1]}


def test_the_allow_list_publishes_words_of_k_people(tmp_path: Path) -> None:
    rows = [
        ("1", "flu shot", "2006-03-01"),
        ("2", "flu", "2006-03-02"),
        ("2", "gout", "2006-04-01"),
    ]
    log = write_log(tmp_path / "log.tsv", rows)
    out, audit = tmp_path / "out", tmp_path / "audit.parquet"
    publish_allowed_words(log, out, audit, k=2)
    assert (out / "release.tsv").read_text().splitlines()[1:] == ["flu\t\t2006-03\t"] * 2
    evidence = read_evidence([out], [log], [audit], k=2)
    assert sorted(evidence.records.text) == ["flu", "flu shot"]
    assert evidence.population == 2


def test_intervals_are_those_of_the_exact_binomial_test() -> None:
    for hits, tries in ((0, 10), (3, 10), (10, 10), (1, 2000)):
        expected = binomtest(hits, tries).proportion_ci(method="exact")
        assert Trial("", "", tries, hits, 0, 0).interval == pytest.approx(tuple(expected))


def test_an_attack_succeeds_if_its_whole_interval_is_above_the_bound() -> None:
    assert Trial("", "", 100, 40, 0, 0.2).verdict == "SUCCEEDS"
    assert Trial("", "", 100, 22, 0, 0.2).verdict == "held", "22 of 100 may well be 1 in 5"
    assert Trial("", "", 100, 40, 0, 0.2, promised=False).verdict == "succeeds, out of scope"
    assert "no try" in table([Trial("a", "b", 0, 0, 0, 0)])


def test_the_command_ends_with_1_if_an_attack_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("1", "flu", "flu", ""), ("2", "flu", "flu", ""), ("3", "gout", "gout", "")]
    make(tmp_path, {"a": rows, "b": rows[:2]})
    folders = [str(tmp_path / name) for name in "ab"]
    given = ["--raw", str(tmp_path / "log.tsv"), "--audit", str(tmp_path / "audit.parquet")]
    assert main([*folders, *given, "--json"]) == 1
    figures = json.loads(capsys.readouterr().out)
    assert {trial["attack"] for trial in figures} == {"singling out", "intersection", "dominance"}
    assert main([*folders[:1], *given]) == 2, "the audit tells of another release"
    assert "give them all" in capsys.readouterr().err


def test_the_command_ends_with_0_if_every_promise_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path, {"a": [("1", "flu", "flu", ""), ("2", "flu", "flu", "")]})
    given = ["--raw", str(tmp_path / "log.tsv"), "--audit", str(tmp_path / "audit.parquet")]
    assert main([str(tmp_path), *given]) == 0, "a folder of releases is an edition"
    shown = capsys.readouterr().out
    assert "held" in shown
    assert "flu" not in shown, "no query is shown"


def test_logs_without_header_and_with_commas_are_read(tmp_path: Path) -> None:
    rows = [("1", "flu", "flu", ""), ("2", "flu", "flu", "")]
    make(tmp_path, {"a": rows})
    log, audit = tmp_path / "log.tsv", pd.read_parquet(tmp_path / "audit.parquet")
    lines = log.read_text().removeprefix(f"{HEADER}\n")
    bare, comma = tmp_path / "bare.tsv", tmp_path / "log.csv"
    bare.write_text(lines)
    comma.write_text('time,query,user\n2006-03-01,"Flu",1\n2006-03-01,flu,2\n')
    for path, first in ((bare, 1), (comma, 2)):
        own = audit.assign(file=str(path), row=[first, first + 1])
        own.to_parquet(tmp_path / "own.parquet")
        evidence = read_evidence([tmp_path / "a"], [path], [tmp_path / "own.parquet"])
        assert evidence.records.text.tolist() == ["flu", "flu"]
        assert evidence.records.month.tolist() == ["2006-03"] * 2


def test_parquet_and_compressed_logs_are_read_as_well(tmp_path: Path) -> None:
    rows = [("1", "flu", "flu", ""), ("2", "flu", "flu", "")]
    plain = make(tmp_path, {"a": rows})
    log, out = tmp_path / "log.tsv", tmp_path / "a"
    told = pd.read_csv(out / "release.tsv", sep="\t", dtype=str)
    told.astype({"cluster": "Int64"}).to_parquet(out / "release.parquet")
    (out / "release.tsv").unlink()
    packed = tmp_path / "packed" / "log.tsv.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(log.read_bytes()))
    lines = pd.read_parquet(tmp_path / "audit.parquet").assign(file="elsewhere/log.tsv.gz")
    lines.to_parquet(tmp_path / "audit.parquet")
    again = read_evidence([out], [packed], [tmp_path / "audit.parquet"])
    assert again.records.equals(plain.records)
    assert again.classes.to_dict() == plain.classes.to_dict()


def test_a_log_that_is_not_the_audits_is_refused(tmp_path: Path) -> None:
    make(tmp_path, {"a": [("1", "flu", "flu", "")]})
    other = write_log(tmp_path / "other.tsv", [("1", "flu", "2006-03-01")])
    with pytest.raises(EvidenceError, match="give every file"):
        read_evidence([tmp_path / "a"], [other], [tmp_path / "audit.parquet"])


def test_attacks_share_no_code_with_what_they_attack() -> None:
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            own = [name for name in names if name.split(".")[0] in ("tasks", "flows", "tests")]
            assert all(name.startswith("tests.attacks") for name in own), path.name
