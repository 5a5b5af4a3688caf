"""Results of phases: made once, kept as they say, and no foreign error leaves one."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.errors import BadLog, DiskTrouble, UnexpectedError
from tasks.runtime.results import AsKnownAs, Counts, Keeping, Nothing, Result, Whole
from tasks.runtime.store import Store

SAID = "what a row said"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


class Work:
    """Gives a list, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> list[int]:
        self.times += 1
        return [1, 2, 3]


def result_of(make: Callable[[], list[int]], keeping: Keeping[list[int]]) -> Result[list[int]]:
    return Result("analyse", "name", make, keeping, lambda value: f"{len(value)} records")


def test_a_value_is_made_once_and_when_it_is_asked_for() -> None:
    work = Work()
    result = result_of(work, Nothing())
    assert (work.times, result.is_at_hand, result.told) == (0, False, "known already")
    result.ensure()
    assert result.value == [1, 2, 3]
    assert (work.times, result.is_at_hand, result.told) == (1, True, "3 records")


def test_what_is_kept_whole_is_not_made_again(store: Store) -> None:
    work = Work()
    assert result_of(work, Whole(store, list)).value == [1, 2, 3]
    again = result_of(work, Whole(store, list))
    again.ensure()
    assert not again.is_at_hand
    assert again.value == [1, 2, 3]
    assert work.times == 1


def test_of_what_is_not_kept_it_is_known_that_it_was_made(store: Store) -> None:
    work = Work()
    counts: Counts[list[int]] = Counts(store, lambda value: {"records": len(value)})
    result_of(work, counts).ensure()
    again = result_of(work, counts)
    again.ensure()
    assert (work.times, counts.counts("name")) == (1, {"records": 3})
    assert again.value == [1, 2, 3]
    assert work.times == 2


@pytest.mark.parametrize("is_known", [True, False])
def test_known_as_something_else_is(is_known: bool) -> None:
    work = Work()
    result_of(work, AsKnownAs(lambda: is_known)).ensure()
    assert work.times == (0 if is_known else 1)


def test_a_foreign_error_says_its_kind_and_place_alone() -> None:
    def stumble() -> list[int]:
        raise ValueError(SAID)

    # Its place is looked for among our own files, and this is one of them.
    with pytest.raises(
        UnexpectedError, match=r"^analyse failed: ValueError at \w+\.py:\d+"
    ) as found:
        _ = result_of(stumble, Nothing()).value
    assert SAID not in str(found.value)
    assert found.value.__context__ is None
    assert found.value.__cause__ is None


def test_our_own_errors_leave_as_they_are_and_work_may_be_tried_again() -> None:
    faults: list[Exception] = [BadLog("no column"), OSError(errno.EIO, SAID)]

    def troubled() -> list[int]:
        if faults:
            raise faults.pop(0)
        return [1]

    result = result_of(troubled, Nothing())
    with pytest.raises(BadLog, match=r"^no column$"):
        _ = result.value
    with pytest.raises(DiskTrouble, match=r"^analyse: "):
        _ = result.value
    assert result.value == [1]


class Full(Nothing):
    """Cannot keep what it is given."""

    def save(self, fingerprint: str, value: object) -> None:
        raise TypeError(SAID)


def test_a_value_that_cannot_be_kept_is_a_fault_not_a_secret() -> None:
    result = result_of(Work(), Full())
    with pytest.raises(UnexpectedError, match=r"^analyse failed: TypeError"):
        _ = result.value
    assert not result.is_at_hand
