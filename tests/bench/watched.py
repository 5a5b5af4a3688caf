"""Commands run to their end, with wall time and the peak memory of all their processes."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[2]
POLL_SECONDS: Final = 0.05
MEGABYTE: Final = 2**20
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


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
    """

    seconds: float
    peak_memory_mb: float
    largest_child_mb: float
    folder_mb: float
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
        return Watched(round(seconds, 3), *(round(x / MEGABYTE, 1) for x in peaks), _text(output))


def _peaks_until_end(process: subprocess.Popen[bytes], folder: Path | None) -> tuple[int, int, int]:
    """Memory of all processes together, of the largest beside the first, and a folder's bytes."""
    peaks = (0, 0, 0)
    while True:
        own, *children = map(_resident_bytes, _family(process.pid))
        now = own + sum(children), max(children, default=0), bytes_below(folder)
        peaks = (max(peaks[0], now[0]), max(peaks[1], now[1]), max(peaks[2], now[2]))
        try:
            process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return peaks


def bytes_below(folder: Path | None) -> int:
    """The size of all files in a folder, which may change meanwhile."""
    total = 0
    for path in folder.rglob("*") if folder is not None and folder.is_dir() else ():
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants; each thread lists the children that it started."""
    yield pid
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in listing.read_text().split():
                yield from _family(int(child))


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")
