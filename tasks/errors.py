"""What can go wrong, one class per cause, each with its exit code.

Messages name files, rows and counts, never query text or user ids: whoever reads a log of this
program must learn nothing about the people in the log it works on. What files and columns are
called is told in printable characters alone: a name cannot begin a line of its own.
"""

from __future__ import annotations

import errno


def printable(text: object) -> str:
    """Some text as one line that every file and terminal takes.

    A line feed in a file's name, say, or a byte of it that is not UTF-8, is shown by its number.
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in str(text)
    )


class LogveilError(Exception):
    """Base of all faults that are shown to the user without a traceback.

    Each argument is a line of the message.
    """

    exit_code = 1

    def __str__(self) -> str:
        return "\n".join(map(printable, self.args))


class UsageError(LogveilError):
    """Wrong options or settings; the message lists every fault found."""

    exit_code = 2


class InputError(LogveilError):
    """The input cannot be read, or the output cannot be written."""

    exit_code = 3


class DiskTrouble(InputError):
    """A disk or a network folder does not answer; it may a little later."""


class BadLog(InputError):
    """A log file cannot be used, whatever else is well."""

    def __init__(self, message: str, exit_code: int = InputError.exit_code) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class StillChanging(InputError):
    """A log file changed while it was read; it may be complete later."""


class NothingToRelease(LogveilError):
    """No release can hold the guarantee, for example with fewer than k users."""

    exit_code = 4


class VerificationFailed(LogveilError):
    """The written release does not hold what it promises; it was not published."""

    exit_code = 5


class UnexpectedError(LogveilError):
    """A fault of the program itself; carries the place, never the data it stumbled over."""

    exit_code = 1


MAY_PASS = frozenset(
    {errno.EIO, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTDOWN}
    | {errno.ENETDOWN, errno.ENETUNREACH, errno.ECONNRESET}
)


def disk_fault(message: str, fault: OSError) -> InputError:
    """What to raise for a fault of the disk: trying again helps, or it does not."""
    return DiskTrouble(message) if fault.errno in MAY_PASS else InputError(message)
