"""The generated logs that are measured: each in two files, the first of which holds 95 %."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.watched import watch

SEED: Final = 3
USERS_PER_QUERY: Final = 0.08
FIRST_PART: Final = 0.95


@dataclass(frozen=True, slots=True)
class Log:
    """A generated log; the whole is both files."""

    size: int
    first: Path
    batch: Path

    @property
    def whole(self) -> tuple[Path, Path]:
        return self.first, self.batch


def users_of(size: int) -> int:
    return max(1, round(size * USERS_PER_QUERY))


def generated_log(folder: Path, size: int) -> Log:
    """The log of a size, made in a process of its own: a million rows would stay in memory."""
    log = Log(size, folder / f"{size}-first.tsv", folder / f"{size}-batch.tsv")
    if not log.batch.exists():
        users = str(users_of(size))
        options = ("--queries", str(size), "--users", users, "--seed", str(SEED))
        made = watch((sys.executable, "-m", "flows.sample", *options))
        header, *rows = made.output.splitlines(keepends=True)
        cut = round(len(rows) * FIRST_PART)
        log.first.write_text(header + "".join(rows[:cut]), encoding="utf-8")
        log.batch.write_text(header + "".join(rows[cut:]), encoding="utf-8")
    return log
