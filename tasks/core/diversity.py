"""Whether people who stand together differ in what is sensitive (l-diversity).

A sensitive set: the concepts of a query that lie on the branch of a sensitive topic. l sets that
one person holds protect nobody, so sets and people are matched: l of the people, each with a set
that none of the others stands for (after Machanavajjhala et al. 2007, who count sets alone).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from tasks.core.members import members_of
from tasks.core.mentions import concepts_of
from tasks.core.records import Flags, Ints, RecordTable

NOTHING = -1
"""The set of whoever holds nothing sensitive."""


def sensitive_sets(table: RecordTable, sensitive: Flags) -> Ints:
    """A number for the sensitive set of each form, or NOTHING.

    Args:
        sensitive: concepts on the branch of a topic, shape (concepts,).
    """
    forms = np.arange(len(table.forms), dtype=np.int32)
    sets, numbers = concepts_of(table, forms, sensitive), {b"": NOTHING}
    found = (numbers.setdefault(own, len(numbers) - 1) for own in sets)
    return np.fromiter(found, dtype=np.int32, count=len(forms))


def is_diverse(held: Iterable[tuple[int, int]], least: int) -> bool:
    """Whether so many people can be matched with different sets; always, if somebody holds NOTHING.

    Of whoever holds nothing sensitive no sensitive concept is true: such a row names none.

    Args:
        held: person and set of each record.
    """
    people_of: dict[int, set[int]] = {}
    for person, own in held:
        people_of.setdefault(own, set()).add(person)
    if NOTHING in people_of:
        return True
    set_of: dict[int, int] = {}
    found = 0
    for own in sorted(people_of):
        if found >= least:
            break
        found += _matched(own, people_of, set_of, set())
    return found >= least


def uniform_groups(groups: Ints, users: Ints, sets: Ints, *, least: int) -> Flags:
    """Which of the groups 0, 1, … of records have too few people with different sets."""
    uniform = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.bool_)
    members = members_of(groups, len(uniform))
    for own, rows, _ in members.parts():
        people, held = users[rows].tolist(), sets[rows].tolist()
        bounds = (members.offsets[own.start : own.stop + 1] - members.offsets[own.start]).tolist()
        uniform[own] = [
            start < end
            and not is_diverse(zip(people[start:end], held[start:end], strict=True), least)
            for start, end in pairwise(bounds)
        ]
    return uniform


def _matched(
    own: int, people_of: dict[int, set[int]], set_of: dict[int, int], tried: set[int]
) -> bool:
    """Find somebody to stand for a set; whoever does so for another may be taken if that one finds
    somebody else (an augmenting path, Berge 1957)."""
    for person in sorted(people_of[own] - tried):
        tried.add(person)
        if person not in set_of or _matched(set_of[person], people_of, set_of, tried):
            set_of[person] = own
            return True
    return False
