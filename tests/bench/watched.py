"""Commands run to their end, with wall time and the peak memory of all their processes."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[2]
POLL_SECONDS: Final = 0.05
MEGABYTE: Final = 2**20
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICKS: Final = os.sysconf("SC_CLK_TCK")


class RunFailed(Exception):
    """A command of the benchmark did not succeed."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a command took.

    Attributes:
        peak_memory_mb: greatest sum of resident sets (VmRSS) of the process and its descendants.
            Pages that processes share count in each of them, so it is an upper bound; what the
            exact figure (smaps_rollup) costs at several GB would be seen in the times.
        largest_child_mb: greatest resident set of any one of the descendants.
        folder_mb: the most that a folder held meanwhile.
        cpu_seconds: of all processes, as last seen; says less than `seconds`, but does not depend
            on what else the machine does.
    """

    seconds: float
    peak_memory_mb: float
    largest_child_mb: float
    folder_mb: float
    cpu_seconds: float
    output: str


def watch(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Watched:
    """Run a command from the project's root; anything but success is an error."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            peaks = _peaks_until_end(process, folder)
        finally:
            # Also on Ctrl-C: nothing that was started here outlives the benchmark.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        seconds = time.perf_counter() - started
        if process.returncode:
            raise RunFailed(f"exit {process.returncode}: {_text(complaints)[-2000:].strip()}")
        return Watched(
            seconds=round(seconds, 3),
            peak_memory_mb=round(peaks.all / MEGABYTE, 1),
            largest_child_mb=round(peaks.child / MEGABYTE, 1),
            folder_mb=round(peaks.folder / MEGABYTE, 1),
            cpu_seconds=round(sum(peaks.cpu.values()), 1),
            output=_text(output),
        )


@dataclass(slots=True)
class _Peaks:
    """The most that was seen: bytes of all processes, of one child, of a folder; CPU by process."""

    all: int = 0
    child: int = 0
    folder: int = 0
    cpu: dict[int, float] = field(default_factory=dict)


def _peaks_until_end(process: subprocess.Popen[bytes], folder: Path | None) -> _Peaks:
    peaks = _Peaks()
    while True:
        pids = list(family(process.pid))
        own, *children = map(_resident_bytes, pids)
        peaks.all = max(peaks.all, own + sum(children))
        peaks.child = max(peaks.child, *children, 0)
        peaks.folder = max(peaks.folder, bytes_below(folder))
        peaks.cpu |= {pid: seconds for pid in pids if (seconds := _cpu_seconds(pid))}
        try:
            process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return peaks


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process, 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def bytes_below(folder: Path | None) -> int:
    """The size of all files in a folder, which may change meanwhile."""
    total = 0
    for path in folder.rglob("*") if folder is not None and folder.is_dir() else ():
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def family(pid: int) -> Iterator[int]:
    """A process and its descendants; each thread lists the children that it started."""
    yield pid
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in listing.read_text().split():
                yield from family(int(child))


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")
