"""Times that records may publish beside the words they share.

Records of a class of shared words are split by the hour, what is left by the day, then by the
month, as long as k people share the time; the rest publishes none. All classes are cut at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import group_by, people_per_label, split_ragged
from tasks.core.records import (
    NO_TIME,
    TIME_DAY,
    TIME_HOUR,
    TIME_MONTH,
    TIME_NONE,
    Flags,
    Ints,
    Longs,
    cut_times,
)


@dataclass(frozen=True, slots=True, eq=False)
class TimedRows:
    """Rows to be published: records of one class of shared words and of one time.

    Attributes:
        row_of: row of each record, or -1, shape (n,).
        classes: class of shared words of each row, ascending.
        times, precisions: what each row publishes of its records' times.
    """

    row_of: Longs
    classes: Longs
    times: Longs
    precisions: Ints

    def __len__(self) -> int:
        return len(self.classes)


def share_times(class_of: Longs, users: Ints, times: Longs, *, k: int) -> TimedRows:
    """Cut the times of records as little as it takes for every row to hold k people.

    Args:
        class_of: class of shared words of each record, each of at least k people; -1: none.
    """
    return _absorb_into_timeless(_in_order(_cut(class_of, users, times, k=k)), users, k=k)


def _cut(class_of: Longs, users: Ints, times: Longs, *, k: int) -> TimedRows:
    """Rows of k people with a time; all that is left of a class is its row without one."""
    row_of = np.full(len(class_of), -1, dtype=np.int64)
    waiting = np.flatnonzero(class_of >= 0)
    found: list[tuple[Longs, Longs, Ints]] = []
    count = 0
    for precision in (TIME_HOUR, TIME_DAY, TIME_MONTH, TIME_NONE):
        cut = cut_times(times[waiting], precision)
        first, group_of = group_by(class_of[waiting], cut)
        people = people_per_label(group_of, users[waiting], len(first))
        done = (cut[first] != NO_TIME) & (people >= k) | (precision == TIME_NONE)
        row_of[waiting] = np.where(done, count + np.cumsum(done) - 1, -1)[group_of]
        done_first = first[done]
        found.append((class_of[waiting[done_first]], cut[done_first], _all(precision, done)))
        count += len(done_first)
        waiting = waiting[~done[group_of]]
    classes, starts, precisions = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return TimedRows(row_of, classes, starts, precisions)


def _all(precision: int, done: Flags) -> Ints:
    return np.full(np.count_nonzero(done), precision, dtype=np.int32)


def _in_order(rows: TimedRows) -> TimedRows:
    """By class; within it by precision and time, but where a row is timeless that one comes last
    and the others by size, the smallest just before it."""
    timeless = rows.precisions == TIME_NONE
    by_size = np.isin(rows.classes, rows.classes[timeless])
    sizes = np.bincount(rows.row_of[rows.row_of >= 0], minlength=len(rows))
    order = np.lexsort(
        (
            np.where(by_size, -rows.times, rows.times),
            np.where(by_size, rows.precisions, -rows.precisions),
            np.where(by_size, -sizes, 0),
            timeless,
            rows.classes,
        )
    )
    number = np.empty(len(rows) + 1, dtype=np.int64)
    number[order], number[-1] = np.arange(len(rows)), -1
    return TimedRows(
        number[rows.row_of], rows.classes[order], rows.times[order], rows.precisions[order]
    )


def _absorb_into_timeless(rows: TimedRows, users: Ints, *, k: int) -> TimedRows:
    """Cut the smallest rows of a class to no time until its timeless row holds k people."""
    short = np.flatnonzero(people_per_label(rows.row_of, users, len(rows)) < k)
    order = np.argsort(rows.row_of, kind="stable")
    bounds = np.searchsorted(rows.row_of[order], np.arange(len(rows) + 1))
    users_of = split_ragged(bounds, users[order])
    joins = np.arange(len(rows))
    for row in short.tolist():
        first, people = row, set(users_of[row].tolist())
        while len(people) < k:
            first -= 1
            people.update(users_of[first].tolist())
        joins[first:row] = row
    kept = joins == np.arange(len(rows))
    number = np.append((np.cumsum(kept) - 1)[joins], -1)
    return TimedRows(
        number[rows.row_of], rows.classes[kept], rows.times[kept], rows.precisions[kept]
    )
