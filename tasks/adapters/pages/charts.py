"""The kinds of charts that reports and comparisons are made of; bars begin at zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean
from textwrap import wrap
from typing import Final

from markupsafe import Markup

from tasks.adapters.pages.numbers import count, percent, plain, short_count
from tasks.adapters.pages.svg import (
    ROUND,
    Marker,
    Place,
    box,
    curve,
    dot,
    line,
    marked,
    ribbon,
    upright,
    words,
)
from tasks.schema import Histogram

Shapes = list[Markup]
WIDTH: Final = 440.0
"""Of a picture in a column: narrow enough to be read on a telephone."""
HEIGHT: Final = 276.0
BAR_ROW: Final = 36.0
"""Height of a sideward bar with its name above it."""
LEGEND_ROW: Final = 19.0
LONGEST_NAME: Final = 56
FLOW_ROW: Final = 54.0
FLOW_WORDS: Final = 50.0
FLOW_NAME: Final = 38
"""Height for each part, of its number and its name of two lines, and characters in a line."""
FLOW_LEAST: Final = 150.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high` lie evenly, or by their ratio, from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        value, low, high = map(math.log if self.log else float, (value, self.low, self.high))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a picture between the axes of a chart."""

    left: float
    right: float
    top: float
    bottom: float

    def across(self, low: float, high: float, *, log: bool = False) -> Scale:
        return Scale(low, high, self.left, self.right, log)

    def upwards(self, low: float, high: float) -> Scale:
        return Scale(low, high, self.bottom, self.top)

    @property
    def middle(self) -> Place:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


COLUMN: Final = Frame(68.0, WIDTH - 22.0, 24.0, 226.0)
"""The frame in a picture of WIDTH and HEIGHT."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis measures, where it has ticks, and how it writes their numbers."""

    name: str
    ticks: Sequence[float]
    show: Callable[[float], str] = plain


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
    """Values in ascending order; `kind` says how they look."""

    name: str
    kind: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Line:
    """Points (x, y) joined by a line; `kind` and `marker` say how they look."""

    name: str
    kind: str
    points: Sequence[Place] = ()
    marker: Marker | None = ROUND


def round_step(span: float, most: int) -> float:
    """The least of 1, 2, 5, 10, 20, … (or a tenth, …) that cuts a span into `most` at most."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(step * power for step in (1, 2, 5, 10) if step * power * most >= span * 0.999999)


def even_ticks(high: float, *, most: int = 5, whole: bool = False) -> list[float]:
    """Round numbers from 0 to the first at or above `high`."""
    step = round_step(max(high, 1e-9), most)
    step = max(1.0, step) if whole else step
    return [step * place for place in range(math.ceil(high / step - 1e-9) + 1)]


def ratio_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, 50, … between two numbers; powers of ten alone if they lie far apart."""
    digits = (1, 2, 5) if high / low < 1000 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(digit * 10**power) for power in powers for digit in digits]
    return [tick for tick in ticks if low <= tick <= high]


def upward_axis(scale: Scale, axis: Axis, frame: Frame = COLUMN, *, named: bool = True) -> Shapes:
    """A faint line across at every tick; at the left its number, and the axis's name.

    Args:
        named: whether numbers and name are written, or are those of the chart beside it.
    """
    heights = [scale.at(tick) for tick in axis.ticks]
    across = [line("grid", frame.left, y, frame.right, y) for y in heights]
    if not named:
        return across
    numbers = [
        words(axis.show(tick), frame.left - 6, y + 4, anchor="end")
        for tick, y in zip(axis.ticks, heights, strict=True)
    ]
    return [*across, *numbers, upright(axis.name, frame.left - 55, frame.middle[1])]


