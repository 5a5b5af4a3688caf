"""What can be told of queries, item by item, with plain lists and sets."""

from __future__ import annotations

from typing import NamedTuple

from tasks.core.records import ATTRIBUTE, IDENTIFIER, RecordTable
from tasks.core.taxonomy import Taxonomy


class SlowItem(NamedTuple):
    """A word or an attribute of a query.

    Attributes:
        word, concept: what it says and means; -1 if it means nothing known.
        bits: what it holds.
        place: where in the query it first stands, from 0 to 1.
        levels: nodes and what they tell, the word first, then by bits.
    """

    word: int
    concept: int
    bits: float
    place: float
    levels: list[tuple[int, float]]


def slow_items(
    table: RecordTable,
    taxonomy: Taxonomy,
    form: int,
    *,
    vaguest: float = 0.0,
    fillers: bool = False,
) -> list[SlowItem]:
    """The items of a form by word; of a word said twice the first."""
    forms = table.forms
    start, end = int(forms.item_offsets[form]), int(forms.item_offsets[form + 1])
    found: dict[int, SlowItem] = {}
    for item in range(start, end):
        word, concept = int(forms.item_words[item]), int(forms.item_concepts[item])
        kind, silent = forms.item_kinds[item], bool(table.fillers[word])
        if kind == IDENTIFIER or (silent and kind != ATTRIBUTE and not fillers) or word in found:
            continue
        own = float(table.word_bits[word])
        bits = max(own, float(taxonomy.information[concept])) if concept >= 0 else own
        bits = 0.0 if silent and concept < 0 else bits
        place = (item - start + 0.5) / (end - start)
        above = [] if concept < 0 else [concept, *taxonomy.ancestors_of(concept).tolist()]
        levels = _concept_levels(table, taxonomy, above, vaguest)
        found[word] = SlowItem(word, concept, bits, place, [(word, bits), *levels])
    return [found[word] for word in sorted(found)]


def _concept_levels(
    table: RecordTable, taxonomy: Taxonomy, concepts: list[int], vaguest: float
) -> list[tuple[int, float]]:
    told = [(len(table.words) + c, float(taxonomy.information[c])) for c in concepts]
    sharp = [(node, bits) for node, bits in told if bits > 0 and bits >= vaguest]
    return sorted(sharp, key=lambda level: (-level[1], level[0]))
