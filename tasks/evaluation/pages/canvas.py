"""What all figures have in common: how they look, and how they become files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

Found = dict[str, Any]
"""What `comparison.json` holds."""
DOTS_PER_INCH: Final = 150
LOOK: Final[dict[Any, Any]] = {
    # The same bytes for the same numbers.
    "svg.hashsalt": "logveil",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5b6673",
    "axes.grid": True,
    "grid.color": "#e3e7ec",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
}


@dataclass(frozen=True, slots=True)
class Pen:
    """How a method is drawn."""

    colour: str
    marker: str = "o"
    dash: Any = "-"
    width: float = 1.5


# Colours that the colour-blind tell apart (Okabe & Ito), the nearest kin by dash and marker.
PENS: Final = {
    "adaptive": Pen("#0b4f8a", "o", "-", 2.8),
    "mdav": Pen("#56a8dd", "s"),
    "vmdav": Pen("#56a8dd", "D", (0, (4, 1.5))),
    "paper": Pen("#d55e00", "^"),
    "paper-printed": Pen("#d55e00", "v", (0, (4, 1.5))),
    "syntactic": Pen("#b5478c", "P"),
    "semantic": Pen("#009e73", "X"),
    "k^1": Pen("#a6810a", "<"),
    "k^2": Pen("#a6810a", ">", (0, (4, 1.5))),
    "random": Pen("#4d4d4d", "*", (0, (1, 1.2))),
    "drop-rare": Pen("#7a7a7a", "d", (0, (4, 1.5))),
    "root": Pen("#a8a8a8", "h", (0, (1, 1.2))),
    "untouched": Pen("#a8a8a8", "p"),
}
OTHER: Final = Pen("#000000", ".")
"""For a method that is not in the list yet."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as files."""

    png: bytes
    svg: bytes


def new_figure(width: float, height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of so many inches, with panels side by side."""
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    axes = figure.subplots(1, panels, sharey=panels > 1, squeeze=False)
    return figure, list(axes[0])


def as_files(draw: Callable[[Found], Figure], found: Found) -> Drawn:
    """A figure of what was found, as PNG and as SVG."""
    png, svg = BytesIO(), BytesIO()
    with matplotlib.rc_context(LOOK):
        figure = draw(found)
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return Drawn(png.getvalue(), svg.getvalue())


def pen(method: str) -> Pen:
    return PENS.get(method, OTHER)


def draw_line(axes: Axes, method: str, x: Sequence[float], y: Sequence[float], **more: Any) -> None:
    own = pen(method)
    look = {"color": own.colour, "linestyle": own.dash, "linewidth": own.width}
    order = 3 if method == "adaptive" else 2
    axes.plot(x, y, **{"zorder": order, "label": shown_name(method), **look, **more})


def draw_steps(axes: Axes, method: str, ordered: Sequence[float]) -> None:
    """Values in ascending order, each as wide as its share, from 0 to 1; none if there are none."""
    edges = [place / len(ordered) for place in range(len(ordered) + 1)] if ordered else []
    draw_line(axes, method, edges, [*ordered, *ordered[-1:]], drawstyle="steps-post")


def shown_name(method: str) -> str:
    """k^2 as k²."""
    return method.replace("^1", "¹").replace("^2", "²")


def name_line_ends(axes: Axes, ends: Sequence[tuple[str, float, float]], gap: float) -> None:
    """Write methods beside the ends (x, y) of their lines, at least a gap of the height apart."""
    low, high = axes.get_ylim()
    step = gap * (high - low)
    ordered = sorted(ends, key=lambda end: end[2])
    right = max(x for _, x, _ in ends)
    for (method, x, y), place in zip(ordered, _spread(ordered, step, high), strict=True):
        axes.annotate(
            shown_name(method),
            xy=(x, y),
            xytext=(right * 1.12, place),
            color=pen(method).colour,
            fontsize=8.5,
            fontweight="bold" if method == "adaptive" else "normal",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": pen(method).colour, "lw": 0.5, "alpha": 0.5},
        )


def _spread(ends: Sequence[tuple[str, float, float]], step: float, high: float) -> list[float]:
    """Heights for names, at least a step apart, ascending as their lines end."""
    places: list[float] = []
    for _, _, y in ends:
        places.append(max(y, places[-1] + step) if places else y)
    # What was pushed over the top goes down again, and takes along what is in its way.
    limit = high
    for index in reversed(range(len(places))):
        places[index] = min(places[index], limit)
        limit = places[index] - step
    return places
