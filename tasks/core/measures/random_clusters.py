"""Random classes of the same sizes: the baseline that information kept has to beat (Figure 6).

Records trade places at random while the classes keep their sizes. Both then tell what is true of
all their records, so that nothing but who stands with whom is compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tasks.core.arrays import distinct, group_by, owners, sums_by
from tasks.core.columns import counts_of, row_parts
from tasks.core.measures.information_loss import percent_of
from tasks.core.records import Ints, Longs, RecordTable, Release
from tasks.core.rows.levels import ItemLevels, LevelsOf
from tasks.core.rows.told import told_of
from tasks.schema import RandomClusters

SEED = 4
PERMUTATIONS = 5
MOST_RECORDS = 3_000
"""Of larger logs about so many records are compared."""
LARGE = 100
"""A class is large if its share of the sample has so many records."""


def compare_with_random(
    table: RecordTable,
    release: Release,
    levels: LevelsOf,
    *,
    most_records: int = MOST_RECORDS,
) -> RandomClusters:
    """Information kept, in percent, by the classes as they are and by each permutation."""
    random = np.random.default_rng(SEED)
    sizes = counts_of(release.class_of, release.class_count)
    records = _sample(release, sizes, most_records, random)
    found, labels = np.unique(release.class_of[records], return_inverse=True)
    orders = [records, *(random.permutation(records) for _ in range(PERMUTATIONS))]
    forms = distinct(table.form_of[records].astype(np.int64))
    own = levels.of(forms)
    form_of = [np.searchsorted(forms, table.form_of[order]) for order in orders]
    held = sums_by(owners(own.item_offsets), own.item_bits, len(own))
    whole = float(held[form_of[0]].sum())
    kept = [round(percent_of(_told(each, labels, own), whole), 3) for each in form_of]
    return {
        "clusters": len(found),
        "records": len(records),
        "of_records": int(sizes.sum()),
        "own_percent": kept[0],
        "random_percent": kept[1:] if len(records) else [],
    }


def _told(forms: Longs, labels: Longs, levels: ItemLevels) -> float:
    """Bits that the records keep if those of one label tell what is true of all of them."""
    first, query_of = group_by(labels, forms)
    told = told_of(labels[first], forms[first], levels, int(labels.max(initial=-1)) + 1)
    return float((told.bits * np.bincount(query_of, minlength=len(first))[told.queries]).sum())


def _sample(
    release: Release, sizes: Longs, most_records: int, random: np.random.Generator
) -> Longs:
    """All published records, or a share of them, ascending.

    The share is one of whole small classes, for their size matters, and of the records of each
    large one: it would make up most of the sample, or be missing from it.
    """
    none = np.zeros(0, dtype=np.int64)
    if sizes.sum() <= most_records:
        return np.concatenate([none, *(records for records, _ in _published(release))])
    share = most_records / sizes.sum()
    large = sizes * share >= LARGE
    of_large = [
        records[large[labels] & (random.random(len(records)) < share)]
        for records, labels in _published(release)
    ]
    whole = ~large & (random.random(len(large)) < share)
    of_small = [records[whole[labels]] for records, labels in _published(release)]
    return np.sort(np.concatenate([*of_large, *of_small]))


def _published(release: Release) -> Iterator[tuple[Longs, Ints]]:
    """Published records, and their classes."""
    for rows in row_parts(len(release.class_of)):
        records = np.flatnonzero(release.class_of[rows] >= 0) + rows.start
        yield records, release.class_of[records]
