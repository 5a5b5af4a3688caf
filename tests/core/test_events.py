"""Events: what several files tell of the same person, time and text counts once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.counted import Counted
from tasks.core.detection.readings import normalise
from tasks.core.events import KNOWN, event_keys, known_rows, unit_keys
from tasks.core.records import NO_TIME, QueryLog
from tasks.core.texts import TextColumn

SECRET = b"s" * 32
NAMES = st.sampled_from("abc")
FILES = st.lists(st.lists(NAMES, max_size=6), max_size=5)


@pytest.fixture(autouse=True, scope="module")
def few_rows_at_a_time() -> Iterator[None]:
    """As events of a log of many millions are looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.core.members.ROWS_PER_GROUP", 2)
        patch.setattr("tasks.core.columns.ROWS_AT_A_TIME", 3)
        patch.setattr("tasks.core.arrays.PART", 2)
        yield


def log_of(
    rows: Sequence[tuple[int, str, int]], *, has_users: bool = True, sources: int = 1
) -> QueryLog:
    """Rows of (user, text, time) in one file; a row by itself if there are no users."""
    users = [user for user, _, _ in rows] if has_users else range(len(rows))
    present, ranks = np.unique(np.array(users, dtype=np.int64), return_inverse=True)
    return QueryLog(
        texts=TextColumn.of([normalise(text) for _, text, _ in rows]),
        users=ranks.astype(np.int32),
        times=np.array([time for _, _, time in rows], dtype=np.int64),
        people=present * 1000 + 7,
        sources=tuple(f"{n}.tsv" for n in range(sources)),
        origins=np.zeros(len(rows), dtype=np.int32),
        rows=np.arange(len(rows)) + 2,
        reject_sources=np.zeros(1, dtype=np.int32),
        reject_rows=np.array([3], dtype=np.int64),
        reject_reasons=np.array(["no text"], dtype=object),
        counted=Counted("people" if has_users else "rows"),
        has_times=True,
    )


def test_an_event_is_person_time_and_text_however_it_is_spelt() -> None:
    rows = [(1, "Flu  Shot", 5), (1, "flu shot", 5), (2, "flu shot", 5), (1, "flu shot", 6)]
    first, same, *others = event_keys(log_of(rows), SECRET).tolist()
    assert first == same
    assert len({first, *others}) == 3
    assert event_keys(log_of(rows[:1]), SECRET).tolist() == [first], "whatever else is in the log"
    assert event_keys(log_of(rows[:1]), b"t" * 32).tolist() != [first]


def units_of(log: QueryLog) -> list[int]:
    return list(unit_keys(log, SECRET, np.arange(len(log.users), dtype=np.int32)))


def test_a_unit_is_person_and_text_whatever_the_time() -> None:
    rows = [(1, "flu", 5), (1, " FLU", NO_TIME), (2, "flu", 5), (1, "cold", 5)]
    first, same, *others = units_of(log_of(rows))
    assert first == same
    assert len({first, *others}) == 3


def test_where_rows_are_people_time_and_text_are_the_event() -> None:
    """Nobody can tell whether it is the same person: the safe answer is that it is."""
    log = log_of([(0, "flu", 5), (0, "flu", 5), (0, "flu", 6)], has_users=False)
    first, second, third = event_keys(log, SECRET).tolist()
    assert first == second != third
    assert len(set(units_of(log))) == 3


@given(FILES, st.lists(NAMES, max_size=6))
def test_over_files_an_event_counts_as_often_as_where_it_is_most_frequent(
    files: list[list[str]], known: list[str]
) -> None:
    events = np.array([ord(name) for file in files for name in file], dtype=np.int64)
    origins = np.repeat(np.arange(len(files)), [*map(len, files)]).astype(np.int32)
    before = np.sort(np.array([ord(name) for name in known], dtype=np.int64))
    aside = known_rows(events, origins, before)
    told, expected = Counter(known), []
    for file in files:
        seen: Counter[str] = Counter()
        for name in file:
            seen[name] += 1
            expected.append(seen[name] <= told[name])
        told |= seen
    assert aside.tolist() == expected
    counted = Counter(known) + Counter(chr(key) for key in events[~aside].tolist())
    most = Counter(known)
    for file in files:
        most |= Counter(file)
    assert counted == most


def test_rows_set_aside_stand_among_the_rejects_in_their_order() -> None:
    log = log_of([(1, "a", 1), (2, "b", 2), (3, "c", 3)])
    left = log.set_aside(np.array([True, False, True]), KNOWN)
    assert left.texts.tolist() == ["b"]
    assert (left.users.tolist(), left.people.tolist()) == ([0], [2007])
    assert left.reject_rows.tolist() == [2, 3, 4]
    assert left.reject_reasons.tolist() == [KNOWN, "no text", KNOWN]
    assert left.rows_read == log.rows_read
