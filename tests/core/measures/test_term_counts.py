"""Counts of terms: who is counted in what, by hand and by a slow version, and the bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.measures.term_counts import term_counts
from tasks.core.records import RecordTable
from tasks.core.taxonomy import Taxonomy
from tests.helpers.random_logs import table_of, tables
from tests.helpers.strategies import mini_taxonomy


def counted(table: RecordTable, taxonomy: Taxonomy, most: int, seed: int = 0) -> dict[object, int]:
    random = np.random.default_rng(seed)
    found = term_counts(table, taxonomy, most=most, random=random, vaguest=0.0)
    words = zip(table.words[found.words], found.word_people.tolist(), strict=True)
    concepts = zip(found.concepts.tolist(), found.concept_people.tolist(), strict=True)
    return {**dict(words), **dict(concepts)}


def test_a_concept_counts_whoever_means_it_or_anything_below_it() -> None:
    """5 and 6 lie below 3, and 3 below 1; fillers are not counted, nor is anybody twice."""
    rows = [(0, [5], ["cheap", "the"], 0), (0, [5], [], 1), (1, [6], [], 2)]
    found = counted(table_of(mini_taxonomy(), rows), mini_taxonomy(), most=99)
    assert found["cheap"] == found[5] == found[6] == found["word5"] == 1
    assert found[3] == 2
    assert "the" not in found


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 4), st.integers(0, 9))
def test_nobody_counts_in_more_terms_than_the_bound(
    log: tuple[Taxonomy, RecordTable], most: int, seed: int
) -> None:
    """Without a bound as a slow version has it; with it at most so many terms of each kind."""
    taxonomy, table = log
    held: dict[object, set[int]] = {}
    for form, user in zip(table.form_of.tolist(), table.users.tolist(), strict=True):
        for item in range(*table.forms.item_offsets[form : form + 2].tolist()):
            word, concept = table.forms.item_words[item], int(table.forms.item_concepts[item])
            if not table.fillers[word]:
                held.setdefault(table.words[word], set()).add(user)
            for above in (
                [concept, *taxonomy.ancestors_of(concept).tolist()] if concept >= 0 else ()
            ):
                if taxonomy.information[above] > 1e-9:
                    held.setdefault(above, set()).add(user)
    assert counted(table, taxonomy, most=999) == {term: len(own) for term, own in held.items()}
    bounded = counted(table, taxonomy, most, seed)
    for kind in (str, int):
        sizes = [
            min(most, sum(user in own for t, own in held.items() if isinstance(t, kind)))
            for user in set(table.users.tolist())
        ]
        assert sum(n for t, n in bounded.items() if isinstance(t, kind)) == sum(sizes)