def sideward_axis(places: Sequence[tuple[float, str]], name: str, frame: Frame = COLUMN) -> Shapes:
    """The axis at the bottom: ticks by their place and what they say."""
    bottom = frame.bottom
    ticks = [line("axis", x, bottom, x, bottom + 4) for x, _ in places]
    numbers = [words(said, x, bottom + 18, anchor="middle") for x, said in places]
    return [
        line("axis", frame.left, bottom, frame.right, bottom),
        *ticks,
        *numbers,
        words(name, frame.middle[0], bottom + 40, anchor="middle", kind="axis-name"),
    ]


def _upright_grid(places: Sequence[tuple[float, str]], frame: Frame) -> Shapes:
    return [line("grid", x, frame.top, x, frame.bottom) for x, _ in places]


def level_mark(y: float, name: str, frame: Frame = COLUMN) -> Shapes:
    label = words(name, frame.right, y - 5, anchor="end", kind="label halo")
    return [line("mark", frame.left, y, frame.right, y), label]


def legend(lines: Sequence[Line], left: float, top: float, width: float, *, columns: int) -> Shapes:
    """A sample of each line with its name, row by row."""
    shapes = []
    for place, one in enumerate(lines):
        x = left + place % columns * width / columns
        y = top + place // columns * LEGEND_ROW
        shapes += [*draw_line(one, [(x, y), (x + 24, y)], at=[(x + 12, y)])]
        shapes.append(words(one.name, x + 30, y + 4))
    return shapes


def draw_line(one: Line, path: Sequence[Place], at: Sequence[Place]) -> Shapes:
    """A line along a path, with its markers at these places."""
    markers = [marked(one.kind, one.marker, x, y, 4) for x, y in at] if one.marker else []
    return [curve(one.kind, path), *markers]


def histogram_chart(found: Histogram, mark: Mark, across: str, upwards: str) -> Shapes:
    """Counts by bins; the bins of a log scale have equal ratios and so equal widths."""
    edges, log, bottom = found["edges"], found["scale"] == "log", COLUMN.bottom
    x = COLUMN.across(edges[0] / 1.4 if log else edges[0] - 1, edges[-1], log=log)
    axis = Axis(upwards, even_ticks(max(found["counts"]), whole=True), short_count)
    y = COLUMN.upwards(0, axis.ticks[-1])
    bars = [
        box(
            "after",
            x.at(start) + 0.5,
            y.at(number),
            x.at(end) - x.at(start) - 1,
            bottom - y.at(number),
        )
        for start, end, number in zip(edges, edges[1:], found["counts"], strict=False)
    ]
    return [
        *upward_axis(y, axis),
        *bars,
        *sideward_axis(_bin_places(x, edges), across + (" (log scale)" if log else "")),
        *_upright_mark(x.at(mark.value), mark.name),
    ]


def _bin_places(x: Scale, edges: Sequence[int]) -> list[tuple[float, str]]:
    """Where the axis is labelled: at edges of a log scale, else below the middle of bars."""
    if x.log:
        return [(x.at(tick), short_count(tick)) for tick in ratio_ticks(x.low, x.high)]
    step = int(max(1, round_step(len(edges) - 1, 10)))
    return [(x.at(edge + 0.5), count(edge)) for edge in edges[:-1] if edge % step == 0]


def _upright_mark(x: float, name: str) -> Shapes:
    right, top = x > COLUMN.middle[0], COLUMN.top
    label = words(name, x - 5 if right else x + 5, top - 8, anchor="end" if right else "start")
    return [line("mark", x, top - 18, x, COLUMN.bottom), label]


def ordered_chart(series: Series, mark: Mark, across: str, upwards: str, total: int) -> Shapes:
    """A dot for each value from the least to the greatest, on a scale from 0 to 1."""
    last = max(2, total)
    x = Scale(1, last, COLUMN.left + 6, COLUMN.right - 6)
    y = COLUMN.upwards(0, 1)
    ranks = _spread_evenly(1, max(1, total), len(series.values))
    dots = [
        dot(series.kind, x.at(rank), y.at(value), 2.6)
        for rank, value in zip(ranks, series.values, strict=True)
    ]
    places = [
        (x.at(max(1, tick)), short_count(max(1, tick))) for tick in even_ticks(last, whole=True)
    ]
    return [
        *upward_axis(y, Axis(upwards, even_ticks(1))),
        *sideward_axis([place for place in places if place[0] <= COLUMN.right], across),
        *level_mark(y.at(mark.value), mark.name),
        *dots,
    ]


