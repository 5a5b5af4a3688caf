"""The ledger: private, whole or refused, and never half changed."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tasks.editions.ledger import Ledger, open_ledger
from tasks.editions.ledger_entries import Batch, Edition, Intent, Release, State
from tasks.errors import InputError, UnexpectedError

ROOT = Path(__file__).parent.parent.parent
NOT_UTF_8 = os.fsdecode(b"caf\xe9.tsv")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "store"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def ledger(vault: Path) -> Iterator[Ledger]:
    with open_ledger(vault) as opened:
        yield opened


@pytest.fixture
def file(vault: Path) -> Path:
    """The file of a ledger that was opened once."""
    with open_ledger(vault):
        return vault / "ledger.sqlite3"


def intent_for(edition: Edition, number: int) -> Intent:
    """The release of one batch, two of whose rows wait."""
    release = Release(number, f"digest {number}")
    batch = Batch(f"sha {number}", f"{number}.tsv", "published", 9, 2, release)
    waiting = {f"sha {number}": np.array([5, 1, 5])}
    events = {f"sha {number}": np.array([7, -3, 7, number])}
    return Intent(edition, (batch,), release, {number: "dog.n.01;cat.n.01"}, waiting, events)


def published(ledger: Ledger, intent: Intent) -> Edition:
    ledger.commit(ledger.prepare(intent))
    return intent.edition


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_committed_is_read_back(ledger: Ledger, out: Path) -> None:
    intent = intent_for(ledger.begin_edition(out, "settings", "append"), 1)
    edition = published(ledger, intent)
    assert ledger.current_edition(out) == edition == Edition(str(out), 1, "settings", "append")
    assert ledger.batches(edition) == list(intent.batches)
    assert ledger.batch(edition, "sha 1") == intent.batches[0]
    assert ledger.clusters(edition) == {1: "dog.n.01;cat.n.01"}
    rows = ledger.waiting(edition)["sha 1"]
    assert (rows.tolist(), rows.dtype.name) == ([1, 5], "int64")
    assert ledger.events(edition).tolist() == [-3, 1, 7, 7]
    assert ledger.pending(out) is None


def test_what_is_prepared_is_found_by_the_next_process_and_seen_by_no_reader(
    vault: Path, out: Path
) -> None:
    with open_ledger(vault) as ledger:
        intent = intent_for(ledger.begin_edition(out, "settings", "new"), 1)
        number = ledger.prepare(intent)
    with open_ledger(vault) as ledger:
        assert ledger.current_edition(out) is None
        assert not ledger.known(intent.edition, "sha 1")
        assert not ledger.batches(intent.edition)
        assert not ledger.clusters(intent.edition)
        assert not ledger.waiting(intent.edition)
        assert not len(ledger.events(intent.edition))
        found = ledger.pending(out)
    assert found is not None
    assert found.id == number
    assert (found.edition, found.batches) == (intent.edition, intent.batches)
    assert (found.release, found.clusters) == (intent.release, intent.clusters)
    assert {sha: rows.tolist() for sha, rows in found.waiting.items()} == {"sha 1": [1, 5]}


def test_a_folder_is_known_by_any_of_its_names(ledger: Ledger, out: Path, tmp_path: Path) -> None:
    edition = published(ledger, intent_for(ledger.begin_edition(out, "", "append"), 1))
    (tmp_path / "link").symlink_to(out)
    assert ledger.current_edition(tmp_path / "link") == edition
    assert ledger.current_edition(tmp_path / "other") is None


def test_names_need_not_be_utf_8(ledger: Ledger, tmp_path: Path) -> None:
    edition = ledger.begin_edition(tmp_path / NOT_UTF_8, "", "append")
    ledger.fail(edition, "bad", NOT_UTF_8, f"cannot read {NOT_UTF_8}")
    intent = intent_for(edition, 1)
    batch = replace(intent.batches[0], name=NOT_UTF_8)
    published(ledger, replace(intent, batches=(batch,)))
    assert ledger.current_edition(tmp_path / NOT_UTF_8) == edition
    failed = Batch("bad", NOT_UTF_8, "failed", reason=f"cannot read {NOT_UTF_8}")
    assert ledger.batches(edition) == [failed, batch]


def test_the_waiting_rows_of_an_edition_are_replaced_together(ledger: Ledger, out: Path) -> None:
    edition = published(ledger, intent_for(ledger.begin_edition(out, "", "append"), 1))
    published(ledger, intent_for(edition, 2))
    assert list(ledger.waiting(edition)) == ["sha 2"]
    third = {"sha 1": np.array([4]), "sha 2": np.array([], dtype=np.int64), "sha 3": np.array([1])}
    published(ledger, replace(intent_for(edition, 3), waiting=third))
    rows = {sha: rows.tolist() for sha, rows in ledger.waiting(edition).items()}
    assert rows == {"sha 1": [4], "sha 3": [1]}


def test_a_failed_batch_and_one_that_waits_may_be_published_later(
    ledger: Ledger, out: Path
) -> None:
    edition = ledger.begin_edition(out, "", "append")
    ledger.fail(edition, "sha 1", "1.tsv", "cut off")
    assert not ledger.known(edition, "sha 1")
    waits = Batch("sha 1", "1.tsv", "waiting", 9, 2)
    published(ledger, Intent(edition, (waits,), None, {}, {"sha 1": np.arange(1, 8)}, {}))
    assert ledger.known(edition, "sha 1")
    assert ledger.batches(edition) == [waits]
    published(ledger, intent_for(edition, 1))
    assert ledger.batches(edition) == list(intent_for(edition, 1).batches)


@pytest.mark.parametrize("state", ["published", "waiting"])
def test_a_settled_batch_cannot_fail(ledger: Ledger, out: Path, state: str) -> None:
    intent = intent_for(ledger.begin_edition(out, "", "append"), 1)
    if state == "waiting":
        waits = Batch("sha 1", "1.tsv", "waiting", 9, 2)
        intent = replace(intent, batches=(waits,), release=None)
    edition = published(ledger, intent)
    with pytest.raises(UnexpectedError, match="a batch that is settled"):
        ledger.fail(edition, "sha 1", "1.tsv", "cut off")
    assert ledger.batches(edition) == list(intent.batches)


def impossible(first: Intent) -> dict[str, Intent]:
    """Intents that must not follow the first one."""
    second = intent_for(first.edition, 2)
    return {
        "batch again": replace(
            second, batches=(replace(first.batches[0], release=second.release),)
        ),
        "cluster again": replace(second, clusters={1: "dog.n.01"}),
        "sequence again": intent_for(first.edition, 1),
        "unknown batch": replace(second, waiting={"sha 9": np.array([1])}),
        "row zero": replace(second, waiting={"sha 2": np.array([0])}),
        "no release": replace(second, release=None),
        "other settings": intent_for(replace(first.edition, settings="other"), 2),
        "edition skipped": intent_for(replace(first.edition, number=3), 1),
    }


@pytest.mark.parametrize(
    "case", impossible(intent_for(Edition("", 1, "", "append"), 1)), ids=lambda case: case
)
def test_what_could_not_be_committed_is_not_prepared(ledger: Ledger, out: Path, case: str) -> None:
    first = intent_for(ledger.begin_edition(out, "", "append"), 1)
    edition = published(ledger, first)
    with pytest.raises(UnexpectedError, match="the ledger"):
        ledger.prepare(impossible(first)[case])
    assert ledger.pending(out) is None
    published(ledger, intent_for(edition, 2))


def test_a_folder_has_one_pending_intent_at_most(ledger: Ledger, out: Path, tmp_path: Path) -> None:
    intent = intent_for(ledger.begin_edition(out, "", "append"), 1)
    ledger.prepare(intent)
    with pytest.raises(UnexpectedError, match="refuses an entry"):
        ledger.prepare(intent)
    ledger.prepare(intent_for(ledger.begin_edition(tmp_path / "other", "", "append"), 1))


def test_an_intent_is_committed_once(ledger: Ledger, out: Path) -> None:
    number = ledger.prepare(intent_for(ledger.begin_edition(out, "", "append"), 1))
    ledger.commit(number)
    with pytest.raises(UnexpectedError, match="an intent it does not have"):
        ledger.commit(number)


def test_only_the_owner_may_look(vault: Path, out: Path) -> None:
    previous = os.umask(0)
    try:
        with open_ledger(vault) as ledger:
            published(ledger, intent_for(ledger.begin_edition(out, "", "append"), 1))
            modes = {path.name: mode(path) for path in vault.iterdir()}
    finally:
        os.umask(previous)
    assert mode(vault) == 0o700
    names = ("ledger.sqlite3", "ledger.sqlite3-shm", "ledger.sqlite3-wal")
    assert modes == dict.fromkeys(names, 0o600)


def test_what_is_open_to_others_is_closed(vault: Path, file: Path) -> None:
    vault.chmod(0o755)
    file.chmod(0o644)
    with open_ledger(vault):
        assert (mode(vault), mode(file)) == (0o700, 0o600)


def test_every_commit_reaches_the_disk(ledger: Ledger) -> None:
    FULL = 2
    assert ledger._rows("PRAGMA synchronous", ()) == [(FULL,)]
    assert ledger._rows("PRAGMA journal_mode", ()) == [("wal",)]


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_a_damaged_ledger_is_refused_and_left_alone(
    vault: Path, file: Path, content: bytes
) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match="damaged: restore it from a backup"), open_ledger(vault):
        pass
    assert file.read_bytes() == content


def test_damage_further_inside_is_noticed(vault: Path, file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:] = b"\x5a" * (len(content) - 8192)
    file.write_bytes(content)
    with pytest.raises(InputError, match="damaged: restore it from a backup"), open_ledger(vault):
        pass


def test_a_ledger_taken_away_from_its_last_changes_is_missed(vault: Path, file: Path) -> None:
    file.rename(file.with_name("ledger.sqlite3-wal"))
    with pytest.raises(InputError, match="restore it from a backup"), open_ledger(vault):
        pass
    assert not file.exists()


def test_a_newer_ledger_is_refused(vault: Path, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 4")
    with (
        pytest.raises(InputError, match=r"newer logveil: .* restore the ledger from a backup"),
        open_ledger(vault),
    ):
        pass


@pytest.mark.parametrize("content", ["", "{}", '{"edition": 1, "waiting": {"sha": "!"}}', b"\xff"])
def test_a_damaged_intent_is_noticed(
    ledger: Ledger, file: Path, out: Path, content: str | bytes
) -> None:
    ledger.prepare(intent_for(ledger.begin_edition(out, "", "append"), 1))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE intents SET content = CAST(? AS TEXT)", (content,))
    with pytest.raises(InputError, match="damaged: restore it from a backup"):
        ledger.pending(out)


def test_a_store_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to --store"), open_ledger(tmp_path / "file"):
        pass


def test_a_full_disk_changes_nothing(ledger: Ledger, out: Path) -> None:
    edition = published(ledger, intent_for(ledger.begin_edition(out, "", "append"), 1))
    ((pages,),) = ledger._rows("PRAGMA page_count", ())
    ledger._rows(f"PRAGMA max_page_count = {pages}", ())
    large = {2: "dog.n.01;" * 10_000}
    with pytest.raises(InputError, match="make room on the disk"):
        ledger.prepare(replace(intent_for(edition, 2), clusters=large))
    ledger._rows("PRAGMA max_page_count = 1000000", ())
    assert ledger.pending(out) is None
    published(ledger, intent_for(edition, 2))


def test_a_busy_ledger_says_so(vault: Path, file: Path, out: Path) -> None:
    with open_ledger(vault, busy_seconds=0.05) as ledger, closing(sqlite3.connect(file)) as other:
        edition = ledger.begin_edition(out, "", "append")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="try again later"):
            ledger.fail(edition, "sha", "name", "reason")
        other.rollback()
        ledger.fail(edition, "sha", "name", "reason")


def test_a_ledger_that_another_process_made_first_is_used(
    vault: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def too_late(aside: str, path: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        with open_ledger(vault) as faster:
            published(faster, intent_for(faster.begin_edition(out, "theirs", "append"), 1))
        link(aside, path)

    monkeypatch.setattr(os, "link", too_late)
    with open_ledger(vault) as ledger:
        current = ledger.current_edition(out)
        assert current is not None
        assert current.settings == "theirs"
    assert [path.name for path in vault.iterdir()] == ["ledger.sqlite3"]


WRITE_FOR_EVER = """
import sys
from itertools import count
from pathlib import Path
import numpy as np
from tasks.editions.ledger import open_ledger
from tests.editions.test_ledger import intent_for, recover
store, out = Path(sys.argv[1]), Path(sys.argv[2])
with open_ledger(store) as ledger:
    recover(ledger, out)
    edition = ledger.current_edition(out) or ledger.begin_edition(out, "", "append")
    for number in count(len(ledger.batches(edition)) + 1):
        ledger.commit(ledger.prepare(intent_for(edition, number)))
        print(number, flush=True)
