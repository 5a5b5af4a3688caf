"""Hypothesis strategies: small taxonomies, and record tables over them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from tasks.core.detection.readings import Item, pack_readings
from tasks.core.record_table import build_record_table, find_forms
from tasks.core.records import Floats, RecordTable, Strings
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.core.texts import Texts


@st.composite
def taxonomies(draw: st.DrawFn, *, most: int = 14) -> Taxonomy:
    """A random acyclic taxonomy; concept 0 is the root, some concepts hang under nothing."""
    count = draw(st.integers(2, most))
    parents: list[list[int]] = [[]]
    for concept in range(1, count):
        above = st.integers(0, concept - 1)
        parents.append(sorted(draw(st.sets(above, max_size=2))))
    names = [f"c{concept}.n.01" for concept in range(count)]
    words = [f"concept {concept}" for concept in range(count)]
    return build_taxonomy(names, words, parents, root="c0.n.01", version="random")


def equal_bits(words: Strings) -> Floats:
    """Words that all say the same."""
    return np.full(len(words), 10.0)


def spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand that are parted by single blanks."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def table_of(
    taxonomy: Taxonomy,
    rows: Sequence[tuple[int, Sequence[int], Sequence[str], int]],
    *,
    threshold: float = 0.8,
    inclusive: bool = False,
) -> RecordTable:
    """A record table from rows of (user, concepts, plain words, time)."""
    items = [
        [*(Item(w, -1) for w in words), *(Item(f"word{c}", c) for c in concepts)]
        for _, concepts, words, _ in rows
    ]
    texts = [" ".join(item.words for item in row) for row in items]
    distinct = sorted(set(texts))
    readings = pack_readings((spans(text), items[texts.index(text)]) for text in distinct)
    text_of = np.array([distinct.index(text) for text in texts], dtype=np.int32)
    return build_record_table(
        find_forms(
            *(Texts.of(distinct), readings, text_of, taxonomy),
            threshold=threshold,
            inclusive=inclusive,
        ),
        text_of,
        np.array([user for user, _, _, _ in rows], dtype=np.int32),
        np.array([time for _, _, _, time in rows], dtype=np.int64),
        stop_words=frozenset({"the"}),
        bits_of=equal_bits,
    )


WORDS = ("the", "cheap", "best", "near", "me", "free")
HOUR = 3600


@st.composite
def tables(
    draw: st.DrawFn, *, least: int = 1, most: int = 25, users: int = 8, threshold: float = 0.8
) -> tuple[Taxonomy, RecordTable]:
    """A random taxonomy and a random log over it; a few rows hold no attribute."""
    taxonomy = draw(taxonomies())
    concepts = st.lists(st.integers(0, len(taxonomy) - 1), max_size=4, unique=True)
    words = st.lists(st.sampled_from(WORDS), max_size=3, unique=True)
    row = st.tuples(
        st.integers(0, users - 1),
        concepts,
        words,
        st.integers(0, 60 * 24).map(lambda hour: hour * HOUR),
    )
    rows = draw(st.lists(row, min_size=least, max_size=most))
    return taxonomy, table_of(taxonomy, rows, threshold=threshold)


def noun_rows(
    taxonomy: Taxonomy, generator: np.random.Generator, *, records: int, users: int, most_nouns: int
) -> list[tuple[int, list[int], list[str], int]]:
    """Records of one to so many of 600 nouns each, a few of them frequent."""
    nouns = [i for i, name in enumerate(taxonomy.names) if ".n.01" in name]
    vocabulary = generator.permutation(nouns)[:600]
    shares = 1.0 / (np.arange(600) + 8)
    rows: list[tuple[int, list[int], list[str], int]] = []
    for _ in range(records):
        size = int(generator.integers(1, most_nouns + 1))
        drawn = generator.choice(vocabulary, size, replace=False, p=shares / shares.sum())
        rows.append((int(generator.integers(users)), drawn.tolist(), [], 0))
    return rows
