"""What a method's outcome costs and risks: the same measures for every method.

All measures are over the records that hold attributes, and over what they publish of those: a
set of concepts, or nothing. Words beside attributes, times and cluster numbers are left out,
because most methods say nothing about them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tasks.core.arrays import group_by, people_per_label, ragged_of
from tasks.core.clustering.problem import medoids
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.figures import ordered_points
from tasks.core.measures.quality import (
    LOW_COHESION,
    cluster_cohesion,
    information_loss,
    percent_of,
)
from tasks.core.measures.risk import partial_knowledge, released_success
from tasks.core.records import NO_TIME, TIME_NONE, Clusters, Floats, Ints, Release
from tasks.evaluation.measures.groups import binned_losses, group_losses
from tasks.evaluation.methods.interface import Material, Outcome


def measured(material: Material, outcome: Outcome, topics: TopicMap, k: int) -> dict[str, Any]:
    """The figures of one method at one k."""
    table = material.table
    release = as_release(outcome)
    loss = information_loss(
        table, release, material.centre, material.taxonomy, topics, inclusive=material.inclusive
    )
    return {
        **_counts(material, outcome, release, k),
        "loss": loss.percent,
        "symmetric_loss": loss.symmetric_percent,
        **_risks(material, release),
        **cohesive_shares(material, outcome, k),
    }


def _counts(material: Material, outcome: Outcome, release: Release, k: int) -> dict[str, Any]:
    """Groups, and the people who publish the same: the fewest, and records that are with fewer
    than k of them."""
    published = release.class_of[release.published]
    people = people_per_label(release.class_of, material.table.users, release.class_count)
    return {
        "groups": len(outcome.rows),
        "largest": int(np.bincount(outcome.labels[outcome.labels >= 0], minlength=1).max()),
        "least_people": int(people.min()) if len(people) else 0,
        "records_below_k": int((people < k)[published].sum()),
        "withheld": float((release.class_of[material.holding] < 0).mean()),
    }


def _risks(material: Material, release: Release) -> dict[str, Any]:
    success = released_success(material.table, release)[material.holding]
    known = partial_knowledge(material.table, release)
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
    rows: dict[tuple[int, ...], int] = {}
    classes = [
        rows.setdefault(tuple(row.tolist()), len(rows)) if len(row) else -1 for row in outcome.rows
    ]
    offsets, concepts = ragged_of(list(rows))
    return Release(
        class_of=np.array([*classes, -1], dtype=np.int32)[outcome.labels],
        term_offsets=offsets,
        terms=-1 - concepts,
        concept_offsets=offsets,
        concepts=concepts,
        times=np.full(len(rows), NO_TIME, dtype=np.int64),
        precisions=np.full(len(rows), TIME_NONE, dtype=np.int32),
        clusters=np.arange(len(rows), dtype=np.int32),
    )


def cohesive_shares(material: Material, outcome: Outcome, k: int) -> dict[str, float]:
    """Figure 4 in two numbers: what is in groups of k people and of cohesion below 0.45.

    Parts of all groups, as the paper counts, and of all records that hold attributes. A group
    of fewer than k people does not hide anybody, however alike its records are.
    """
    cohesion = cohesions(material, outcome)
    people = people_per_label(outcome.labels, material.table.users, len(outcome.rows))
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


def drawn(material: Material, outcome: Outcome) -> dict[str, Any]:
    """What the figures show of one method at one k, of bounded size however long the log is."""
    losses, cohesion = group_losses(material, outcome), cohesions(material, outcome)
    inside = outcome.labels[outcome.labels >= 0]
    sizes = np.bincount(inside, minlength=len(outcome.rows))
    shares = np.array([percent_of(*pair) for pair in zip(losses.error, losses.total, strict=True)])
    return {
        "cohesion": ordered_points(cohesion),
        "cohesion_of_records": ordered_points(cohesion[inside]),
        "group_loss": ordered_points(shares),
        "loss_by_size": binned_losses(sizes, losses),
    }
