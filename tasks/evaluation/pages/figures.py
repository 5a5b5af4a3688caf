"""The figures of a comparison: the paper's 4, 5 and 6, loss against k, and the risk–loss plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    NullLocator,
    PercentFormatter,
    ScalarFormatter,
)

from tasks.evaluation.pages.canvas import (
    Found,
    draw_line,
    draw_steps,
    name_line_ends,
    new_figure,
    pen,
    shown_name,
)

LOW_COHESION: Final = 0.45
LOSS: Final = "information loss, both ways (%)"


@dataclass(frozen=True, slots=True)
class FigureFile:
    """A figure: its file, its title, what one reads off, and how it is drawn."""

    name: str
    title: str
    says: Callable[[Found], str]
    draw: Callable[[Found], Figure]


def _at_k(found: Found) -> str:
    return str(found["settings"]["k"])


def _clustering(found: Found) -> dict[str, Any]:
    return {name: method for name, method in found["methods"].items() if method["clusters"]}


def draw_cohesion(found: Found) -> Figure:
    """Figure 4, by clusters as in the paper, and by records."""
    figure, (left, right) = new_figure(7.4, 3.9, panels=2)
    counts = (("cohesion", "of the clusters"), ("cohesion_of_records", "of the records"))
    for axes, (key, whose) in zip((left, right), counts, strict=True):
        for name, method in _clustering(found).items():
            draw_steps(axes, name, method["figures"][key])
        axes.axhline(LOW_COHESION, color="#a3123a", linewidth=1, linestyle=(0, (5, 3)))
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel=f"share {whose}, in ascending order")
        axes.xaxis.set_major_formatter(PercentFormatter(1))
    left.set_ylabel("cohesion of the cluster (0 is best)")
    left.text(0.015, LOW_COHESION + 0.015, "0.45", color="#a3123a", fontsize=8.5)
    left.set_title("counted by clusters, as the paper does")
    right.set_title("counted by records")
    handles, names = left.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=7, frameon=False, columnspacing=1.2
    )
    return figure


def draw_loss_by_size(found: Found) -> Figure:
    """Figure 5: loss of the groups of about one size."""
    figure, (left, right) = new_figure(7.4, 4.3, panels=2)
    clustering = _clustering(found)
    for name, method in found["methods"].items():
        points = method["figures"]["loss_by_size"]
        axes = left if name in clustering else right
        sizes, losses = [p["mean_size"] for p in points], [p["loss"] for p in points]
        draw_line(axes, name, sizes, losses, marker=pen(name).marker, markersize=4.5)
    ours = found["methods"]["adaptive"]["figures"]["loss_by_size"]
    sizes, losses = [p["mean_size"] for p in ours], [p["loss"] for p in ours]
    draw_line(right, "adaptive", sizes, losses, marker="o", markersize=4.5)
    for axes, title in ((left, "methods that form clusters"), (right, "the others, and adaptive")):
        axes.set(xscale="log", xlabel="records of a group", title=title)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.legend(frameon=False, fontsize=8, loc="upper left")
    left.set_ylabel(LOSS)
    left.set_ylim(bottom=-4)
    return figure


def draw_random(found: Found) -> Figure:
    """Figure 6: loss of every cluster, against clusters of the same sizes at random."""
    figure, (axes,) = new_figure(5.4, 3.6)
    for name in ("adaptive", "mdav", "paper", "random"):
        draw_steps(axes, name, found["methods"][name]["figures"]["group_loss"])
    axes.set(xlim=(0, 1), xlabel="share of the clusters, in ascending order", ylabel=LOSS)
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_loss_by_k(found: Found) -> Figure:
    """Loss against k, all methods."""
    figure, (axes,) = new_figure(6.4, 4.6)
    ends = []
    for name, method in found["methods"].items():
        losses = [method["by_k"][str(k)]["symmetric_loss"] for k in found["ks"]]
        draw_line(axes, name, found["ks"], losses, marker=pen(name).marker, markersize=4.5)
        ends.append((name, float(found["ks"][-1]), losses[-1]))
    _k_axis(axes, found["ks"])
    axes.set_ylabel(LOSS)
    axes.set_ylim(bottom=-3)
    name_line_ends(axes, ends, gap=0.045)
    return figure


def _k_axis(axes: Axes, ks: list[int]) -> None:
    axes.set(xscale="log", xlabel="k, people behind every published record")
    axes.xaxis.set_major_locator(FixedLocator(ks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())


def draw_plane(found: Found) -> Figure:
    """The risk–loss plane: a point for each method and k, and the front over all of them."""
    figure, (axes,) = new_figure(7.0, 5.0)
    points = []
    for name, method in found["methods"].items():
        cells = [method["by_k"][str(k)] for k in found["ks"]]
        risks, losses = [c["risk"] for c in cells], [c["symmetric_loss"] for c in cells]
        draw_line(axes, name, risks, losses, marker=pen(name).marker, markersize=6, linewidth=0.8)
        points += list(zip(risks, losses, strict=True))
    _draw_front(axes, points)
    ours = found["methods"]["adaptive"]["by_k"]
    for k in found["ks"]:
        place = ours[str(k)]["risk"], ours[str(k)]["symmetric_loss"]
        said = f"k = {k}" if k == found["ks"][-1] else str(k)
        axes.annotate(said, place, (-4, -10), textcoords="offset points", fontsize=7.5, ha="right")
    axes.set(xscale="log", ylabel=LOSS)
    axes.set_xlabel("risk: mean chance that somebody who knows a whole query picks its person")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda risk, _: f"{100 * risk:g} %"))
    axes.set_ylim(bottom=-8)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def _draw_front(axes: Axes, points: list[tuple[float, float]]) -> None:
    """A stair through the points that no other one beats."""
    front: list[tuple[float, float]] = []
    for point in sorted(set(points)):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    axes.step(
        [risk for risk, _ in front],
        [loss for _, loss in front],
        where="post",
        color="#e9b44c",
        linewidth=5,
        alpha=0.5,
        zorder=1,
        label="Pareto front",
    )


def _share(found: Found, name: str, key: str) -> str:
    return f"{100 * found['methods'][name]['by_k'][_at_k(found)][key]:.0f} %"


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
    FigureFile("figure-4-cohesion", "Cohesion of the clusters", say_cohesion, draw_cohesion),
    FigureFile(
        "figure-5-loss-by-size", "Loss against cluster size", say_loss_by_size, draw_loss_by_size
    ),
    FigureFile("figure-6-random", "Loss of random clusters", say_random, draw_random),
    FigureFile("loss-by-k", "Loss against k", say_loss_by_k, draw_loss_by_k),
    FigureFile("risk-loss", "Risk against loss", say_plane, draw_plane),
)
