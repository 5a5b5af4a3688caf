"""The figures of a comparison: tasks and people, which k, the paper's 4, 5 and 6, loss and risk.

SVG alone, as in the report: one picture for the page and as a file, sharp at every size; who needs
pixels converts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from markupsafe import Markup

from tasks.adapters.pages.charts import (
    LEGEND_ROW,
    Axis,
    Frame,
    Line,
    Mark,
    Scale,
    Series,
    draw_line,
    even_ticks,
    legend,
    line_chart,
    name_line_ends,
    ratio_ticks,
    share_chart,
)
from tasks.adapters.pages.numbers import plain, short_count
from tasks.adapters.pages.page import Figure
from tasks.adapters.pages.svg import (
    CROSS,
    DIAMOND,
    DOWN,
    HEXAGON,
    LEFT,
    PENTAGON,
    PLUS,
    RIGHT,
    ROUND,
    SQUARE,
    STAR,
    THREE_POINTS,
    UP,
    Marker,
    Place,
    line,
    picture,
    words,
)
from tasks.core.measures.cohesion import LOW_COHESION
from tasks.evaluation.catalogue import OURS

Found = dict[str, Any]
"""What `comparison.json` holds."""
Shapes = list[Markup]
LOSS: Final = "information loss, both ways (%)"
# The nearest kin have one colour, and are told apart by dash and marker.
LOOKS: Final[dict[str, tuple[str, Marker]]] = {
    OURS: ("blue thick", ROUND),
    "mdav": ("sky", SQUARE),
    "vmdav": ("sky dashed", DIAMOND),
    "paper": ("vermilion", UP),
    "paper-printed": ("vermilion dashed", DOWN),
    "syntactic": ("purple", PLUS),
    "semantic": ("green", CROSS),
    "k^1": ("ochre", LEFT),
    "k^2": ("ochre dashed", RIGHT),
    "greedy": ("green dashed", DIAMOND),
    "random": ("dark dotted", STAR),
    "drop-rare": ("grey dashed", THREE_POINTS),
    "root": ("pale dotted", HEXAGON),
    "untouched": ("pale", PENTAGON),
    "threshold-k": ("dark", SQUARE),
    "threshold-30": ("dark dashed", DIAMOND),
    "allow-list": ("purple dashed", UP),
    "filter": ("vermilion dotted", ROUND),
    "zealous": ("green dotted", STAR),
    "korolova": ("ochre dotted", HEXAGON),
    "wgm": ("sky dotted", PENTAGON),
}
TASK_NAMES: Final = {
    "mass": "words, concepts",
    "top": "top queries, words",
    "topics": "topics",
    "cache": "cache hits",
    "suggestions": "suggestions",
    "counts": "counts",
}
TASK_LOOKS: Final[dict[str, tuple[str, Marker]]] = {
    "mass": ("grey dashed", UP),
    "top": ("grey dotted", DOWN),
    "topics": ("purple", PLUS),
    "cache": ("ochre", LEFT),
    "suggestions": ("vermilion", CROSS),
    "counts": ("ochre dashed", RIGHT),
}
SLIGHT: Final = 0.02
"""A bend that is less than this above the straight line is hardly one."""
OTHER: Final = ("ink", ROUND)
"""For a method that is not in the list yet."""
WIDE: Final = 760.0
PANELS: Final = Frame(68, 380, 34, 300), Frame(424, 736, 34, 300)
"""Two charts side by side in a picture of WIDE; the right one has the left one's upward axis."""
SINGLE: Final = Frame(68, 736, 16, 300)
BY_K: Final = Frame(68, 600, 16, 400)
PLANE: Final = Frame(68, 590, 16, 400)


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure before anything was found: its name, title and size, what it says and shows."""

    name: str
    title: str
    height: float
    says: Callable[[Found], str]
    draw: Callable[[Found], Shapes]

    def figure(self, found: Found) -> Figure:
        said, size = self.says(found), (WIDE, self.height)
        drawn = picture(self.name, self.title, said, size, self.draw(found))
        return Figure(self.name, self.title, said, drawn)


def line_of(method: str, points: Iterable[Place] = ()) -> Line:
    """A method as a line through these points."""
    kind, marker = LOOKS.get(method, OTHER)
    return Line(shown_name(method), kind, list(points), marker)


def shown_name(method: str) -> str:
    """k^2 as k²."""
    return method.replace("^1", "¹").replace("^2", "²")


def _at_k(found: Found) -> str:
    return str(found["settings"]["k"])


def _clustering(found: Found) -> dict[str, Any]:
    return {name: method for name, method in found["methods"].items() if method["clusters"]}


def _ours_above(lines: Iterable[Line]) -> list[Line]:
    """What is drawn last lies above the others."""
    return sorted(lines, key=lambda one: one.name == OURS)


def _series(found: Found, methods: Iterable[str], key: str) -> list[Series]:
    ordered = sorted(methods, key=lambda name: name == OURS)
    values = (found["methods"][name]["figures"][key] for name in ordered)
    looks = (LOOKS.get(name, OTHER)[0] for name in ordered)
    return [Series(*one) for one in zip(ordered, looks, values, strict=True)]


def _keys(methods: Iterable[str]) -> list[Line]:
    """For the legend of lines without markers."""
    return [replace(line_of(name), marker=None) for name in methods]


def draw_contest(found: Found) -> Shapes:
    """A point for each method: who stands behind its rows, and what they are good for."""
    entries = found["tasks"]["methods"]
    points = {
        name: (own["least_people"], mean_score(own))
        for name, own in entries.items()
        if own["least_people"] > 0
    }
    k = int(_at_k(found))
    x = _ratio_scale([k, *(people for people, _ in points.values())], PLANE)
    upwards = Axis("mean score of the six tasks", even_ticks(1))
    across = Axis("fewest people behind a row (log scale)", ratio_ticks(x.low, x.high), short_count)
    lines = [line_of(name, [point]) for name, point in points.items()]
    at, top = x.at(k), PLANE.top
    return [
        *line_chart(_ours_above(lines), x, across, upwards, PLANE),
        line("mark", at, top, at, PLANE.bottom),
        words(f"k = {k}: held from here on", at + 5, top + 12, kind="label halo"),
        *legend(lines, PLANE.right + 26, top + 8, 120, columns=1),
    ]


def mean_score(entry: Found) -> float:
    """Of all tasks that the log has material for."""
    scores: list[float] = list(entry["scores"].values())
    return sum(scores) / max(1, len(scores))


def draw_which_k(found: Found) -> Shapes:
    """What k costs: rows, information and tasks, and where their mean bends."""
    curve, bend = found["which_k"]["curve"], found["which_k"]["k"]
    ks = [point["k"] for point in curve]
    kinds = {
        "rows published": ("sky", SQUARE, [point["rows"] for point in curve]),
        "information kept": ("green", DIAMOND, [point["information"] for point in curve]),
        **{
            TASK_NAMES[task]: (kind, marker, [point.get(task, 0.0) for point in curve])
            for task, (kind, marker) in TASK_LOOKS.items()
            if task in found["tasks"]["raw"]["scores"]
        },
        "mean of all": ("blue thick", ROUND, found["which_k"]["mean"]),
    }
    lines = [
        Line(name, kind, list(zip(ks, own, strict=True)), marker)
        for name, (kind, marker, own) in kinds.items()
    ]
    x, y = _ratio_scale(ks, BY_K), BY_K.upwards(0, 1)
    across = Axis("k, people behind every published record (log scale)", ks)
    upwards = Axis("share of the raw log's", even_ticks(1))
    ends = [(x.at(one.points[-1][0]), y.at(one.points[-1][1])) for one in lines]
    mark = [line("mark", x.at(bend), BY_K.top, x.at(bend), BY_K.bottom)] if bend else []
    return [
        *line_chart(lines, x, across, upwards, BY_K),
        *mark,
        *name_line_ends(lines, ends, BY_K),
    ]


def draw_cohesion(found: Found) -> Shapes:
    """Figure 4, by clusters as in the paper, and by records."""
    methods = list(_clustering(found))
    upwards = Axis("cohesion of the cluster (0 is best)", even_ticks(1))
    mark = Mark(LOW_COHESION, plain(LOW_COHESION))
    shapes = legend(_keys(methods), PANELS[0].left, 366, WIDE - 68, columns=7)
    panels = (
        ("cohesion", "clusters", "counted by clusters, as the paper does"),
        ("cohesion_of_records", "records", "counted by records"),
    )
    for frame, (key, whose, title) in zip(PANELS, panels, strict=True):
        lines, across = _series(found, methods, key), f"share of the {whose}, in ascending order"
        named = frame is PANELS[0]
        shapes += [_title(frame, title)]
        shapes += share_chart(lines, across, upwards, mark, frame, named=named)
    return shapes


def _title(frame: Frame, title: str) -> Markup:
    return words(title, frame.left, frame.top - 14, kind="label strong")


def draw_loss_by_size(found: Found) -> Shapes:
    """Figure 5: loss of the groups of about one size."""
    clustering = _clustering(found)
    others = [name for name in found["methods"] if name not in clustering]
    panels = (
        (list(clustering), "methods that form clusters"),
        ([*others, OURS], "the others, and adaptive"),
    )
    upwards = _loss_axis(
        point["loss"] for name in found["methods"] for point in _sizes(found, name)
    )
    shapes = []
    for frame, (methods, title) in zip(PANELS, panels, strict=True):
        shapes += [_title(frame, title), *_sizes_panel(found, methods, upwards, frame)]
        keys = [line_of(name) for name in methods]
        shapes += legend(keys, frame.left, 366, frame.right - frame.left, columns=2)
    return shapes


def _sizes(found: Found, method: str) -> list[dict[str, float]]:
    points: list[dict[str, float]] = found["methods"][method]["figures"]["loss_by_size"]
    return points


def _sizes_panel(found: Found, methods: Sequence[str], upwards: Axis, frame: Frame) -> Shapes:
    lines = [
        line_of(name, ((point["mean_size"], point["loss"]) for point in _sizes(found, name)))
        for name in methods
    ]
    x = _ratio_scale([size for one in lines for size, _ in one.points], frame)
    across = Axis("records of a group (log scale)", ratio_ticks(x.low, x.high), short_count)
    return line_chart(_ours_above(lines), x, across, upwards, frame, named=frame is PANELS[0])


def _loss_axis(losses: Iterable[float]) -> Axis:
    return Axis(LOSS, even_ticks(max((100.0, *losses)), most=8))


def _ratio_scale(values: Sequence[float], frame: Frame) -> Scale:
    """A log scale with room at both ends; from 1 to 10 if there is nothing to show."""
    low, high = (min(values), max(values)) if values else (1.25, 8.0)
    return frame.across(low / 1.25, high * 1.25, log=True)


def draw_random(found: Found) -> Shapes:
    """Figure 6: loss of every cluster, against clusters of the same sizes at random."""
    methods = (OURS, "mdav", "paper", "random")
    lines = _series(found, methods, "group_loss")
    upwards = _loss_axis(value for one in lines for value in one.values)
    across = "share of the clusters, in ascending order"
    return [
        *share_chart(lines, across, upwards, frame=SINGLE),
        *legend(_keys(methods), SINGLE.left, 366, SINGLE.right - SINGLE.left, columns=4),
    ]


def draw_loss_by_k(found: Found) -> Shapes:
    """Loss against k, all methods."""
    ks = found["ks"]
    lines = [
        line_of(name, ((k, method["by_k"][str(k)]["symmetric_loss"]) for k in ks))
        for name, method in found["methods"].items()
    ]
    upwards = _loss_axis(loss for one in lines for _, loss in one.points)
    x, y = _ratio_scale(ks, BY_K), BY_K.upwards(0, upwards.ticks[-1])
    across = Axis("k, people behind every published record (log scale)", ks)
    ends = [(x.at(one.points[-1][0]), y.at(one.points[-1][1])) for one in lines]
    return [
        *line_chart(_ours_above(lines), x, across, upwards, BY_K),
        *name_line_ends(lines, ends, BY_K),
    ]


def draw_plane(found: Found) -> Shapes:
    """The risk–loss plane: a point for each method and k, and the front over all of them."""
    points = {name: _risks_and_losses(found, name) for name in found["methods"]}
    everywhere = [point for own in points.values() for point in own]
    upwards = _loss_axis(loss for _, loss in everywhere)
    x = _ratio_scale([risk for risk, _ in everywhere if risk > 0], PLANE)
    y = PLANE.upwards(0, upwards.ticks[-1])
    about = "risk: mean chance that somebody who knows a whole query picks its person (log scale)"
    across = Axis(about, ratio_ticks(x.low, x.high), lambda risk: f"{100 * risk:g} %")
    lines = [_thin(line_of(name, own)) for name, own in points.items()]
    front = Line("Pareto front", "front", pareto_stair(everywhere), marker=None)
    return [
        *line_chart([], x, across, upwards, PLANE),
        *_in_plane(front, x, y),
        *(shape for one in _ours_above(lines) for shape in _in_plane(one, x, y)),
        *_ks_of_ours(found, x, y),
        *legend([*lines, front], PLANE.right + 26, PLANE.top + 8, 120, columns=1),
    ]


def _risks_and_losses(found: Found, method: str) -> list[Place]:
    cells = (found["methods"][method]["by_k"][str(k)] for k in found["ks"])
    return [(cell["risk"], cell["symmetric_loss"]) for cell in cells]


def _thin(one: Line) -> Line:
    return replace(one, kind=f"{one.kind.replace(' thick', '')} thin")


def _in_plane(one: Line, x: Scale, y: Scale) -> Shapes:
    """A line to the left edge where there is no risk: a log scale has no place for none."""
    path = [(x.at(max(risk, x.low)), y.at(loss)) for risk, loss in one.points]
    seen = [place for place, (risk, _) in zip(path, one.points, strict=True) if risk > 0]
    return draw_line(one, path, at=seen)


def pareto_stair(points: Iterable[Place]) -> list[Place]:
    """The corners of a stair through the points that no other one dominates."""
    stair: list[Place] = []
    for risk, loss in sorted(set(points)):
        if not stair:
            stair.append((risk, loss))
        elif loss < stair[-1][1]:
            stair += [(risk, stair[-1][1]), (risk, loss)]
    return stair


def _ks_of_ours(found: Found, x: Scale, y: Scale) -> Shapes:
    """The k of each point of ours."""
    shapes = []
    for k, (risk, loss) in zip(found["ks"], _risks_and_losses(found, OURS), strict=True):
        said = f"k = {k}" if k == found["ks"][-1] else str(k)
        left, below = x.at(max(risk, x.low)) - 6, y.at(loss) + 15
        shapes.append(words(said, left, below, anchor="end", kind="label halo"))
    return shapes


def _share(found: Found, name: str, key: str) -> str:
    return f"{100 * found['methods'][name]['by_k'][_at_k(found)][key]:.0f} %"


def say_contest(found: Found) -> str:
    verdicts = found["tasks"]["verdicts"]
    lost = {t: own["best"] for t, own in verdicts.items() if own["best"] != OURS}
    beaten = "; ".join(f"{TASK_NAMES[task]}: {best or 'nobody'}" for task, best in lost.items())
    return (
        "Right of the line every row stands for k people or more; up is more useful. Of those "
        f"that hold k, {OURS} is best in {len(verdicts) - len(lost)} of {len(verdicts)} tasks"
        + (f" ({beaten} is best otherwise)." if lost else ".")
    )


def say_which_k(found: Found) -> str:
    """A recommendation that somebody can act on."""
    curve, bend = found["which_k"]["curve"], found["which_k"]["k"]
    if bend is None:
        return (
            "The curve has no bend: every doubling of k costs about the same. Take the largest k "
            "whose rows and information you can do with."
        )
    place = [point["k"] for point in curve].index(bend)
    after = curve[place + 1] if place + 1 < len(curve) else None
    own = (
        f"{100 * curve[place]['rows']:.0f} % of rows and {100 * curve[place]['information']:.0f} %"
    )
    said = f"Take k = {bend}: it keeps {own} of the information."
    if after is None:
        return said
    return (
        f"{said} k = {after['k']:.0f} keeps {100 * after['rows']:.0f} % and "
        f"{100 * after['information']:.0f} %: from here on more people cost more than before"
        f"{', if only a little' if found['which_k']['bend'] < SLIGHT else ''}. "
        "That is what the release is worth, not what its people need: if the law, or the people, "
        "ask for a larger k, take that."
    )


def say_cohesion(found: Found) -> str:
    shares = "; ".join(
        f"{shown_name(name)} {_share(found, name, 'groups_below_0_45')} of clusters, "
        f"{_share(found, name, 'records_below_0_45')} of records"
        for name in _clustering(found)
    )
    return (
        f"Cohesion (Eq. 10) of every cluster at k = {_at_k(found)}, in ascending order. The paper "
        "counts clusters and finds 75 % below 0.45; one giant bad cluster does not spoil that "
        f"count, but it does spoil the count of records. Below 0.45: {shares}."
    )


def say_loss_by_size(found: Found) -> str:
    return (
        f"Loss of the groups of about one size (each twice the last) at k = {_at_k(found)}. For "
        "methods that form no clusters a group is all records that publish the same. The paper "
        "compares methods by this figure; note how few groups some methods have."
    )


def say_random(found: Found) -> str:
    return (
        "Loss of every cluster by itself. Random clusters have adaptive's sizes and publish by "
        "the same rule: the distance between the curves is what clustering earns. A loss above "
        "100 % is worse than publishing one and the same set, the centre, for everybody."
    )


def say_loss_by_k(found: Found) -> str:
    return (
        "The price of more people behind every record. k¹, k², paper-printed and untouched do "
        "not hold k-anonymity: compare them by the next figure."
    )


def say_plane(found: Found) -> str:
    beaten = [k for k, own in found["fronts"]["mean"].items() if own["adaptive_beaten_by"]]
    where = (
        f"adaptive is beaten at k = {', '.join(beaten)}"
        if beaten
        else "at every k no method beats adaptive in both"
    )
    return (
        "One point for each method and k; left and down is better. The broad line is the Pareto "
        f"front over all points. Among the points of one k: {where}. Random, paper, drop-rare "
        "and root are far left because they publish nothing, or next to nothing, of most records; "
        "where all is withheld there is no risk, and no point."
    )


FIGURES: Final = (
    Plate("tasks", "Useful, and for whom it is safe", 450, say_contest, draw_contest),
    Plate("which-k", "Which k?", 450, say_which_k, draw_which_k),
    Plate("figure-4-cohesion", "Cohesion of the clusters", 380, say_cohesion, draw_cohesion),
    Plate(
        "figure-5-loss-by-size",
        "Loss against cluster size",
        366 + 4 * LEGEND_ROW,
        say_loss_by_size,
        draw_loss_by_size,
    ),
    Plate("figure-6-random", "Loss of random clusters", 380, say_random, draw_random),
    Plate("loss-by-k", "Loss against k", 450, say_loss_by_k, draw_loss_by_k),
    Plate("risk-loss", "Risk against loss", 450, say_plane, draw_plane),
)


def figures(found: Found) -> list[Figure]:
    """All figures, in the order of the page."""
    return [plate.figure(found) for plate in FIGURES]
