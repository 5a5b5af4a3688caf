"""What can go wrong, one class per cause, each with its exit code.

Messages name files, rows and counts, never query text or user ids: whoever reads a log of this
program must learn nothing about the people in the log it works on.
"""

from __future__ import annotations

import errno


class LogveilError(Exception):
    """Base of all faults that are shown to the user without a traceback."""

    exit_code = 1


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
