"""Columns: one value for each row of a log, which all together need not fit into memory.

A log has more rows than different queries, people or classes. What there is of each of those is in
memory; what there is of each row is a column: an array like any other, made here, filled and looked
at some rows at a time. Where it lies is decided by whoever runs the phases (`runtime/columns.py`):
in memory, or in a file beside it. It holds numbers alone, never a text.

Records stand in the order of their forms, so what is asked of the records of a form is asked of
neighbours. Of other groups, the classes of a release, say, the rows are found by `members_of`: a
counting sort, which takes one look at the labels and memory for the groups alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tasks.core.records import Flags, Ints, Longs, Narrow

ROWS_AT_A_TIME: Final = 1 << 20
"""What is computed of each row is in memory for so many of them together."""

Kind = TypeVar("Kind", bound=np.generic)
Other = TypeVar("Other", bound=np.generic)


class Room(Protocol):
    """Where columns lie."""

    def column(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        """A new one; what stands in it is not defined."""

    def rest(self) -> None:
        """Give back memory of columns that nobody is looking at just now."""


class Memory:
    """All columns lie in memory."""

    def column(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        return np.empty(shape, dtype=kind)

    def rest(self) -> None:
        return None


_MEMORY: Final[Room] = Memory()
_room: ContextVar[Room] = ContextVar("room", default=_MEMORY)


def room() -> Room:
    """Where columns lie now."""
    return _room.get()


@contextmanager
def columns_in(room: Room) -> Iterator[None]:
    """Have columns lie somewhere else."""
    before = _room.set(room)
    try:
        yield
    finally:
        _room.reset(before)


def column(shape: int | tuple[int, ...], kind: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """A new column, to be filled; or several of one kind, shape (columns, rows)."""
    own = (shape,) if isinstance(shape, int) else shape
    return _room.get().column(own, np.dtype(kind))


def rest() -> None:
    """Give back memory of columns: for whoever goes through rows in parts of another kind."""
    _room.get().rest()


def row_parts(count: int) -> Iterator[slice]:
    """All rows, some after the other."""
    for start in range(0, count, ROWS_AT_A_TIME):
        yield slice(start, min(count, start + ROWS_AT_A_TIME))
        rest()


def computed(
    count: int, kind: type[Kind] | np.dtype[Kind], of: Callable[[slice], NDArray[Any]]
) -> NDArray[Kind]:
    """A new column, computed some rows at a time."""
    found = column(count, kind)
    for rows in row_parts(count):
        found[rows] = of(rows)
    return found


def joined(
    count: int, kind: type[Kind] | np.dtype[Kind], parts: Iterable[NDArray[Any]]
) -> NDArray[Kind]:
    """A new column of so many rows from its parts, one after the other."""
    found, done = column(count, kind), 0
    for own in parts:
        found[done : done + len(own)] = own
        done += len(own)
    return found


class Growing(Generic[Kind]):
    """A column of which nobody knows yet how long it will be."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind = kind
        self._parts: list[NDArray[Kind]] = []
        self._waiting: list[NDArray[Any]] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts)) + sum(map(len, self._waiting))

    def add(self, values: NDArray[Any]) -> None:
        """Values that are to stand behind all others, and are not changed any more."""
        self._waiting.append(values)
        if sum(map(len, self._waiting)) >= ROWS_AT_A_TIME:
            self._gather()

    def replace(self, by: NDArray[Any]) -> None:
        """Put by[v] in the place of every value v."""
        self._gather()
        for part in self._parts:
            part[:] = by[part]
            rest()

    def column(self) -> NDArray[Kind]:
        """All values so far; nothing can be added after that."""
        return self.column_of(self._kind)

    def column_of(self, kind: type[Other]) -> NDArray[Other]:
        """The same as values of another kind."""
        self._gather()
        return joined(len(self), kind, _emptied(self._parts))

    def _gather(self) -> None:
        waiting, self._waiting = self._waiting, []
        count = sum(map(len, waiting))
        if count:
            self._parts.append(joined(count, self._kind, waiting))
            rest()


def _emptied(parts: list[NDArray[Kind]]) -> Iterator[NDArray[Kind]]:
    """The parts, each gone from the list before the next comes."""
    parts.reverse()
    while parts:
        yield parts.pop()


def places_of(flags: Flags) -> Ints:
    """Rows that are marked, ascending, as a column."""
    found = (np.flatnonzero(flags[rows]) + rows.start for rows in row_parts(len(flags)))
    return joined(marked(flags), np.int32, found)


def kept(values: NDArray[Kind], flags: Flags) -> NDArray[Kind]:
    """The values of the rows that are marked, as a column."""
    found = (values[rows][flags[rows]] for rows in row_parts(len(flags)))
    return joined(marked(flags), values.dtype, found)


def marked(flags: Flags) -> int:
    """How many rows are marked."""
    return sum(int(np.count_nonzero(flags[rows])) for rows in row_parts(len(flags)))


def counts_of(labels: Narrow, count: int, weights: NDArray[Any] | None = None) -> Longs:
    """Rows of each label 0 … count - 1, or the sum of their whole weights; label -1 is none."""
    found = np.zeros(count, dtype=np.int64)
    for rows in row_parts(len(labels)):
        own = labels[rows]
        held = own >= 0
        if weights is None:
            found += np.bincount(own[held], minlength=count)
        else:
            np.add.at(found, own[held], weights[rows][held])
    return found
