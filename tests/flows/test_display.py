"""What the user sees: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import time

from rich.console import Console

from flows.display import Screen


def shown(*, terminal: bool) -> str:
    """What a phase that works on a thousand things puts on a screen."""
    stream = io.StringIO()
    screen = Screen(quiet=False, stderr=False)
    screen.console = Console(file=stream, force_terminal=terminal, width=120, highlight=False)
    with screen.phase("analyse") as line:
        for done in range(100, 700, 100):
            screen.progress(done, 1000)
            time.sleep(0.05)
        line.cached = not terminal
    return stream.getvalue()


def test_a_terminal_shows_how_far_how_fast_and_how_long() -> None:
    told = shown(terminal=True)
    assert "600/1000" in told
    assert " 60%" in told
    assert "/s" in told
    assert "0:00:0" in told


def test_elsewhere_there_is_one_plain_line() -> None:
    (line,) = shown(terminal=False).splitlines()
    assert line.split(maxsplit=1)[1].startswith("find attributes and identifiers")
    assert line.endswith("s  known already")
    assert "\x1b" not in line
