"""All concepts that queries mention, before similar ones are represented by one (Algorithm 1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count, pairwise

import numpy as np

from tasks.core.arrays import (
    distinct,
    owners,
    parts_of,
    ragged_from_keys,
    ragged_keys,
    take_ragged,
    taken,
)
from tasks.core.columns import row_parts
from tasks.core.records import AttributeSets, Flags, Ints, Longs, RecordTable


def mentions_of(table: RecordTable, records: Ints | Longs) -> tuple[Ints, AttributeSets]:
    """The concepts that some records mention, each once, ascending.

    Returns:
        For each record which set it mentions, and the distinct sets.
    """
    set_of_form = np.zeros(len(table.forms), dtype=np.int32)
    for part in row_parts(len(records)):
        set_of_form[table.form_of[records[part]]] = 1
    forms = np.flatnonzero(set_of_form)
    numbers: dict[bytes, int] = defaultdict(count().__next__)
    found = map(numbers.__getitem__, concepts_of(table, forms))
    set_of_form[forms] = np.fromiter(found, dtype=np.int32, count=len(forms))
    concepts = np.frombuffer(b"".join(numbers), dtype=np.int32)
    offsets = np.cumsum([0, *(len(own) // concepts.itemsize for own in numbers)], dtype=np.int64)
    return taken(set_of_form, taken(table.form_of, records)), AttributeSets(offsets, concepts)


def concepts_of(
    table: RecordTable, forms: Ints | Longs, among: Flags | None = None
) -> Iterator[bytes]:
    """The concepts that each of some forms mentions, each once, ascending: their bytes.

    Args:
        among: the concepts that count, shape (concepts,); None: all.
    """
    for part in parts_of(len(forms)):
        offsets, places = take_ragged(table.forms.item_offsets, forms[part])
        concepts = table.forms.item_concepts[places]
        counted = concepts >= 0
        if among is not None:
            counted &= among[concepts]
        keys = distinct(ragged_keys(owners(offsets)[counted], concepts[counted]))
        offsets, concepts = ragged_from_keys(keys, len(offsets) - 1)
        content, width = concepts.tobytes(), concepts.itemsize
        yield from (content[a * width : b * width] for a, b in pairwise(offsets.tolist()))
