"""From an inbox to releases: file by file (append), or everything anew (new edition)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from flows.release import Phases, make_release
from tasks.editions import inbox as inbox_folder
from tasks.editions.ledger import Ledger, open_ledger
from tasks.editions.releases import InEdition, published_so_far
from tasks.editions.state import (
    EditionState,
    can_be_read,
    current_state,
    files_that_wait,
    next_state,
    recover,
    refuse_other_settings,
    refuse_strangers,
    shared_settings,
    withdraw_old,
)
from tasks.errors import (
    BadLog,
    DiskTrouble,
    InputError,
    LogveilError,
    StillChanging,
    UnexpectedError,
    UsageError,
    VerificationFailed,
)
from tasks.folders import overlap
from tasks.phases.job import Job, files_of, open_store
from tasks.phases.read import refuse_unreadable
from tasks.runtime.columns import past_memory
from tasks.runtime.executor import Executor
from tasks.runtime.files import locked
from tasks.runtime.fingerprint import content_digest
from tasks.schema import FinalMeasures
from tasks.settings import Settings

Growth = Literal["append", "new"]
Wrap = Callable[[Callable[[], FinalMeasures], str, str], FinalMeasures]
"""Has one release made, of a file, under the name of the release."""
SETTLE_SECONDS: Final = 2.0
"""So long a file must not have changed."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked of a run.

    Attributes:
        settle: seconds for which a file must not have changed.
    """

    settings: Settings
    inbox: Path
    edition: Growth
    settle: float

    def __post_init__(self) -> None:
        inbox_folder.require_inbox(self.inbox)
        places = {"out": self.out, "the store": Path(self.settings.store)}
        faults = [
            f"the inbox {self.inbox} and {what} {place} must be apart, neither in the other"
            for what, place in places.items()
            if overlap(self.inbox, place)
        ]
        if faults:
            raise UsageError(*faults)

    @property
    def out(self) -> Path:
        return Path(self.settings.out)


@dataclass(slots=True)
class Outcome:
    """What became of the files of an inbox; names and counts only.

    Attributes:
        known: files whose content had come before.
        failed: files that were put aside, with the reason.
        skipped: files that stay and are tried again, with the reason.
        left: files that are not complete yet.
    """

    released: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    known_rows: int = 0
    exit_code: int = 0

    def fail_with(self, fault: LogveilError) -> None:
        """Of several exit codes the highest counts; a fault of the program more than all others."""
        codes = {self.exit_code, fault.exit_code}
        self.exit_code = 1 if 1 in codes else max(codes)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def only_rejects(self) -> bool:
        """Whether all that went wrong is that some files, among others, cannot be used."""
        good = self.released or self.waiting or self.known
        rejected = (UsageError.exit_code, InputError.exit_code)
        return bool(good) and not self.skipped and self.exit_code in rejected

    @property
    def seen(self) -> bool:
        """Whether there was any file."""
        return any(self.counts().values())

    def counts(self) -> dict[str, int]:
        """How many files went which way."""
        return {
            "released": len(self.released),
            "waiting": len(self.waiting),
            "known already": len(self.known),
            "put aside": len(self.failed),
            "skipped": len(self.skipped),
            "left for the next run": len(self.left),
        }

    def told(self) -> str:
        """The same in one line."""
        counts = [f"{files} {what}" for what, files in self.counts().items() if files]
        known = f"; {self.known_rows:,} rows were known" if self.known_rows else ""
        return "files: " + (", ".join(counts) or "none") + known


def _in_one_line(fault: LogveilError) -> str:
    return "; ".join(str(fault).splitlines())


class FilesPutAside(LogveilError):
    """A run has put files aside or skipped them; whatever else it did is done."""

    def __init__(self, outcome: Outcome) -> None:
        aside = [f"put aside: {name}: {reason}" for name, reason in outcome.failed.items()]
        skipped = [f"skipped: {name}: {reason}" for name, reason in outcome.skipped.items()]
        super().__init__(*aside, *skipped, outcome.told())
        self.outcome = outcome
        self.exit_code = outcome.exit_code


class InboxRun:
    """One look at an inbox; other runs may work on the same one."""

    def __init__(
        self,
        order: Order,
        executor: Executor,
        phases: Callable[[], Phases],
        wrap: Wrap = lambda make, file, release: make(),
    ) -> None:
        """Take `phases` as a maker of whoever runs and times the phases of one release."""
        self._order = order
        self._settings = order.settings
        self._executor = executor
        self._phases = phases
        self._wrap = wrap
        self._display = phases().display
        self._store = open_store(order.settings)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Release what is complete; each file is taken under the lock, then others may go on."""
        step = self._append_next if self._order.edition == "append" else self._begin_anew
        memory = past_memory(self._settings.temp, self._settings.memory)
        with memory, open_ledger(Path(self._settings.store)) as ledger, closing(self._store):
            while self._locked(step, ledger):
                pass
        return self.outcome

    def _locked(self, step: Callable[[Ledger], bool], ledger: Ledger) -> bool:
        def waiting() -> None:
            self._display.say("another run is at work on this inbox; waiting for it")

        with locked(self._order.inbox, waiting), locked(self._order.out, waiting):
            recover(ledger, Path(self._settings.store), self._order.out)
            return step(ledger)

    def _append_next(self, ledger: Ledger) -> bool:
        """Deal with the first file that is complete; False if there is none."""
        path = next(iter(self._complete_files()), None)
        if path is None:
            return False
        state = current_state(ledger, self._order.out)
        refuse_strangers(state, self._order.out, Path(self._settings.store))
        state = state or next_state(ledger, self._settings, self._order.out, "append")
        refuse_other_settings(state, self._settings)
        sha = self._content(path)
        if sha is None:
            return True
        if ledger.known(state.edition, sha):
            self._put_known_away(path, sha)
        else:
            self._append(ledger, state, path, sha)
        return True

    def _content(self, path: Path) -> str | None:
        """The digest of a file; one that cannot be read does not stop the others."""
        try:
            return content_digest(path)
        except DiskTrouble as fault:
            self._skip(path, fault)
        except InputError as fault:
            self._put_aside(path, fault)
        return None

    def _put_aside(self, path: Path, fault: LogveilError) -> None:
        """Move a file to failed/; one that cannot be moved either is skipped."""
        reason = _in_one_line(fault)
        try:
            moved = inbox_folder.move_to_failed(self._order.inbox, path, reason)
        except InputError as other:
            self._skip(path, InputError(reason, *other.args))
            return
        if moved is None:
            # Somebody else has taken it away.
            self.outcome.left.append(path.name)
            return
        self.outcome.failed[path.name] = reason
        self.outcome.fail_with(fault)
        self._display.say(f"{path.name}: put aside in failed/: {reason}")

    def _skip(self, path: Path, fault: LogveilError) -> None:
        """Leave a file where it is, for the next run to try again."""
        self.outcome.skipped[path.name] = _in_one_line(fault)
        self.outcome.fail_with(fault)
        self._display.say(f"{path.name}: skipped, the next run tries again: {_in_one_line(fault)}")

    def _complete_files(self) -> list[Path]:
        """Files that are to be dealt with, in the order of their names."""
        complete, unfinished = inbox_folder.complete_files(self._order.inbox, self._order.settle)
        left = {*self.outcome.left, *(path.name for path in unfinished)}
        self.outcome.left = sorted(left)
        return [path for path in complete if path.name not in left | self.outcome.skipped.keys()]

    def _put_known_away(self, path: Path, sha: str) -> None:
        """A file that was dealt with before: by a run killed before it moved it, or given again."""
        inbox = self._order.inbox
        if inbox_folder.find_done(inbox, sha) is None:
            inbox_folder.move_to_done(inbox, path, sha)
        else:
            inbox_folder.move_to_known(inbox, path)
        self._say_known(path)

    def _say_known(self, path: Path) -> None:
        self.outcome.known.append(path.name)
        self._display.say(f"{path.name}: its content is known already; nothing is done with it")

    def _append(self, ledger: Ledger, state: EditionState, path: Path, sha: str) -> None:
        waiting, gone = files_that_wait(state, self._order.inbox)
        for name in gone:
            self._display.say(f"done/{name} is gone: its rows go on waiting; put it back")
        publication = InEdition(state, ledger, counted=self._settings.counts == "dp")
        self._display.say(f"{path.name} → {publication.folder}")
        if self._released(publication, [*waiting.values(), path], path, sha):
            inbox_folder.move_to_done(self._order.inbox, path, sha)

    def _job(self, state: EditionState, paths: Sequence[Path]) -> Job:
        """One more release of an edition."""
        settings = replace(self._settings, logs=tuple(map(str, paths)), out=str(state.folder))
        given = (settings, self._store, files_of(settings), self._executor)
        return Job(*given, self._display.progress, in_edition=True)

    def _released(
        self, publication: InEdition, paths: Sequence[Path], path: Path, sha: str
    ) -> bool:
        """Append a file; one that cannot be used is put aside, one that changed is left."""
        ledger, state = publication.ledger, publication.state
        try:
            job = self._job(state, paths)
            job = replace(job, appended_to=published_so_far(job.settings, state, ledger))
            measures = self._made(job, publication, path.name)
        except StillChanging:
            self.outcome.left.append(path.name)
            return False
        except UnexpectedError as fault:
            self._skip(path, fault)
            return False
        except (BadLog, VerificationFailed) as fault:
            self._put_bad_away(ledger, state, path, sha, fault)
            return False
        self._note(path.name, measures)
        return True

    def _made(self, job: Job, publication: InEdition, name: str) -> FinalMeasures:
        def make() -> FinalMeasures:
            return make_release(job, publication, self._phases())

        folder = publication.folder
        return self._wrap(make, name, f"{folder.parent.name}/{folder.name}")

    def _put_bad_away(
        self, ledger: Ledger, state: EditionState, path: Path, sha: str, fault: LogveilError
    ) -> None:
        """It does not stop the others; if it is put back, it is tried again."""
        ledger.fail(state.edition, sha, path.name, _in_one_line(fault))
        self._put_aside(path, fault)

    def _note(self, name: str, measures: FinalMeasures) -> None:
        records, edition = measures["records"], measures["edition"]
        self.outcome.known_rows += records["known"]
        if not records["published"]:
            self.outcome.waiting.append(name)
            self._display.say(
                f"{name}: nothing of it can be published yet, {edition['waiting']:,} rows wait"
            )
            return
        self.outcome.released.append({"file": name, **edition, "records": records})
        self._display.say(
            f"edition {edition['number']}, release {edition['release']}: "
            f"{records['published']:,} rows published, {edition['waiting']:,} wait"
            + (f", {records['known']:,} were known" if records["known"] else "")
        )

    def _begin_anew(self, ledger: Ledger) -> bool:
        """Release everything so far as a new edition, unless the current one is just that."""
        order = self._order
        current = current_state(ledger, order.out)
        refuse_strangers(current, order.out, Path(self._settings.store))
        state = next_state(ledger, self._settings, order.out, "new")
        came = self._new_files(ledger, current or state)
        files = {**self._done_files(), **came}
        if not files or self._is_current(current, set(files.values())):
            self._display.say("nothing new: the current edition holds every file")
            return False
        earlier = current if current and can_be_read(current, self._settings) else None
        counted = self._settings.counts == "dp"
        publication = InEdition(state, ledger, earlier, counted)
        job, name = self._job(state, list(files)), f"{len(files)} files"
        self._note(name, self._made(job, publication, name))
        for path, sha in came.items():
            inbox_folder.move_to_done(order.inbox, path, sha)
        self._ask_to_withdraw(current)
        return False

    def _done_files(self) -> dict[Path, str]:
        """Earlier files that can be read; the others are told of, and stay where they are."""
        done: dict[Path, str] = {}
        for path in inbox_folder.done_files(self._order.inbox):
            try:
                done[path] = content_digest(path)
            except DiskTrouble:
                raise
            except InputError as fault:
                self._skip(path, fault)
        return done

    def _new_files(self, ledger: Ledger, state: EditionState) -> dict[Path, str]:
        """Files whose content has not come before and can be read; the others are put aside."""
        new: dict[Path, str] = {}
        for path in self._complete_files():
            sha = self._content(path)
            if sha is None:
                continue
            if ledger.known(state.edition, sha) or inbox_folder.find_done(self._order.inbox, sha):
                self._put_known_away(path, sha)
            elif sha in new.values():
                inbox_folder.move_to_known(self._order.inbox, path)
                self._say_known(path)
            elif self._is_readable(ledger, state, path, sha):
                new[path] = sha
        return new

    def _is_readable(self, ledger: Ledger, state: EditionState, path: Path, sha: str) -> bool:
        try:
            refuse_unreadable(self._job(state, [path]))
        except UnexpectedError as fault:
            self._skip(path, fault)
            return False
        except BadLog as fault:
            self._put_bad_away(ledger, state, path, sha, fault)
            return False
        return True

    def _is_current(self, current: EditionState | None, contents: set[str]) -> bool:
        if current is None or current.edition.kind != "new" or len(current.releases) != 1:
            return False
        held = {batch.sha for batch in current.batches if batch.state != "failed"}
        return current.edition.settings == shared_settings(self._settings) and contents == held

    def _ask_to_withdraw(self, earlier: EditionState | None) -> None:
        store, keep = Path(self._settings.store), self._settings.keep_editions
        for folder in withdraw_old(store, self._order.out, keep) if keep else ():
            self._display.say(f"{folder} is withdrawn: {keep} editions are kept")
        if earlier is not None and earlier.folder.exists():
            self._display.say(
                f"withdraw {earlier.folder}: whoever holds both editions can intersect them"
            )
