"""What a method's outcome costs and risks: the same measures for every method.

Loss and cohesion are over the records that hold attributes, and over what they publish of those: a
set of concepts, or nothing; a word as typed is its concept. Information kept and truth are over all
records and all that they publish, but for times, of which most methods say nothing. Risk is that of
the whole row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tasks.core.arrays import group_by, people_per_label, ragged_of, take_ragged
from tasks.core.clustering.problem import medoids
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.cohesion import LOW_COHESION, cluster_cohesion
from tasks.core.measures.counts import ordered_points
from tasks.core.measures.information import information_kept, truth_of
from tasks.core.measures.information_loss import (
    form_attributes,
    information_loss,
    percent_of,
)
from tasks.core.measures.risk import partial_knowledge
from tasks.core.measures.standing import standing_of
from tasks.core.records import TIME_NONE, Clusters, Floats, Ints, Longs, Release
from tasks.core.similarity.nearest import row_losses
from tasks.evaluation.method import Material, Outcome, without_times

Point = tuple[float, float]
"""Risk and loss: less of each is better."""


def measure_outcome(
    material: Material, outcome: Outcome, topics: TopicMap, k: int
) -> dict[str, Any]:
    """All measures of one method at one k."""
    table, rows = material.table, outcome.rows or as_release(outcome)
    loss = information_loss(
        table, rows, material.centre, material.taxonomy, topics, inclusive=material.inclusive
    )
    return {
        **_counts(material, outcome, rows, k),
        **_told(material, rows, topics),
        "loss": loss.percent,
        "symmetric_loss": loss.symmetric_percent,
        **_risks(material, rows),
        **cohesive_shares(material, outcome, k),
    }


def _told(material: Material, rows: Release, topics: TopicMap) -> dict[str, Any]:
    """What is kept of all that the log holds, in percent; shares of rows and of false concepts."""
    table, taxonomy = material.table, material.taxonomy
    kept = information_kept(table, rows, taxonomy, topics, finest=TIME_NONE)
    return {
        "information_kept": kept.kept_percent,
        "rows_published": float(rows.published.mean()),
        "false_concepts": 1.0 - truth_of(table, rows, taxonomy).concepts_true,
    }


def _counts(material: Material, outcome: Outcome, release: Release, k: int) -> dict[str, Any]:
    """Groups, and the people who publish the same: the fewest, and records that are with fewer
    than k of them."""
    published = release.class_of[release.published]
    people = people_per_label(release.class_of, material.table.users, release.class_count)
    return {
        "groups": len(outcome.published),
        "largest": int(np.bincount(outcome.labels[outcome.labels >= 0], minlength=1).max()),
        "least_people": int(people.min()) if len(people) else 0,
        "records_below_k": int((people < k)[published].sum()),
        "withheld": float((release.class_of[material.holding] < 0).mean()),
    }


def _risks(material: Material, release: Release) -> dict[str, Any]:
    standing = standing_of(material.table, release)
    success = standing.released[material.holding]
    known = partial_knowledge(standing)
    return {
        "risk": float(success.mean()),
        "worst_risk": float(success.max()),
        "one_term_least": known["one_term_least"],
        "two_terms_least": known["two_terms_least"],
    }


def as_release(outcome: Outcome) -> Release:
    """The outcome as a release of concepts alone; groups that publish the same are one class.

    Records of groups that publish nothing are withheld.
    """
    classes: dict[tuple[int, ...], int] = {}
    class_of_group = [
        classes.setdefault(tuple(own.tolist()), len(classes)) if len(own) else -1
        for own in outcome.published
    ]
    class_of = np.array([*class_of_group, -1], dtype=np.int32)[outcome.labels]
    named = [[-1 - concept for concept in own] for own in classes]
    return without_times(class_of, named, list(classes), range(len(classes)))


def cohesive_shares(material: Material, outcome: Outcome, k: int) -> dict[str, float]:
    """Figure 4 in two numbers: what is in groups of k people and of cohesion below 0.45.

    Parts of all groups, as the paper counts, and of all records that hold attributes. A group
    of fewer than k people does not hide anybody, however alike its records are.
    """
    cohesion = cohesions(material, outcome)
    people = people_per_label(outcome.labels, material.table.users, len(outcome.published))
    low = (cohesion < LOW_COHESION) & (people >= k)
    inside = outcome.labels[outcome.labels >= 0]
    return {
        "groups_below_0_45": float(low.mean()) if len(low) else 0.0,
        "records_below_0_45": float(low[inside].sum() / max(1, int(material.holding.sum()))),
    }


def cohesions(material: Material, outcome: Outcome) -> Floats:
    """Eq. 10 for each group."""
    centroids = outcome.centroids if outcome.centroids is not None else _medoids(material, outcome)
    distances = material.distances
    return cluster_cohesion(
        material.table,
        Clusters(outcome.labels, outcome.labels < 0, centroids),
        distances.in_classes(material.table.sets),
        distances.similar(material.threshold),
        distance=material.distance,
    )


def _medoids(material: Material, outcome: Outcome) -> Ints:
    """A record of the set that costs each group least, where records of a set may be apart."""
    table, problem = material.table, material.problem(k=1)
    members = np.flatnonzero(outcome.labels >= 0)
    first, unit_of = group_by(outcome.labels[members], table.set_of[members])
    units = members[first]
    counts = np.bincount(unit_of, minlength=len(units)).astype(np.int64)
    apart = replace(problem.part(table.set_of[units].astype(np.int64)), counts=counts)
    return units[medoids(apart, outcome.labels[units])].astype(np.int32)


def figure_data(material: Material, outcome: Outcome) -> dict[str, Any]:
    """What the figures show of one method at one k, of bounded size however long the log is."""
    losses, cohesion = group_losses(material, outcome), cohesions(material, outcome)
    inside = outcome.labels[outcome.labels >= 0]
    sizes = np.bincount(inside, minlength=len(outcome.published))
    shares = np.array([percent_of(*pair) for pair in zip(losses.error, losses.total, strict=True)])
    return {
        "cohesion": ordered_points(cohesion),
        "cohesion_of_records": ordered_points(cohesion[inside]),
        "group_loss": ordered_points(shares),
        "loss_by_size": binned_losses(sizes, losses),
    }


@dataclass(frozen=True, slots=True, eq=False)
class GroupLosses:
    """Squares of what is lost and made up in each group, and around the data set's centre."""

    error: Floats
    total: Floats


