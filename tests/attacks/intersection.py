"""Intersection: who stands behind all of several rows? (Ganta and others, KDD 2008.)

Attacker: holds every release of an edition, or two releases of logs that overlap; knows one query
of somebody who asked it again and again, and is shown all rows that tell it. They intersect the
people behind those rows and name one who is left. Against this m-invariance is made (Xiao and Tao,
2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from tests.attacks.evidence import Evidence
from tests.attacks.trials import Trial


def intersection(evidence: Evidence) -> Iterator[Trial]:
    """Over the rows of all releases, for each person and query that several rows tell."""
    left = people_left(evidence)
    bound, chance = 1 / evidence.k, evidence.chance
    guessed = sum(1 / count for count in left)
    several = "shown all rows of a query"
    yield Trial("intersection", several, len(left), guessed, chance, bound)
    few = sum(count < evidence.k for count in left)
    yield Trial("intersection", f"{several}: fewer than k left", len(left), few, chance, 0.0)
    one = sum(count == 1 for count in left)
    yield Trial("intersection", f"{several}: one left", len(left), one, chance, 0.0)


def people_left(evidence: Evidence) -> list[int]:
    """How many people all classes of one person's query have in common, where there are several."""
    pairs = evidence.records.drop_duplicates(["cls", "person"])
    people = pairs.groupby("cls").person.agg(frozenset)
    told = evidence.records.drop_duplicates(["cls", "person", "text"])
    classes = told.groupby(["person", "text"]).cls.agg(list)
    several = classes[classes.map(len) > 1]
    return [len(reduce(frozenset.intersection, people.loc[own])) for own in several]
