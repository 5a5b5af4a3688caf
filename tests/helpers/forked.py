"""Runs of `flows.inbox` forked from a process that has imported and loaded everything.

Most of a short run is imports: a run that is to be killed at a moment of interest starts here
within milliseconds. `python -m tests.helpers.forked` is that process; it is told what to run by its
standard input, line by line, and tells the process and then the exit code of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class Runs:
    """Starts runs; one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, options: Sequence[str]) -> int:
        """Start a run; returns its process, which leads a group of its own."""
        assert self._process.stdin is not None
        print(json.dumps(list(options)), file=self._process.stdin, flush=True)
        return self._told()

    def end(self) -> int:
        """The exit code of the run, once it has ended; negative if it was killed."""
        return self._told()

    def _told(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@contextmanager
def forked_runs(warm: Sequence[str]) -> Iterator[Runs]:
    """A process that has made one run with these options, and forks others."""
    command = [sys.executable, "-m", "tests.helpers.forked", json.dumps(list(warm))]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe) as process:
        yield Runs(process)
        assert process.stdin is not None
        process.stdin.close()


def _serve() -> None:
    from flows.inbox import main

    told = os.fdopen(os.dup(1), "w", buffering=1)
    # Whatever a run prints is none of our answers.
    os.dup2(2, 1)
    assert main(json.loads(sys.argv[1])) == 0
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            os.setsid()
            os._exit(main(json.loads(line)))
        print(process, file=told)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), file=told)


if __name__ == "__main__":
    _serve()
