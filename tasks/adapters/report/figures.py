"""The figures of the report, each with a caption that says what one reads off."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from markupsafe import Markup

from tasks.adapters.pages.charts import (
    COLUMN,
    HEIGHT,
    WIDTH,
    Axis,
    Bar,
    Line,
    Mark,
    Series,
    bar_chart,
    bars_height,
    even_ticks,
    flow_chart,
    flow_height,
    histogram_chart,
    legend,
    line_chart,
    ordered_chart,
    share_chart,
)
from tasks.adapters.pages.numbers import count, percent, share
from tasks.adapters.pages.page import Figure, picture_address
from tasks.adapters.pages.svg import SQUARE, picture
from tasks.adapters.report.verdict import loss_speaks_of
from tasks.schema import FinalMeasures, Histogram, RandomClusters, RiskPoints

KEPT: Final = "information kept (100 % = all that was typed)"
LOST: Final = "information loss (100 % = one set for everybody)"
LOW_COHESION: Final = Mark(0.45, "0.45")
ALONE: Final = 600
"""Width of a picture that stands alone, in pixels."""


def fate_of_rows(measures: FinalMeasures) -> Figure:
    """From what was read to what became of it, by reason."""
    records = measures["records"]
    # Public figures may tell nothing of one or the other.
    read, published = records["read"] or 0, records["published"] or 0
    changed = min(published, round((measures["shares"]["changed"] or 0) * read))
    waits = "waits" if "edition" in measures else "withheld"
    reasons = sorted(measures["withheld_by_reason"].items(), key=lambda entry: -entry[1])
    parts = [
        Bar("published, changed", changed, "after"),
        Bar("published as it was", published - changed, "same"),
        *(Bar(f"{waits}: {why}", rows, "before") for why, rows in reasons),
        Bar("set aside", records["rejected"] or 0, "aside"),
    ]
    parts = [part for part in parts if part.value]
    whole = sum(part.value for part in parts)
    number = _about if measures["rounded"] else _exactly
    numbers = [number(part.value, whole) for part in parts]
    said = "; ".join(f"{part.name}: {own}" for part, own in zip(parts, numbers, strict=True))
    says = f"Rows that were read, by what became of them. {said}."
    shapes = flow_chart("rows read", parts, numbers) if parts else []
    return _figure("rows", "From the log to the release", says, shapes, flow_height(parts))


def _exactly(rows: float, whole: float) -> str:
    return f"{count(rows)} ({percent(100 * rows / whole)})"


def _about(rows: float, whole: float) -> str:
    """Public counts are not those of the file, and too coarse for more."""
    nearest = 5 * round(20 * rows / whole)
    return f"about {percent(nearest)}" if nearest else f"less than {percent(5)}"


def standalone_pictures(measures: FinalMeasures) -> list[tuple[Figure, str]]:
    """Each figure that has something to show, with its picture as a data address."""
    return [
        (figure, picture_address(figure.drawn, ALONE))
        for figure in (fate_of_rows(measures), *figures(measures))
        if figure.drawn
    ]


def figures(measures: FinalMeasures) -> list[Figure]:
    """What is kept, and for the people. Public ones end with what is kept: the others show single
    values."""
    kept = [information_kept(measures), information_by_topic(measures)]
    return (
        kept if measures["rounded"] else [*kept, people_per_row(measures), linkage_risk(measures)]
    )


def figures_of_paper(measures: FinalMeasures) -> list[Figure]:
    """The paper's figures, which show single clusters and so are internal."""
    drawn = (cluster_sizes, cohesion, random_clusters, loss_by_topic)
    return [] if measures["rounded"] else [draw(measures) for draw in drawn]


def information_kept(measures: FinalMeasures) -> Figure:
    kept, records = measures["information"], measures["records"]
    says = (
        "Every word, concept and time holds so many bits, the more the rarer it is; a row that "
        "tells a more general concept keeps that one’s bits, a withheld row none. Of all that the "
        f"rows of the log hold, {percent(kept['kept_percent'])} is kept."
    )
    bars = [
        Bar("words, concepts and times together", kept["kept_percent"]),
        Bar("of plain words", kept["words_percent"], "same"),
        Bar("of attributes, by word or concept", kept["concepts_percent"], "same"),
        *_time_bar(measures),
    ]
    some = (records["published"] or 0) + (records["withheld"] or 0)
    told = [bar for bar in bars if some and bar.value is not None]
    return _bars("kept", "Information kept", says, told, KEPT)


