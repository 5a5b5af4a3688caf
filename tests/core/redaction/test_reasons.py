"""Why records are withheld, against plain sets."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import (
    FILLERS_ONLY,
    IDENTIFIER,
    IDENTIFIERS_ONLY,
    PUBLISHED,
    TOO_FEW,
    TOO_VAGUE,
    RecordTable,
)
from tasks.core.redaction.reasons import withheld_reasons
from tasks.core.rows.levels import VAGUEST
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import Log, hard_logs
from tests.helpers.random_logs import table_of
from tests.oracles.levels import slow_items


def slow_reason(taxonomy: Taxonomy, table: RecordTable, record: int, k: int) -> int:
    form = int(table.form_of[record])
    start, end = table.forms.item_offsets[form : form + 2].tolist()
    if all(kind == IDENTIFIER for kind in table.forms.item_kinds[start:end]):
        return IDENTIFIERS_ONLY
    items = slow_items(table, taxonomy, form)
    if not items:
        return FILLERS_ONLY
    people: dict[int, set[int]] = defaultdict(set)
    for other in range(len(table)):
        for item in slow_items(table, taxonomy, int(table.form_of[other])):
            for node, _ in item.levels:
                people[node].add(int(table.users[other]))
    shared = [level for item in items for level in item.levels if len(people[level[0]]) >= k]
    sharp = [node for node, bits in shared if node < len(table.words) or bits >= VAGUEST]
    return TOO_VAGUE if shared and not sharp else TOO_FEW


@settings(max_examples=80)
@given(hard_logs(), st.integers(1, 4), st.data())
def test_reasons_are_those_of_plain_sets(log: Log, k: int, data: st.DataObject) -> None:
    taxonomy, table = log
    published = np.array([data.draw(st.booleans()) for _ in range(len(table))], dtype=np.bool_)
    found = withheld_reasons(table, published, taxonomy, k=k).tolist()
    assert found == [
        PUBLISHED if published[record] else slow_reason(taxonomy, table, record, k)
        for record in range(len(table))
    ]


def wide_taxonomy() -> Taxonomy:
    """entity over a vague kind, which is over a sharp one of two things; hundreds of others."""
    parents: list[list[int]] = [[], [0], [1], [2], [2], [1], *([0] for _ in range(600))]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    return build_taxonomy(names, names, parents, root="c0.n.01", version="wide")


def test_what_k_people_share_is_sharp_or_too_vague() -> None:
    """3 and 4 share 2, which is sharp; 3 and 5 share but 1, which is not."""
    taxonomy = wide_taxonomy()
    assert taxonomy.information[1] < VAGUEST < taxonomy.information[2]
    for other, expected in ((4, TOO_FEW), (5, TOO_VAGUE)):
        table = table_of(taxonomy, [(0, [3], [], 0), (1, [other], [], 0)])
        nobody = np.zeros(2, dtype=np.bool_)
        assert withheld_reasons(table, nobody, taxonomy, k=2).tolist() == [expected] * 2


def test_fillers_alone_say_nothing() -> None:
    taxonomy = wide_taxonomy()
    table = table_of(taxonomy, [(user, [], ["the"], 0) for user in range(3)])
    nobody = np.zeros(3, dtype=np.bool_)
    assert set(withheld_reasons(table, nobody, taxonomy, k=2).tolist()) == {FILLERS_ONLY}


def test_identifiers_alone_are_their_own_reason() -> None:
    """An empty query, too, has nothing that could be told."""
    taxonomy = wide_taxonomy()
    rows: list[tuple[int, list[int], list[str], int]] = [
        (0, [], ["near"], 0),
        (1, [], ["near", "the"], 0),
        (2, [], [], 0),
    ]
    table = table_of(taxonomy, rows)
    near = table.words.tolist().index("near")
    kinds = np.where(table.forms.item_words == near, IDENTIFIER, table.forms.item_kinds)
    table = replace(table, forms=replace(table.forms, item_kinds=kinds.astype(np.int32)))
    found = withheld_reasons(table, np.zeros(3, dtype=np.bool_), taxonomy, k=2)
    by_user = dict(zip(table.users.tolist(), found.tolist(), strict=True))
    assert by_user == {0: IDENTIFIERS_ONLY, 1: FILLERS_ONLY, 2: IDENTIFIERS_ONLY}
