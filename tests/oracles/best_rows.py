"""The best possible rows of a few records, by trying every way to put them together.

A class of at least k people tells what is true of every one of its records; the others are
withheld. If it tells all of that, every level that they have in common, no release can keep more
information than the best partition: whatever else a row said would be false of somebody. Rows as
they are published say each thing once, which keeps a little less.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tasks.core.records import RecordTable, Release
from tasks.core.rows.levels import ItemLevels, item_levels
from tasks.core.taxonomy import Taxonomy

Items = list[dict[int, float]]
"""Of each item of a record what the nodes of its levels tell, in bits, finest first."""
Told = Callable[[list[Items]], set[int]]


def items_of_forms(levels: ItemLevels) -> list[Items]:
    """The items of each form."""
    pairs = list(zip(levels.nodes.tolist(), levels.bits.tolist(), strict=True))
    items = [dict(pairs[start:end]) for start, end in pairwise(levels.level_offsets.tolist())]
    return [items[start:end] for start, end in pairwise(levels.item_offsets.tolist())]


def kept_of(items: Items, told: set[int]) -> float:
    """Bits that a record keeps if its row tells these nodes."""
    return sum(max((item[node] for node in item if node in told), default=0.0) for item in items)


def kept_by(table: RecordTable, taxonomy: Taxonomy, release: Release) -> float:
    """Bits that a release keeps of all records, if only what is true of a whole row counts.

    A concept may be called by a word that some of its people typed; that tells nobody who did.
    """
    forms, words = items_of_forms(item_levels(table, taxonomy)), len(table.words)
    kept = 0.0
    for row in range(release.class_count):
        members = [forms[form] for form in table.form_of[release.class_of == row].tolist()]
        terms = release.terms[slice(*release.term_offsets[row : row + 2])].tolist()
        concepts = release.concepts[slice(*release.concept_offsets[row : row + 2])].tolist()
        said = {term for term in terms if term >= 0} | {words + concept for concept in concepts}
        kept += sum(kept_of(items, said & common_nodes(members)) for items in members)
    return kept


def common_nodes(members: list[Items]) -> set[int]:
    """What is true of all of them."""
    return set.intersection(*({node for item in items for node in item} for items in members))


def said_once(members: list[Items]) -> set[int]:
    """Of what is true of all of them, what is the finest of somebody's in each.

    *Flu* and *respiratory disease* would say two things of whoever asked for *flu* alone.
    """
    common = common_nodes(members)
    finest = ({n for item in items for n in _finest(item, common)} for items in members)
    return set.intersection(*finest)


def _finest(item: dict[int, float], told: set[int]) -> list[int]:
    """The first of an item's levels, which stand finest first, that is told; or none."""
    return [node for node in item if node in told][:1]


def best_kept(
    table: RecordTable, taxonomy: Taxonomy, k: int, *, vaguest: float, told: Told = common_nodes
) -> float:
    """The most bits that any release of rows of k people keeps; for a few records only.

    Args:
        told: what a class of records tells.
    """
    forms = items_of_forms(item_levels(table, taxonomy, vaguest=vaguest))
    records = [forms[form] for form in table.form_of.tolist()]
    users = table.users.tolist()
    chosen = range(1 << len(records))
    groups = ([place for place in range(len(records)) if group >> place & 1] for group in chosen)
    worth = [
        _worth([records[place] for place in own], told)
        if len({users[place] for place in own}) >= k
        else 0.0
        for own in groups
    ]
    return _best_partition(worth)


def _worth(members: list[Items], told: Told) -> float:
    """Bits kept by some records, if they are one class."""
    nodes = told(members)
    return sum(kept_of(items, nodes) for items in members)


def _best_partition(worth: list[float]) -> float:
    """The most that classes of different records are worth together.

    Args:
        worth: of each class, by the number whose bits are its records.
    """
    best = [0.0] * len(worth)
    for left in range(1, len(worth)):
        first = left & -left
        # The first record is withheld, or it is in one of the classes among those that are left.
        best[left] = best[left ^ first]
        group = left
        while group:
            if group & first:
                best[left] = max(best[left], worth[group] + best[left ^ group])
            group = (group - 1) & left
    return best[-1]
