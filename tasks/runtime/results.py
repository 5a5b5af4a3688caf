"""Results of phases: made now, kept by an earlier run, or made again when somebody asks.

A result has the fingerprint of all that decides it. A phase whose result is known need not run; a
value that is not kept, the log and its words, or that is gone from the store, is made when it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from tasks.errors import LogveilError
from tasks.runtime.redacted_errors import redacted
from tasks.runtime.store import Store

T = TypeVar("T")


class Keeping(Protocol[T]):
    """What is kept of a phase's result."""

    def knows(self, fingerprint: str) -> bool:
        """Whether it was made before."""

    def load(self, fingerprint: str) -> T | None: ...

    def save(self, fingerprint: str, value: T) -> None: ...


class Result(Generic[T]):
    """The result of one phase.

    Attributes:
        phase: its name.
        fingerprint: of all that decides the value.
    """

    def __init__(
        self,
        phase: str,
        fingerprint: str,
        make: Callable[[], T],
        keeping: Keeping[T],
        told: Callable[[T], str],
    ) -> None:
        """Say how a result comes about.

        Args:
            make: the work of the phase.
            told: what may be said of the value: counts, nothing it holds.
        """
        self.phase = phase
        self.fingerprint = fingerprint
        self._make = make
        self._keeping = keeping
        self._told = told
        self._value: T | None = None

    @property
    def is_known(self) -> bool:
        """Whether the phase need not run."""
        return self._keeping.knows(self.fingerprint)

    @property
    def is_at_hand(self) -> bool:
        return self._value is not None

    @property
    def value(self) -> T:
        """The value: at hand, kept, or made now; only our own errors leave."""
        if self._value is None:
            self._value = self._keeping.load(self.fingerprint)
        if self._value is None:
            try:
                made = self._make()
                self._keeping.save(self.fingerprint, made)
                self._value = made
            except LogveilError:
                raise
            except Exception as fault:
                told = redacted(self.phase, fault)
        if self._value is None:
            # Outside the handler, so that the original is not even kept as context.
            raise told
        return self._value

    def ensure(self) -> None:
        """Make the value, unless it is known."""
        if not self.is_known:
            _ = self.value

    @property
    def told(self) -> str:
        return "known already" if self._value is None else self._told(self._value)


class Nothing:
    """Nothing is known and nothing kept."""

    def knows(self, fingerprint: str) -> bool:
        return False

    def load(self, fingerprint: str) -> None:
        return None

    def save(self, fingerprint: str, value: Any) -> None: ...


class Counts(Generic[T]):
    """That it was made is kept, with counts; the value itself is not."""

    def __init__(self, store: Store, counts: Callable[[T], dict[str, int]]) -> None:
        self._store = store
        self._counts = counts

    def knows(self, fingerprint: str) -> bool:
        return _key(fingerprint) in self._store

    def load(self, fingerprint: str) -> T | None:
        return None

    def save(self, fingerprint: str, value: T) -> None:
        self._store.save(_key(fingerprint), self._counts(value))

    def counts(self, fingerprint: str) -> dict[str, int]:
        return self._store.load(_key(fingerprint), dict) or {}


class Whole(Generic[T]):
    """The value is kept whole."""

    def __init__(self, store: Store, kind: type[T]) -> None:
        self._store = store
        self._kind = kind

    def knows(self, fingerprint: str) -> bool:
        return _key(fingerprint) in self._store

    def load(self, fingerprint: str) -> T | None:
        return self._store.load(_key(fingerprint), self._kind)

    def save(self, fingerprint: str, value: T) -> None:
        self._store.save(_key(fingerprint), value)


class AsKnownAs(Nothing):
    """Nothing is kept; it is known whenever something else is."""

    def __init__(self, is_known: Callable[[], bool]) -> None:
        self._is_known = is_known

    def knows(self, fingerprint: str) -> bool:
        return self._is_known()


def _key(fingerprint: str) -> str:
    return f"result:{fingerprint}"