def _time_bar(measures: FinalMeasures) -> list[Bar]:
    finest = measures["settings"]["time"]
    if finest == "none":
        return []
    name = f"of times (100 %: every row with its {finest})"
    return [Bar(name, measures["information"]["time_percent"], "same")]


def information_by_topic(measures: FinalMeasures) -> Figure:
    by_topic = sorted(measures["information"]["by_topic"].items(), key=lambda entry: -entry[1])
    says = (
        "The same for the attributes of each topic. Topics that few people ask for, or that each "
        "asks for in other words, keep least."
    )
    bars = [Bar(topic, value) for topic, value in by_topic]
    return _bars("kept-topics", "Information kept by topic", says, bars, KEPT)


def kept_by_k(curve: Sequence[tuple[int, float, float]]) -> Figure:
    """What k costs, as `flows.compare` found it for the same records."""
    ks = [k for k, _, _ in curve]
    told = (f"k = {k}: {share(rows)} and {share(kept)}" for k, rows, kept in curve)
    says = (
        "What the default method would keep of the usable rows and their information, without "
        f"times, under strict (logveil compare). {'; '.join(told)}."
    )
    lines = [
        Line("rows published", "green dashed", [(k, 100 * rows) for k, rows, _ in curve], SQUARE),
        Line("information kept", "after", [(k, 100 * kept) for k, _, kept in curve]),
    ]
    x = COLUMN.across(ks[0] / 1.25, ks[-1] * 1.25, log=True)
    axes = Axis("k (log scale)", ks), Axis("share of the log", even_ticks(100), percent)
    shapes = [
        *line_chart(lines, x, *axes, COLUMN),
        *legend(lines, COLUMN.left, 10, COLUMN.right - COLUMN.left, columns=2),
    ]
    return _figure("by-k", "How k would change it", says, shapes)


def people_per_row(measures: FinalMeasures) -> Figure:
    found, k = measures["figures"]["people_per_row"], measures["settings"]["k"]
    rows = sum(found["counts"])
    says = f"{count(rows)} distinct rows are published. {_below(found, k)}"
    axes = "people who share a published row", "distinct rows"
    shapes = histogram_chart(found, Mark(k, f"k = {k}"), *axes) if rows else []
    return _figure("people", "People behind each published row", says, shapes)


def _below(found: Histogram, k: int) -> str:
    counts = zip(found["edges"], found["counts"], strict=False)
    below = sum(number for edge, number in counts if edge < k)
    if below:
        return (
            f"{count(below)} of them, left of the dashed line, stand for fewer than k = {k} people."
        )
    return f"None stands for fewer than k = {k} people: left of the dashed line there is nothing."


def linkage_risk(measures: FinalMeasures) -> Figure:
    points, risk, k = measures["figures"]["risk"], measures["risk"], measures["settings"]["k"]
    raw = _risk(risk["raw_expected"], risk["raw_worst"])
    released = _risk(risk["released_expected"], risk["released_worst"])
    says = (
        "Somebody knows a person’s whole query and picks the person behind it: the chance that "
        "they are right, for the rows in ascending order (0 % for withheld rows). Raw log: "
        f"{raw}. Release: {released}. The dashed line is 1/k."
    )
    shapes = _risk_lines(points, k) if points["raw"] else []
    return _figure("risk", "Linkage risk, before and after", says, shapes)


def _risk_lines(points: RiskPoints, k: int) -> list[Markup]:
    lines = [
        Series("raw log", "before", points["raw"]),
        Series("release", "after", points["released"]),
    ]
    ticks = even_ticks(1)
    axis = Axis("chance of the right person", ticks, lambda tick: percent(100 * tick))
    keys = [Line(one.name, one.kind, marker=None) for one in lines]
    return [
        *share_chart(lines, "share of the rows", axis, Mark(1 / k, f"1/{k}")),
        *legend(keys, COLUMN.left, 10, COLUMN.right - COLUMN.left, columns=2),
    ]


def _risk(expected: float, worst: float) -> str:
    return f"{percent(100 * expected)} on average, {percent(100 * worst)} at worst"


