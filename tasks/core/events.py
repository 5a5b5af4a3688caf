"""Events: who asked what, and when. The same one in two files of an edition counts once.

An event is known by a keyed hash of person, time and text; signs between the words of a text do not
count, for none is published. Within one file the same event may stand several times: a person who
asked the same twice in a second did so. Over several files it counts as often as in the file that
has it most often, so one that was sorted anew, packed, or overlaps with another adds nothing.
Without a time, person and text are the event; where every row counts as a person, time and text
are: then too few may count, never too many.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tasks.core.arrays import group_by, parts_of
from tasks.core.columns import column, joined
from tasks.core.detection.readings import said
from tasks.core.digests import byte_keys
from tasks.core.members import parted
from tasks.core.records import Flags, Ints, Longs, Narrow, QueryLog

KNOWN = "known: the same person, time and query came in an earlier file"
"""Why a row is set aside that another file of the edition has told already."""


def event_keys(log: QueryLog, secret: bytes) -> Longs:
    """A number for each row: equal for the same person, time and text, whatever file it is in."""
    people = log.people
    if log.counted.unit == "rows":
        people = np.zeros_like(people)
    text_keys, text_of = _text_keys(log, secret), log.texts.of_row
    parts = (
        (people[log.users[part]], log.times[part], *text_keys[:, text_of[part]])
        for part in parts_of(len(log.users))
    )
    return _keys(parts, len(log.users), secret)


def unit_keys(log: QueryLog, secret: bytes, rows: Ints) -> Longs:
    """A number for each of some rows: equal for the same person and text, at whatever time."""
    text_keys, text_of = _text_keys(log, secret), log.texts.of_row
    chosen = (rows[part] for part in parts_of(len(rows)))
    parts = ((log.people[log.users[own]], *text_keys[:, text_of[own]]) for own in chosen)
    return _keys(parts, len(rows), secret)


def known_rows(events: Longs, files: Narrow, known: Longs) -> Flags:
    """Rows whose events were told before: by an earlier file, or by what is known already.

    Args:
        events: key of each row.
        files: file of each row, earlier ones with lower numbers.
        known: keys of what is known, ascending, each as often as it counts.
    """
    found = column(len(events), np.bool_)
    for rows in parted(events):
        found[rows] = _known(events[rows], files[rows], known)
    return found


def _known(events: Longs, files: Narrow, known: Longs) -> Flags:
    """The same for some rows, all of the same events among them."""
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


def _text_keys(log: QueryLog, secret: bytes) -> Longs:
    """Two numbers that stand for each distinct text, shape (2, texts)."""
    told = (said(text) for text in log.texts.distinct)
    keys = byte_keys((text.encode("utf-8", "surrogatepass") for text in told), secret)
    return keys.view(np.int64).reshape(-1, 2).T


def _keys(parts: Iterable[tuple[Longs, ...]], count: int, secret: bytes) -> Longs:
    """A number for each row of some columns, given part by part; one of 64 bits: two of ten
    million are equal by chance once in 400,000 logs."""
    return joined(count, np.int64, (_part_keys(columns, secret) for columns in parts))


def _part_keys(columns: tuple[Longs, ...], secret: bytes) -> Longs:
    content, width = np.stack(columns, axis=1).tobytes(), 8 * len(columns)
    rows = (content[start : start + width] for start in range(0, len(content), width))
    return byte_keys(rows, secret).view(np.int64)[::2]