def group_losses(material: Material, outcome: Outcome) -> GroupLosses:
    """Eq. 12 and 13, in both directions, over the records of each group."""
    table = material.table
    members = np.flatnonzero(outcome.labels >= 0)
    first, variant_of = group_by(outcome.labels[members], table.form_of[members])
    labels = outcome.labels[members[first]].astype(np.int64)
    counts = np.bincount(variant_of, minlength=len(first)).astype(np.float64)
    forms = table.form_of[members[first]].astype(np.int64)

    def total(published: Sequence[Ints]) -> Floats:
        costs = counts * _costs(material, forms, labels, published)
        return np.bincount(labels, costs, minlength=len(outcome.published)).astype(np.float64)

    return GroupLosses(total(outcome.published), total([material.centre] * len(outcome.published)))


def _costs(material: Material, forms: Longs, labels: Longs, published: Sequence[Ints]) -> Floats:
    """Cost of one record of each form if the set of its label is published."""
    offsets, attributes, weights = form_attributes(material.table, forms)
    set_offsets, concepts = ragged_of(published)
    published_offsets, places = take_ragged(set_offsets, labels)
    losses = row_losses(
        material.taxonomy,
        (offsets, attributes),
        (published_offsets, concepts[places]),
        inclusive=material.inclusive,
    )
    owners = np.repeat(np.arange(len(forms)), np.diff(offsets))
    lost = np.bincount(owners, losses.lost * weights, minlength=len(forms))
    return np.asarray(lost + losses.made_up)


def binned_losses(sizes: Longs, losses: GroupLosses) -> list[dict[str, float]]:
    """Loss over all groups of about the same size, smallest first.

    Sizes 1, 2, 3–4, 5–8 and so on are taken together; their loss is Eq. 11 over their records.
    """
    if not len(sizes):
        return []
    bins = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    found = np.unique(bins)
    return [
        {
            "mean_size": float(sizes[bins == own].mean()),
            "groups": int((bins == own).sum()),
            "records": int(sizes[bins == own].sum()),
            "loss": percent_of(losses.error[bins == own].sum(), losses.total[bins == own].sum()),
        }
        for own in found.tolist()
    ]


def dominates(one: Point, other: Point) -> bool:
    """At least as good in both, better in one (Pareto dominance)."""
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def on_pareto_front(points: Sequence[Point]) -> list[bool]:
    """For each point whether no other one dominates it."""
    return [not any(dominates(other, point) for other in points) for point in points]


def dominated_by(points: Sequence[Point], index: int) -> list[int]:
    """The points that dominate one of them."""
    return [place for place, other in enumerate(points) if dominates(other, points[index])]
