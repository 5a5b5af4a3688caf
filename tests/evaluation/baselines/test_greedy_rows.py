"""The greedy floor against the same by its definition, and what holds for every release of it."""

from __future__ import annotations

from itertools import chain, combinations, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import people_per_label
from tasks.core.records import RecordTable
from tasks.core.rows.levels import item_levels
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.evaluation.baselines.greedy_rows import LARGEST, Row, greedy_rows
from tests.helpers.random_logs import table_of, tables
from tests.oracles.best_rows import Items, items_of_forms
from tests.oracles.redaction import rows_of

VAGUEST = 0.2


def supports(items: Items, row: Row) -> bool:
    """Whether different items have the row's nodes among their levels."""
    return any(
        all(node in item for node, item in zip(row, chosen, strict=True))
        for chosen in permutations(items, len(row))
    )


def by_definition(table: RecordTable, taxonomy: Taxonomy, k: int) -> dict[Row, list[int]]:
    """The records of each row, trying all sets of up to three nodes."""
    forms = items_of_forms(item_levels(table, taxonomy, vaguest=VAGUEST))
    bits: dict[int, float] = {}
    for node, told in (pair for items in forms for item in items for pair in item.items()):
        bits[node] = max(told, bits.get(node, 0.0))
    rows = chain.from_iterable(combinations(sorted(bits), size) for size in range(1, LARGEST + 1))
    left = set(range(len(table)))
    found: dict[Row, list[int]] = {}
    for row in sorted(rows, key=lambda row: (-round(sum(bits[n] for n in row), 6), row)):
        own = [record for record in sorted(left) if supports(forms[table.form_of[record]], row)]
        if len({int(table.users[record]) for record in own}) >= k:
            found[row] = own
            left -= set(own)
    return found


@settings(max_examples=150)
@given(tables(most=12, users=5), st.integers(2, 3))
def test_rows_are_those_of_the_definition(drawn: tuple[Taxonomy, RecordTable], k: int) -> None:
    taxonomy, table = drawn
    release, words = greedy_rows(table, taxonomy, k, vaguest=VAGUEST), len(table.words)
    found = {
        tuple(term if term >= 0 else words - 1 - term for term in row.terms): row.records
        for row in rows_of(release)
    }
    assert found == by_definition(table, taxonomy, k)


@settings(max_examples=60)
@given(tables(most=25), st.integers(2, 4))
def test_k_people_behind_every_row_and_every_concept_true(
    drawn: tuple[Taxonomy, RecordTable], k: int
) -> None:
    taxonomy, table = drawn
    release = greedy_rows(table, taxonomy, k, vaguest=VAGUEST)
    assert (people_per_label(release.class_of, table.users, release.class_count) >= k).all()
    assert ((release.reasons == 0) == release.published).all()
    for row in rows_of(release):
        assert row.concepts == [-1 - term for term in row.terms if term < 0]
        for record in row.records:
            own = table.sets.row(table.set_of[record]) if table.set_of[record] >= 0 else ()
            form = table.form_of[record]
            bounds = slice(*table.forms.item_offsets[form : form + 2])
            held = {*own, *table.forms.item_concepts[bounds].tolist()}
            above = {int(c) for concept in held - {-1} for c in taxonomy.ancestors_of(concept)}
            assert set(row.concepts) <= held | above
            words = {term for term in row.terms if term >= 0}
            assert words <= set(table.forms.item_words[bounds].tolist())


def two_branches() -> Taxonomy:
    """c3 and c4 below c1, c5 below c2."""
    names = [f"c{concept}.n.01" for concept in range(6)]
    parents: list[list[int]] = [[], [0], [0], [1], [1], [2]]
    return build_taxonomy(names, names, parents, root="c0.n.01", version="hand")


def test_the_word_that_k_people_share_goes_before_what_is_above_it() -> None:
    """Two say c3 and two c4: to two people each their word, to three what lies above both."""
    taxonomy = two_branches()
    table = table_of(taxonomy, [(user, [3 if user < 2 else 4], [], 0) for user in range(4)])
    told = greedy_rows(table, taxonomy, 2, vaguest=VAGUEST)
    assert [table.words[term] for term in told.terms] == ["word3", "word4"]
    assert told.clusters.tolist() == [-1, -1]
    told = greedy_rows(table, taxonomy, 3, vaguest=VAGUEST)
    assert (told.terms.tolist(), told.concepts.tolist()) == ([-2], [1])
    assert told.clusters.tolist() == [0]


def test_rows_of_the_same_concepts_are_one_cluster() -> None:
    """A word beside the concept, and another one: two rows, one cluster."""
    taxonomy = two_branches()
    rows = [(u, [3 + u % 2], ["cheap" if u < 2 else "best"], 0) for u in range(4)]
    told = greedy_rows(table_of(taxonomy, rows), taxonomy, 2, vaguest=VAGUEST)
    assert np.diff(told.term_offsets).tolist() == [2, 2]
    assert told.clusters.tolist() == [0, 0]