"""


def recover(ledger: Ledger, out: Path) -> None:
    """Finish what a killed process left, now one way and now the other."""
    if found := ledger.pending(out):
        assert found.id is not None
        finish = ledger.commit if found.id % 2 else ledger.rollback
        finish(found.id)


def assert_whole(ledger: Ledger, out: Path) -> int:
    """The number of releases, each of which is there with all that belongs to it."""
    edition = ledger.current_edition(out)
    if edition is None:
        return 0
    done = len(ledger.batches(edition))
    assert ledger.batches(edition) == [
        batch for number in range(1, done + 1) for batch in intent_for(edition, number).batches
    ]
    assert list(ledger.clusters(edition)) == list(range(1, done + 1))
    assert list(ledger.waiting(edition)) == [f"sha {done}"]
    found = ledger.pending(out)
    assert found is None or found.release == Release(done + 1, f"digest {done + 1}")
    return done


def test_a_process_killed_while_it_writes_leaves_a_committed_state(vault: Path, out: Path) -> None:
    command = [sys.executable, "-c", WRITE_FOR_EVER, str(vault), str(out)]
    for attempt in range(6):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline()
            time.sleep(0.013 * attempt)
            process.kill()
            said = process.stdout.read().split()
        with open_ledger(vault) as ledger:
            assert assert_whole(ledger, out) >= max(map(int, said), default=1)


def test_two_processes_write_at_once(vault: Path, tmp_path: Path) -> None:
    outs = [tmp_path / "one", tmp_path / "two"]
    with ExitStack() as stack:
        for out in outs:
            command = [sys.executable, "-c", WRITE_FOR_EVER, str(vault), str(out)]
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stdout is not None
            while process.stdout.readline() != "20\n":
                assert process.poll() is None
    with open_ledger(vault) as ledger:
        assert all(assert_whole(ledger, out) >= 20 for out in outs)


@dataclass
class Model:
    """What the ledger should say of one folder."""

    edition: Edition | None = None
    batches: dict[tuple[int, str], Batch] = field(default_factory=dict)
    clusters: dict[int, dict[int, str]] = field(default_factory=dict)
    waiting: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    events: dict[int, list[int]] = field(default_factory=dict)
    pending: Intent | None = None
    releases: int = 0

    def commit(self) -> None:
        intent = self.pending
        assert intent is not None
        number = intent.edition.number
        if self.edition != intent.edition:
            self.releases = 0
        self.releases += intent.release is not None
        self.edition = intent.edition
        self.batches |= {(number, batch.sha): batch for batch in intent.batches}
        self.clusters.setdefault(number, {}).update(intent.clusters)
        kept = {sha: sorted(set(rows.tolist())) for sha, rows in intent.waiting.items()}
        self.waiting[number] = {sha: rows for sha, rows in kept.items() if rows}
        told = [key for keys in intent.events.values() for key in keys.tolist()]
        self.events[number] = sorted([*self.events.get(number, []), *told])
        self.pending = None


SHAS = st.sampled_from("abcdef")
ROWS = st.lists(st.integers(1, 2**40), max_size=4).map(lambda rows: np.array(rows, dtype=np.int64))

KEYS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2), max_size=4).map(
    lambda keys: np.array(keys, dtype=np.int64)
)


class LedgerMachine(RuleBasedStateMachine):
    """Any order of steps on two folders of one ledger, against a plain model of each."""

    @initialize()
    def make(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.outs = [Path(self.folder.name).resolve() / name for name in ("one", "two")]
        self.models = {out: Model() for out in self.outs}
        self.stack = ExitStack()
        self.open()

    def open(self) -> None:
        self.ledger = self.stack.enter_context(open_ledger(Path(self.folder.name) / "store"))

    @rule()
    def reopen(self) -> None:
        self.stack.close()
        self.open()

    def edition_of(self, out: Path, anew: bool) -> Edition:
        model = self.models[out]
        number = model.edition.number if model.edition else 0
        if model.edition and not anew:
            return model.edition
        edition = self.ledger.begin_edition(out, f"settings {number}", "new")
        assert edition == Edition(str(out), number + 1, f"settings {number}", "new")
        return edition

    @rule(data=st.data(), which=st.integers(0, 1), anew=st.booleans())
    def prepare(self, data: st.DataObject, which: int, anew: bool) -> None:
        out = self.outs[which]
        model = self.models[out]
        intent = self.drawn_intent(data, out, anew)
        if model.pending:
            with pytest.raises(UnexpectedError):
                self.ledger.prepare(intent)
        else:
            model.pending = replace(intent, id=self.ledger.prepare(intent))

    def drawn_intent(self, data: st.DataObject, out: Path, anew: bool) -> Intent:
        model, edition = self.models[out], self.edition_of(out, anew)
        same = model.edition == edition
        there = {sha: b for (number, sha), b in model.batches.items() if number == edition.number}
        open_shas = {s for s in "abcdef" if s not in there or there[s].state != "published"}
        chosen = sorted(data.draw(st.sets(SHAS)) & open_shas)
        release = None
        if data.draw(st.booleans()):
            release = Release(model.releases * same + 1, data.draw(st.text("0f", max_size=3)))
        state: State = "published" if release else "waiting"
        batches = tuple(Batch(sha, f"{sha}.tsv", state, 9, 1, release) for sha in chosen)
        free = len(model.clusters.get(edition.number, {})) + 1
        clusters = {free + n: "dog.n.01" for n in range(data.draw(st.integers(0, 2)))}
        shas = sorted({*there, *chosen})
        waiting = {sha: data.draw(ROWS) for sha in shas if data.draw(st.booleans())}
        events = {batch.sha: data.draw(KEYS) for batch in batches if batch.sha not in there}
        return Intent(edition, batches, release, clusters, waiting, events)

    @precondition(lambda self: any(model.pending for model in self.models.values()))
    @rule(commit=st.booleans())
    def finish(self, commit: bool) -> None:
        model = next(model for model in self.models.values() if model.pending)
        assert model.pending is not None
        assert model.pending.id is not None
        if commit:
            self.ledger.commit(model.pending.id)
            model.commit()
        else:
            self.ledger.rollback(model.pending.id)
            model.pending = None

    @rule(which=st.integers(0, 1), sha=SHAS)
    def fail(self, which: int, sha: str) -> None:
        out = self.outs[which]
        edition = self.edition_of(out, anew=False)
        there = self.models[out].batches.get((edition.number, sha))
        if there and there.state != "failed":
            with pytest.raises(UnexpectedError):
                self.ledger.fail(edition, sha, "name", "reason")
        else:
            self.ledger.fail(edition, sha, "name", "reason")
            failed = Batch(sha, "name", "failed", reason="reason")
            self.models[out].batches[edition.number, sha] = failed

    @invariant()
    def the_ledger_says_what_the_model_says(self) -> None:
        for out, model in self.models.items():
            assert self.ledger.current_edition(out) == model.edition
            self.compare_pending(out, model)
            for number in range(1, (model.edition.number if model.edition else 0) + 2):
                self.compare_edition(Edition(str(out), number, "", "new"), model)

    def compare_pending(self, out: Path, model: Model) -> None:
        found = self.ledger.pending(out)
        assert (found and found.id) == (model.pending and model.pending.id)
        if found and model.pending:
            assert found.batches == model.pending.batches
            assert found.clusters == model.pending.clusters

    def compare_edition(self, edition: Edition, model: Model) -> None:
        number = edition.number
        batches = {sha: b for (at, sha), b in model.batches.items() if at == number}
        assert {b.sha: b for b in self.ledger.batches(edition)} == batches
        for sha in "abcdef":
            there = batches.get(sha)
            assert self.ledger.batch(edition, sha) == there
            assert self.ledger.known(edition, sha) == bool(there and there.state != "failed")
        assert self.ledger.clusters(edition) == model.clusters.get(number, {})
        waiting = {sha: rows.tolist() for sha, rows in self.ledger.waiting(edition).items()}
        assert waiting == model.waiting.get(number, {})
        assert self.ledger.events(edition).tolist() == model.events.get(number, [])

    def teardown(self) -> None:
        self.stack.close()
        self.folder.cleanup()


TestLedgerAgainstItsModel = LedgerMachine.TestCase
TestLedgerAgainstItsModel.settings = settings(
    max_examples=40, stateful_step_count=20, deadline=None
)
