"""The best possible rows of a few records, by trying every way to put them together.

A class of at least k people tells all that is true of every one of its records, each at every level
that they have in common; the others are withheld. No release can keep more information than the
best partition: whatever else a row said would be false of somebody.
"""

from __future__ import annotations

from itertools import pairwise

from tasks.core.records import RecordTable, Release
from tasks.core.rows.levels import ItemLevels, item_levels
from tasks.core.taxonomy import Taxonomy

Items = list[dict[int, float]]
"""Of each item of a record what the nodes of its levels tell, in bits."""


def items_of_forms(levels: ItemLevels) -> list[Items]:
    """The items of each form."""
    pairs = list(zip(levels.nodes.tolist(), levels.bits.tolist(), strict=True))
    items = [dict(pairs[start:end]) for start, end in pairwise(levels.level_offsets.tolist())]
    return [items[start:end] for start, end in pairwise(levels.item_offsets.tolist())]


def kept_of(items: Items, told: set[int]) -> float:
    """Bits that a record keeps if its row tells these nodes."""
    return sum(max((item[node] for node in item if node in told), default=0.0) for item in items)


def kept_by(table: RecordTable, taxonomy: Taxonomy, release: Release) -> float:
    """Bits that a release keeps of all records."""
    forms, words = items_of_forms(item_levels(table, taxonomy)), len(table.words)
    kept = 0.0
    for record in release.published.nonzero()[0].tolist():
        row = int(release.class_of[record])
        terms = release.terms[slice(*release.term_offsets[row : row + 2])].tolist()
        concepts = release.concepts[slice(*release.concept_offsets[row : row + 2])].tolist()
        told = {term for term in terms if term >= 0} | {words + concept for concept in concepts}
        kept += kept_of(forms[table.form_of[record]], told)
    return kept


def best_kept(table: RecordTable, taxonomy: Taxonomy, k: int, *, vaguest: float) -> float:
    """The most bits that any release of rows of k people keeps; for a few records only."""
    forms = items_of_forms(item_levels(table, taxonomy, vaguest=vaguest))
    records = [forms[form] for form in table.form_of.tolist()]
    users = table.users.tolist()
    chosen = range(1 << len(records))
    worth = [_worth_of_class(group, records, users, k) for group in chosen]
    best = [0.0] * len(chosen)
    for left in chosen[1:]:
        first = left & -left
        # The first record is withheld, or it is in one of the classes among those that are left.
        best[left] = best[left ^ first]
        group = left
        while group:
            if group & first:
                best[left] = max(best[left], worth[group] + best[left ^ group])
            group = (group - 1) & left
    return best[-1]


def _worth_of_class(group: int, records: list[Items], users: list[int], k: int) -> float:
    """Bits kept by the records that are the bits of a number, if they are one class."""
    members = [place for place in range(len(records)) if group >> place & 1]
    if len({users[place] for place in members}) < k:
        return 0.0
    common = set.intersection(*({n for i in records[place] for n in i} for place in members))
    return sum(kept_of(records[place], common) for place in members)
