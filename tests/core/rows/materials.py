"""Logs with all that makes rows hard: fillers, identifiers, two readings, a word said twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from tasks.core.arrays import owners
from tasks.core.records import IDENTIFIER, NO_TIME, WORD, Longs, RecordTable
from tasks.core.rows.levels import LevelsOf
from tasks.core.rows.problem import Problem
from tasks.core.taxonomy import Taxonomy
from tests.helpers.random_logs import HOUR, WORDS, table_of, taxonomies

Log = tuple[Taxonomy, RecordTable]
AMBIGUOUS = ("word1", "word2")
"""Words that some queries say as attributes, others as plain words."""
VAGUEST = 0.3
"""A floor that leaves small taxonomies something to tell."""


@st.composite
def hard_logs(draw: st.DrawFn, *, least: int = 0, most: int = 20, users: int = 6) -> Log:
    """A taxonomy and a log over it; times lie within two months, or are missing."""
    taxonomy = draw(taxonomies())
    concept = st.integers(0, len(taxonomy) - 1)
    time = st.one_of(st.just(NO_TIME), st.integers(0, 50 * 24).map(lambda hour: hour * HOUR))
    words = st.lists(st.sampled_from((*WORDS, *AMBIGUOUS)), max_size=3)
    row = st.tuples(st.integers(0, users - 1), st.lists(concept, max_size=3), words, time)
    rows = draw(st.lists(row, min_size=least, max_size=most))
    return taxonomy, _with_identifiers(draw, table_of(taxonomy, rows))


def forms_of(problem: Problem[LevelsOf]) -> Longs:
    """Form of each unit."""
    return owners(problem.unit_offsets)


def _with_identifiers(draw: st.DrawFn, table: RecordTable) -> RecordTable:
    """Words of any bits; some of them name somebody."""
    count = len(table.words)
    bits = draw(st.lists(st.sampled_from([0.5, 1.0, 2.5, 9.0]), min_size=count, max_size=count))
    hidden = draw(st.sets(st.sampled_from(WORDS), max_size=1))
    kinds = [
        IDENTIFIER if kind == WORD and table.words[word] in hidden else kind
        for kind, word in zip(table.forms.item_kinds, table.forms.item_words, strict=True)
    ]
    forms = replace(table.forms, item_kinds=np.array(kinds, dtype=np.int32))
    return replace(table, forms=forms, word_bits=np.array(bits, dtype=np.float64))