def _spread_evenly(low: float, high: float, points: int) -> list[float]:
    return [low + (high - low) * place / max(1, points - 1) for place in range(points)]


def share_chart(
    lines: Sequence[Series],
    across: str,
    upwards: Axis,
    mark: Mark | None = None,
    frame: Frame = COLUMN,
    *,
    named: bool = True,
) -> Shapes:
    """Each series from its least to its greatest value, over the share of values so far."""
    x, y = frame.across(0, 100), frame.upwards(0, upwards.ticks[-1])
    places = [(x.at(tick), percent(tick)) for tick in even_ticks(100)]
    return [
        *upward_axis(y, upwards, frame, named=named),
        *_upright_grid(places, frame),
        *sideward_axis(places, across, frame),
        *(level_mark(y.at(mark.value), mark.name, frame) if mark else ()),
        *(curve(one.kind, _steps(x, y, one.values)) for one in lines),
    ]


def _steps(x: Scale, y: Scale, values: Sequence[float]) -> list[Place]:
    """A level for each value, as wide as its share."""
    width = 100 / max(1, len(values))
    return [
        (x.at(width * (place + side)), y.at(value))
        for place, value in enumerate(values)
        for side in (0, 1)
    ]


def line_chart(
    lines: Sequence[Line],
    x: Scale,
    across: Axis,
    upwards: Axis,
    frame: Frame,
    *,
    named: bool = True,
) -> Shapes:
    """Lines with a marker at each of their points."""
    y = frame.upwards(0, upwards.ticks[-1])
    paths = [[(x.at(own), y.at(value)) for own, value in one.points] for one in lines]
    drawn = [draw_line(one, path, at=path) for one, path in zip(lines, paths, strict=True)]
    places = [(x.at(tick), across.show(tick)) for tick in across.ticks]
    return [
        *upward_axis(y, upwards, frame, named=named),
        *_upright_grid(places, frame),
        *sideward_axis(places, across.name, frame),
        *(shape for shapes in drawn for shape in shapes),
    ]


def name_line_ends(lines: Sequence[Line], ends: Sequence[Place], frame: Frame) -> Shapes:
    """The names of lines beside their ends, at the right of the frame, none over another."""
    ordered = sorted(zip(lines, ends, strict=True), key=lambda pair: pair[1][1])
    heights = spread([y for _, (_, y) in ordered], LEGEND_ROW - 2, frame.bottom)
    right, shapes = frame.right + 26, []
    for (one, (x, y)), height in zip(ordered, heights, strict=True):
        shapes.append(line(f"leader {one.kind}", x + 6, y, right - 6, height))
        shapes += [marked(one.kind, one.marker, right, height, 4)] if one.marker else []
        shapes.append(words(one.name, right + 9, height + 4))
    return shapes


def spread(
    places: Sequence[float], step: float, high: float, low: float = -math.inf
) -> list[float]:
    """Ascending places moved as little as makes them a step apart and none beyond `high` or `low`.

    Least squares: without the steps between them the places must ascend, and those that do not
    are replaced by their mean (pool adjacent violators).
    """
    pools: list[list[float]] = []
    for index, place in enumerate(places):
        pools.append([place - index * step])
        while len(pools) > 1 and fmean(pools[-2]) >= fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    levels = [fmean(pool) for pool in pools for _ in pool]
    highest = high - (len(places) - 1) * step
    return [max(low, min(level, highest)) + index * step for index, level in enumerate(levels)]


