"""Attacks on releases of generated logs, made by the commands: strict holds, its rivals break."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.attacks.__main__ import active, passive
from tests.attacks.evidence import Evidence, read_evidence, read_logs, read_release
from tests.attacks.releasing import Row, audit, command, release, sample, write_log
from tests.attacks.rivals import publish_allowed_words
from tests.attacks.trials import Trial, table

pytestmark = pytest.mark.slow

K = 5
SCOPES = ("sensitive", "all")
FILES, OVERLAP = 5, 0.4
"""Files of an edition, and the share of each that the next one repeats."""


@dataclass(frozen=True)
class Site:
    """Logs, and a store in which all releases are made."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def log(self, seed: int, queries: int = 4000, users: int = 400) -> Path:
        path = self.folder / f"log-{seed}-{queries}.tsv"
        return path if path.exists() else sample(path, queries=queries, users=users, seed=seed)

    def evidence(self, log: Path, name: str, **options: str) -> Evidence:
        """Of a release of the log."""
        out = release(log, self.folder / name, self.store, {"k": str(K)} | options)
        return read_evidence([out], [log], [audit(out, self.store, out.with_suffix(".parquet"))])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("attacks"))


def assert_promises_held(trials: Iterable[Trial]) -> None:
    broken = [trial for trial in trials if trial.promised and trial.succeeds]
    assert not broken, f"\n{table(broken)}"


def singled_out(trials: Iterable[Trial]) -> list[Trial]:
    """Guesses of a person, whatever the attacker knows."""
    return [trial for trial in trials if trial.attack == "singling out" and trial.bound]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_strict_withstands_whoever_reads(site: Site, seed: int, scope: str) -> None:
    trials = passive(site.evidence(site.log(seed), f"strict-{seed}-{scope}", scope=scope))
    assert_promises_held(trials)
    assert all(trial.tries > 500 and trial.rate <= 1 / K for trial in singled_out(trials))


def test_where_nobody_has_more_than_one_in_k_rows_no_guess_is_better(site: Site) -> None:
    options = {"dominance": str(1 / K), "scope": "all"}
    trials = [
        trial for trial in passive(site.evidence(site.log(1), "even", **options)) if trial.bound
    ]
    assert {trial.attack for trial in trials} >= {"singling out", "dominance"}
    assert all(trial.rate <= 1 / K for trial in trials), f"\n{table(trials)}"


@pytest.mark.parametrize("seed", [1, 2])
def test_what_the_paper_prints_is_broken(site: Site, seed: int) -> None:
    log, name = site.log(seed), f"paper-{seed}"
    found = singled_out(passive(site.evidence(log, name, method="paper", guarantee="paper")))
    assert len(found) == 4
    assert all(trial.interval[0] > 1 / K for trial in found), f"\n{table(found)}"


@pytest.mark.parametrize("seed", [1, 2])
def test_an_allow_list_of_words_is_broken(site: Site, seed: int) -> None:
    log, out = site.log(seed), site.folder / f"allowed-{seed}"
    audited = out.with_suffix(".parquet")
    publish_allowed_words(log, out, audited, K)
    found = singled_out(passive(read_evidence([out], [log], [audited], K)))
    assert len(found) == 4
    assert all(trial.interval[0] > 1 / K for trial in found), f"\n{table(found)}"


def rows_by_time(log: Path) -> list[Row]:
    rows = read_logs([log])[["user", "text", "time"]].sort_values("time", kind="stable")
    return list(rows.itertuples(index=False, name=None))


def overlapping_files(rows: list[Row], folder: Path) -> list[Path]:
    """Files by time, each of which repeats what the one before ended with."""
    folder.mkdir()
    step = round(len(rows) / (FILES - 1 + 1 / (1 - OVERLAP)))
    length = round(step / (1 - OVERLAP))
    return [
        write_log(folder / f"{number}.tsv", rows[number * step : number * step + length])
        for number in range(FILES)
    ]


@pytest.mark.parametrize("scope", SCOPES)
def test_an_edition_withstands_intersection(site: Site, scope: str) -> None:
    """Files that overlap, and people who return with what they asked before."""
    inbox, out = site.folder / f"inbox-{scope}", site.folder / f"editions-{scope}"
    logs = overlapping_files(rows_by_time(site.log(3)), site.folder / f"logs-{scope}")
    # What was released is moved out of the inbox.
    shutil.copytree(logs[0].parent, inbox)
    store = site.folder / f"store-{scope}"
    options = ("--store", store, "--settle", "0", "--k", str(K), "--scope", scope)
    command("flows.inbox", "--inbox", inbox, "--out", out, *options, "--bare", "--quiet")
    audited = audit(out / "edition-0001", store, site.folder / f"edition-{scope}.parquet")
    evidence = read_evidence([out / "edition-0001"], logs, [audited])
    assert evidence.classes.release.nunique() == FILES
    assert_promises_held(passive(evidence))


def test_releases_of_overlapping_logs_are_intersected(site: Site) -> None:
    """What an edition is for: two releases that know nothing of each other tell people apart."""
    logs = overlapping_files(rows_by_time(site.log(3)), site.folder / "apart")[:2]
    outs = [release(log, site.folder / f"apart-{log.stem}", site.store, {}) for log in logs]
    audits = [audit(out, site.store, out.with_suffix(".parquet")) for out in outs]
    found = {trial.assumed: trial for trial in passive(read_evidence(outs, logs, audits))}
    assert found["shown all rows of a query"].succeeds
    assert found["shown the row"].rate <= 1 / K


@pytest.fixture(scope="module")
def acted(site: Site) -> list[Trial]:
    """Attacks by whoever changes a log before it is released."""
    log = site.log(4, queries=1200, users=120)
    return active(site.evidence(log, "acted"), [log], 40)


def test_figures_tell_nobody_who_is_left_out(acted: list[Trial]) -> None:
    assert_promises_held(trial for trial in acted if trial.attack == "differencing")


def test_sybils_learn_what_was_asked_and_its_hour_only_if_hours_are_told(
    acted: list[Trial],
) -> None:
    asked, by_month, by_hour = (trial for trial in acted if trial.attack == "Sybil")
    assert asked.succeeds
    assert by_hour.succeeds
    assert not by_month.succeeds


NAMES = (
    *("john doe", "nguyen van anh", "tran thi mai", "li xiaoming", "zhang wei"),
    *("adebayo oluwaseun", "olamide adeyemi", "apt 4b", "unit 305", "plate no 7abc123"),
)
"""Names in the order of other countries, names for nobody, a flat, a plate."""


@pytest.mark.parametrize("scope", SCOPES)
def test_names_that_k_accounts_share_are_not_published(site: Site, scope: str) -> None:
    time = "2006-03-01 10:00:00"
    rows = [(str(user), text, time) for user in range(1, 9) for text in (*NAMES, "weather")]
    log = write_log(site.folder / f"names-{scope}.tsv", rows)
    told = read_release(
        release(log, site.folder / f"named-{scope}", site.store, {"k": str(K), "scope": scope})
    )
    words = {word for text in NAMES for word in text.split()} - {"plate", "no"}
    assert not words & {word for text in told["query"] for word in text.split()}
    assert "weather" in set(told["query"])
