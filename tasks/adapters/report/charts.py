"""The kinds of charts that the report is made of; bars begin at zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tasks.adapters.report.axes import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    even_ticks,
    ratio_ticks,
    round_step,
    sideward_axis,
    upward_axis,
)
from tasks.adapters.report.numbers import count, percent, plain, short_count
from tasks.adapters.report.svg import WIDTH, box, curve, dot, line, words

ROW = 36.0
"""Height of a sideward bar with its name above it."""
LONGEST_NAME = 56


@dataclass(frozen=True, slots=True)
class Mark:
    """A value to compare with, as a dashed line."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A named length; `spread` is the least and the greatest of what it is the mean of."""

    name: str
    value: float
    kind: str = "after"
    spread: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Values in ascending order."""

    name: str
    kind: str
    values: Sequence[float]


def histogram_chart(found: dict[str, Any], mark: Mark, across: str, upwards: str) -> list[str]:
    """Counts by bins; the bins of a log scale have equal ratios and so equal widths."""
    edges, log = found["edges"], found["scale"] == "log"
    low = edges[0] / 1.4 if log else edges[0] - 1
    x = Scale(low, edges[-1], LEFT, RIGHT, log)
    ticks = even_ticks(max(found["counts"]), whole=True)
    y = Scale(0, ticks[-1], BOTTOM, TOP)
    bars = [
        box(
            "after",
            x.at(start) + 0.5,
            y.at(number),
            x.at(end) - x.at(start) - 1,
            BOTTOM - y.at(number),
        )
        for start, end, number in zip(edges, edges[1:], found["counts"], strict=False)
    ]
    places = _bin_places(x, edges)
    return [
        *upward_axis(y, ticks, upwards, short_count),
        *bars,
        *sideward_axis(places, across + (" (log scale)" if log else "")),
        *_upright_mark(x.at(mark.value), mark.name),
    ]


def _bin_places(x: Scale, edges: Sequence[int]) -> list[tuple[float, str]]:
    """Where the axis is labelled: at edges of a log scale, else below the middle of bars."""
    if x.log:
        return [(x.at(tick), short_count(tick)) for tick in ratio_ticks(x.low, x.high)]
    step = int(max(1, round_step(len(edges) - 1, 10)))
    return [(x.at(edge + 0.5), count(edge)) for edge in edges[:-1] if edge % step == 0]


def _upright_mark(x: float, name: str) -> list[str]:
    right = x > (LEFT + RIGHT) / 2
    label = words(name, x - 5 if right else x + 5, TOP - 8, anchor="end" if right else "start")
    return [line("mark", x, TOP - 18, x, BOTTOM), label]


def ordered_chart(series: Series, mark: Mark, across: str, upwards: str, total: int) -> list[str]:
    """A dot for each value from the least to the greatest, on a scale from 0 to 1."""
    last = max(2, total)
    x, y = Scale(1, last, LEFT + 6, RIGHT - 6), Scale(0, 1, BOTTOM, TOP)
    ranks = _spread_evenly(1, max(1, total), len(series.values))
    dots = [
        dot(series.kind, x.at(rank), y.at(value), 2.6)
        for rank, value in zip(ranks, series.values, strict=True)
    ]
    places = [
        (x.at(max(1, tick)), short_count(max(1, tick))) for tick in even_ticks(last, whole=True)
    ]
    return [
        *upward_axis(y, even_ticks(1), upwards, plain),
        *sideward_axis([place for place in places if place[0] <= RIGHT], across),
        *_level_mark(y.at(mark.value), mark.name),
        *dots,
    ]


def _spread_evenly(low: float, high: float, points: int) -> list[float]:
    return [low + (high - low) * place / max(1, points - 1) for place in range(points)]


def _level_mark(y: float, name: str) -> list[str]:
    label = words(name, RIGHT, y - 5, anchor="end", kind="label halo")
    return [line("mark", LEFT, y, RIGHT, y), label]


def share_chart(lines: Sequence[Series], mark: Mark, across: str, upwards: str) -> list[str]:
    """Each series from its least to its greatest value, over the share of values so far."""
    x, y = Scale(0, 100, LEFT, RIGHT), Scale(0, 1, BOTTOM, TOP)
    curves = [curve(f"line {one.kind}", _steps(x, y, one.values)) for one in lines]
    return [
        *upward_axis(y, even_ticks(1), upwards, lambda tick: percent(100 * tick)),
        *sideward_axis([(x.at(tick), percent(tick)) for tick in even_ticks(100)], across),
        *_level_mark(y.at(mark.value), mark.name),
        *curves,
        *_legend(lines),
    ]


def _steps(x: Scale, y: Scale, values: Sequence[float]) -> list[tuple[float, float]]:
    """A level for each value, as wide as its share."""
    width = 100 / max(1, len(values))
    return [
        (x.at(width * (place + side)), y.at(value))
        for place, value in enumerate(values)
        for side in (0, 1)
    ]


def _legend(lines: Sequence[Series]) -> list[str]:
    shapes = []
    for place, one in enumerate(lines):
        start = LEFT + place * (RIGHT - LEFT) / len(lines)
        sample = curve(f"line {one.kind}", [(start, 10), (start + 24, 10)])
        shapes += [sample, words(one.name, start + 30, 14)]
    return shapes


def bars_height(bars: Sequence[Bar]) -> float:
    return ROW * len(bars) + 54


def bar_chart(bars: Sequence[Bar], across: str) -> list[str]:
    """Sideward bars in percent, each below its name."""
    ends = [bar.spread[1] if bar.spread else bar.value for bar in bars]
    ticks = even_ticks(max(100.0, *ends))
    x, bottom = Scale(0, ticks[-1], 16, WIDTH - 60), ROW * len(bars) + 6
    grid = [line("grid", x.at(tick), 4, x.at(tick), bottom) for tick in ticks]
    rows = [shape for place, bar in enumerate(bars) for shape in _bar(x, ROW * place, bar)]
    said = [words(percent(tick), x.at(tick), bottom + 16, anchor="middle") for tick in ticks]
    name = words(across, x.at(ticks[-1] / 2), bottom + 38, anchor="middle", kind="axis-name")
    return [*grid, *rows, line("axis", x.at(0), 4, x.at(0), bottom), *said, name]


def _bar(x: Scale, top: float, bar: Bar) -> list[str]:
    name = bar.name if len(bar.name) <= LONGEST_NAME else bar.name[: LONGEST_NAME - 1] + "…"
    shapes = [
        words(name, x.at(0) + 4, top + 17, kind="label halo"),
        box(bar.kind, x.at(0), top + 22, x.at(bar.value) - x.at(0), 12),
    ]
    end = x.at(bar.spread[1] if bar.spread else bar.value)
    if bar.spread:
        shapes.append(_whisker(x.at(bar.spread[0]), end, top + 28))
    return [*shapes, words(percent(bar.value), end + 6, top + 33, kind="label strong halo")]


def _whisker(start: float, end: float, y: float) -> str:
    ends = [line("whisker", x, y - 5, x, y + 5) for x in (start, end)]
    return "".join([line("whisker", start, y, end, y), *ends])


def stack_chart(parts: Sequence[Bar]) -> list[str]:
    """Parts of a whole, side by side."""
    values = [part.value for part in parts]
    x = Scale(0, max(1.0, sum(values)), 0, WIDTH)
    starts = accumulate(values, initial=0.0)
    return [
        box(part.kind, x.at(start), 0, x.at(part.value), 20)
        for part, start in zip(parts, starts, strict=False)
    ]