def bars_height(bars: Sequence[Bar]) -> float:
    return BAR_ROW * len(bars) + 54


def bar_chart(bars: Sequence[Bar], across: str) -> Shapes:
    """Sideward bars in percent, each below its name."""
    ends = [bar.spread[1] if bar.spread else bar.value for bar in bars]
    ticks = even_ticks(max(100.0, *ends))
    x, bottom = Scale(0, ticks[-1], 16, WIDTH - 60), BAR_ROW * len(bars) + 6
    grid = [line("grid", x.at(tick), 4, x.at(tick), bottom) for tick in ticks]
    rows = [shape for place, bar in enumerate(bars) for shape in _bar(x, BAR_ROW * place, bar)]
    said = [words(percent(tick), x.at(tick), bottom + 16, anchor="middle") for tick in ticks]
    name = words(across, x.at(ticks[-1] / 2), bottom + 38, anchor="middle", kind="axis-name")
    return [*grid, *rows, line("axis", x.at(0), 4, x.at(0), bottom), *said, name]


def _bar(x: Scale, top: float, bar: Bar) -> Shapes:
    name = bar.name if len(bar.name) <= LONGEST_NAME else bar.name[: LONGEST_NAME - 1] + "…"
    shapes = [
        words(name, x.at(0) + 4, top + 17, kind="label halo"),
        box(bar.kind, x.at(0), top + 22, x.at(bar.value) - x.at(0), 12),
    ]
    end = x.at(bar.spread[1] if bar.spread else bar.value)
    if bar.spread:
        shapes += _whisker(x.at(bar.spread[0]), end, top + 28)
    return [*shapes, words(percent(bar.value), end + 6, top + 33, kind="label strong halo")]


def _whisker(start: float, end: float, y: float) -> Shapes:
    ends = [line("whisker", x, y - 5, x, y + 5) for x in (start, end)]
    return [line("whisker", start, y, end, y), *ends]


def flow_height(parts: Sequence[Bar]) -> float:
    return max(FLOW_LEAST, FLOW_ROW * len(parts)) + 32


def flow_chart(whole: str, parts: Sequence[Bar], numbers: Sequence[str]) -> Shapes:
    """A whole at the left that flows into its parts; a line leads from each to number and name."""
    total, height = sum(part.value for part in parts), flow_height(parts) - 32
    gap = min(10.0, height / 4 / len(parts))
    scale = Scale(0, total, 24, 24 + height - gap * (len(parts) - 1))
    starts = list(accumulate((part.value for part in parts), initial=0.0))
    left, right, said = (16.0, 28.0), (92.0, 104.0), 130.0
    tops = [scale.at(start) + gap * place for place, start in enumerate(starts[:-1])]
    middles = [top + (scale.at(part.value) - 24) / 2 for top, part in zip(tops, parts, strict=True)]
    half = FLOW_WORDS / 2
    names = spread(middles, FLOW_WORDS, 24 + height - half, 24 + half)
    shapes = [words(whole, left[0], 14)]
    shapes.append(box("whole", left[0], 24, left[1] - left[0], scale.at(total) - 24))
    for place, part in enumerate(parts):
        start, top, name, long = starts[place], tops[place], names[place], scale.at(part.value) - 24
        before = (scale.at(start), scale.at(start) + long)
        shapes.append(ribbon(part.kind, (left[1], *before), (right[0], top, top + long)))
        shapes.append(box(part.kind, right[0], top, right[1] - right[0], max(long, 1)))
        leader = (right[1] + 2, middles[place], said - 6, name - 14)
        shapes.append(line(f"leader {part.kind}", *leader))
        lines = wrap(part.name, FLOW_NAME, max_lines=2, placeholder=" …")
        shapes.append(words(numbers[place], said, name - 10, kind="label strong"))
        shapes += [words(own, said, name + 6 + 15 * at) for at, own in enumerate(lines)]
    return shapes
