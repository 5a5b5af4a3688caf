"""What the user sees: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import copy
import io
import time
from pathlib import Path
from typing import cast

from rich.console import Console

from flows.display import Screen, summary_rows
from flows.run_page import release_markdown
from tasks.schema import FinalMeasures


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


def test_screen_and_page_lead_with_rows_information_and_truth(
    sample_measures: dict[str, object], tmp_path: Path
) -> None:
    measures = cast("FinalMeasures", copy.deepcopy(sample_measures))
    measures["records"] |= {"read": 1000, "published": 750}
    measures["shares"]["published"] = 0.75
    measures["information"]["kept_percent"] = 33.31
    for share, truth in ((1.0, "every row"), (0.9, "10 % of rows say something false")):
        measures["truth"]["rows_true"] = share
        rows = [
            (what, value.replace("\N{NO-BREAK SPACE}", " "))
            for what, value in summary_rows(measures)
        ]
        assert rows[:3] == [
            ("rows published", "750 of 1,000 (75 %)"),
            ("information kept", "33.3 %"),
            ("true", truth),
        ]
        said = release_markdown(measures, tmp_path).replace("\N{NO-BREAK SPACE}", " ")
        lead = f"Rows published: 750 of 1,000 (75 %). Information kept: 33.3 %. True: {truth}."
        assert said.split("\n\n")[1] == f"**{lead}**"
