"""Events: who asked what, and when. The same one in two files of an edition counts once.

An event is known by a keyed hash of person, time and text; signs between the words of a text do not
count, for none is published. Within one file the same event may stand several times: a person who
asked the same twice in a second did so. Over several files it counts as often as in the file that
has it most often, so one that was sorted anew, packed, or overlaps with another adds nothing.
Without a time, person and text are the event; where every row counts as a person, time and text
are: then too few may count, never too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tasks.core.arrays import group_by
from tasks.core.detection.readings import said
from tasks.core.digests import byte_keys
from tasks.core.records import Flags, Longs, Narrow, QueryLog

ROWS_AT_A_TIME: Final = 1 << 16
KNOWN = "known: the same person, time and query came in an earlier file"
"""Why a row is set aside that another file of the edition has told already."""


def event_keys(log: QueryLog, secret: bytes) -> Longs:
    """A number for each row: equal for the same person, time and text, whatever file it is in."""
    people = np.zeros_like(log.people) if log.counted.unit == "rows" else log.people
    return _keys(log, people, secret, with_times=True)


def unit_keys(log: QueryLog, secret: bytes) -> Longs:
    """A number for each row: equal for the same person and text, at whatever time."""
    return _keys(log, log.people, secret, with_times=False)


def known_rows(events: Longs, files: Narrow, known: Longs) -> Flags:
    """Rows whose events were told before: by an earlier file, or by what is known already.

    Args:
        events: key of each row.
        files: file of each row, earlier ones with lower numbers.
        known: keys of what is known, ascending, each as often as it counts.
    """
    first, group_of = group_by(events, files)
    own = events[first]
    counts = np.bincount(group_of, minlength=len(first))
    before = np.searchsorted(known, own, side="right") - np.searchsorted(known, own)
    told = np.maximum(before, _most_so_far(own, counts))
    return np.asarray(_places(group_of, counts) < told[group_of])


def _most_so_far(own: Longs, counts: Longs) -> Longs:
    """The greatest count among the earlier groups of the same event."""
    width = int(counts.max(initial=0)) + 1
    rank = np.cumsum(np.append(False, own[1:] != own[:-1])[: len(own)])
    # Ranks ascend, so the greatest so far is always of the same event, or there is none.
    most = np.maximum.accumulate(rank * width + counts)
    return np.asarray(np.maximum(np.append(0, most[:-1])[: len(own)] - rank * width, 0))


def _places(group_of: Longs, counts: Longs) -> Longs:
    """Which row of its group each is: 0, 1, …"""
    order = np.argsort(group_of, kind="stable")
    places = np.empty(len(group_of), dtype=np.int64)
    places[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places


def _keys(log: QueryLog, people: Longs, secret: bytes, *, with_times: bool) -> Longs:
    """A number for each row; one of 64 bits: two of ten million are equal by chance once in 400,000
    logs."""
    encoded = (said(text).encode("utf-8", "surrogatepass") for text in log.texts.distinct)
    texts = byte_keys(encoded, secret).view(np.int64).reshape(-1, 2)

    def rows() -> Iterator[bytes]:
        for start in range(0, len(log.texts), ROWS_AT_A_TIME):
            own = slice(start, start + ROWS_AT_A_TIME)
            times = [log.times[own, np.newaxis]] if with_times else []
            users = people[log.users[own], np.newaxis]
            content = np.hstack([users, *times, texts[log.texts.of_row[own]]])
            width = content.itemsize * content.shape[1]
            joined = content.tobytes()
            yield from (joined[at : at + width] for at in range(0, len(joined), width))

    return byte_keys(rows(), secret).view(np.int64)[::2].copy()