def random_clusters(measures: FinalMeasures) -> Figure:
    found = measures["figures"]["random_clusters"]
    random = found["random_percent"]
    title = "Information kept against random groups"
    if not random:
        return _bars("random", title, "", [], KEPT)
    spread = min(random), max(random)
    bars = [
        Bar("people as they stand together", found["own_percent"]),
        Bar("random groups of the same sizes", fmean(random), "before", spread),
    ]
    return _bars("random", title, _against_random(measures), bars, KEPT)


def _against_random(measures: FinalMeasures) -> str:
    found, loss = measures["figures"]["random_clusters"], measures["information_loss"]
    random = found["random_percent"]
    says = (
        f"A figure proves little by itself: so {len(random)} times the published records trade "
        "places at random while the groups that share a row keep their sizes (after the paper’s "
        "Figure 6). Each group tells all that is true of everybody in it. The bar is the mean, the "
        f"whisker runs from {percent(min(random))} to {percent(max(random))}. {_of_what(found)}"
    )
    if measures["settings"]["guarantee"] != "paper":
        return says
    printed = percent(loss["symmetric_percent"])
    return (
        f"{says} Redacted as printed, not by what a group has in common, this release loses "
        f"{printed} by the paper’s measure."
    )


def _of_what(found: RandomClusters) -> str:
    if found["records"] == found["of_records"]:
        return f"Measured on all {count(found['records'])} published records."
    return (
        f"Measured on a random sample: {count(found['records'])} of {count(found['of_records'])} "
        f"records, in {count(found['clusters'])} groups."
    )


def loss_by_topic(measures: FinalMeasures) -> Figure:
    loss = measures["information_loss"]
    by_topic = sorted(loss["by_topic"].items(), key=lambda entry: -entry[1])
    says = (
        "How much of each topic’s attributes is lost by the paper’s measure (Eq. 11). 100 % is "
        "what one set for everybody would lose; withheld rows may lose more. All topics together: "
        f"{percent(loss['percent'])}; with what is made up, {percent(loss['symmetric_percent'])}. "
        f"It speaks of {loss_speaks_of(measures)}."
    )
    bars = [Bar(topic, value) for topic, value in by_topic]
    return _bars("topics", "Information loss by topic", says, bars, LOST)


def cohesion(measures: FinalMeasures) -> Figure:
    points, total = measures["figures"]["cohesion"], measures["clusters"]["count"]
    shares = measures["cohesion"]
    each = (
        "Each dot is a cluster" if len(points) == total else f"{len(points)} clusters at even steps"
    )
    says = (
        f"{each}, from the most to the least alike. 0: all records match the cluster’s centre; 1: "
        f"none does. {percent(100 * shares['clusters_below_0_45'])} of the clusters and "
        f"{percent(100 * shares['records_below_0_45'])} of the records in clusters are below 0.45, "
        "the paper’s mark (Eq. 10, Figure 4)."
    )
    axes = "clusters, in order of cohesion", "cohesion (0 is best)"
    values = Series("", "after", points)
    shapes = ordered_chart(values, LOW_COHESION, *axes, int(total)) if points else []
    return _figure("cohesion", "Cohesion of the clusters", says, shapes)


def cluster_sizes(measures: FinalMeasures) -> Figure:
    found, sizes = measures["figures"]["cluster_sizes"], measures["clusters"]
    k = measures["settings"]["k"]
    says = (
        f"{count(sizes['count'])} clusters of {count(sizes['min_size'])} to "
        f"{count(sizes['max_size'])} records, half of them of {sizes['median_size']:g} or fewer. "
        "The smaller a cluster, the less it loses; every cluster holds at least "
        f"{count(sizes['min_users'])} people."
    )
    axes = "records in a cluster", "clusters"
    shapes = histogram_chart(found, Mark(k, f"k = {k}"), *axes) if found["counts"] else []
    return _figure("sizes", "Cluster sizes", says, shapes)


def _bars(name: str, title: str, says: str, bars: Sequence[Bar], across: str) -> Figure:
    shapes = bar_chart(bars, across) if bars else []
    return _figure(name, title, says, shapes, bars_height(bars))


def _figure(
    name: str, title: str, says: str, shapes: Sequence[Markup], height: float = HEIGHT
) -> Figure:
    if not shapes:
        return Figure(name, title, "Nothing to show for this release.")
    return Figure(name, title, says, picture(name, title, says, (WIDTH, height), shapes))
