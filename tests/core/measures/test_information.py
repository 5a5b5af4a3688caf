"""Information kept and truth against plain sets, on random logs and any release of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import ragged_of
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information import Information, Truth, information_kept, truth_of
from tasks.core.records import (
    ATTRIBUTE,
    IDENTIFIER,
    NO_TIME,
    TIME_DAY,
    TIME_HOUR,
    TIME_MONTH,
    TIME_NONE,
    WORD,
    RecordTable,
    Release,
    too_few_unless_published,
)
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import HOUR, WORDS, table_of, taxonomies

Row = tuple[list[int], list[int], int]
"""Terms, concepts and precision of a class."""
TIME_BITS = (0.0, np.log2(3), np.log2(92), np.log2(2208))


def release_of(class_of: Sequence[int], rows: Sequence[Row]) -> Release:
    labels = np.array(class_of, dtype=np.int32)
    term_offsets, terms = ragged_of([row[0] for row in rows])
    concept_offsets, concepts = ragged_of([sorted(set(row[1])) for row in rows])
    return Release(
        class_of=labels,
        term_offsets=term_offsets,
        terms=terms,
        concept_offsets=concept_offsets,
        concepts=concepts,
        times=np.zeros(len(rows), dtype=np.int64),
        precisions=np.array([row[2] for row in rows], dtype=np.int32),
        clusters=np.zeros(len(rows), dtype=np.int32),
        reasons=too_few_unless_published(labels),
    )


@st.composite
def logs(draw: st.DrawFn) -> tuple[Taxonomy, RecordTable, TopicMap]:
    """Logs with fillers, identifiers, words said twice, records without time, words of any bits."""
    taxonomy = draw(taxonomies())
    concept = st.integers(0, len(taxonomy) - 1)
    time = st.one_of(st.just(NO_TIME), st.integers(0, 900).map(lambda hour: hour * HOUR))
    words = st.lists(st.sampled_from(WORDS), max_size=4)
    row = st.tuples(st.integers(0, 5), st.lists(concept, max_size=3), words, time)
    table = table_of(taxonomy, draw(st.lists(row, max_size=20)))
    count = len(table.words)
    bits = draw(st.lists(st.sampled_from([0.5, 1.0, 2.5, 9.0]), min_size=count, max_size=count))
    hidden = set(draw(st.lists(st.sampled_from(WORDS), max_size=2)))
    kinds = [
        IDENTIFIER if kind == WORD and table.words[word] in hidden else kind
        for kind, word in zip(table.forms.item_kinds, table.forms.item_words, strict=True)
    ]
    forms = replace(table.forms, item_kinds=np.array(kinds, dtype=np.int32))
    masks = np.array([draw(st.integers(0, 3)) for _ in range(len(taxonomy))], dtype=np.uint32)
    known = replace(table, forms=forms, word_bits=np.array(bits, dtype=np.float64))
    return taxonomy, known, TopicMap(("first", "second"), masks)


@st.composite
def releases(draw: st.DrawFn, taxonomy: Taxonomy, table: RecordTable) -> Release:
    """Any rows for any records: true, false, with concepts that only the query names."""
    concept = st.integers(0, len(taxonomy) - 1)
    word = st.integers(0, max(0, len(table.words) - 1)) if len(table.words) else st.nothing()
    term = st.one_of(word, concept.map(lambda own: -1 - own))
    row = st.tuples(
        st.lists(term, max_size=4, unique=True),
        st.lists(concept, max_size=3),
        st.sampled_from([TIME_NONE, TIME_MONTH, TIME_DAY, TIME_HOUR]),
    )
    rows = draw(st.lists(row, max_size=5))
    return release_of([draw(st.integers(-1, len(rows) - 1)) for _ in range(len(table))], rows)


class Slow:
    """The definitions, record by record, item by item."""

    def __init__(self, taxonomy: Taxonomy, table: RecordTable, release: Release) -> None:
        self.taxonomy, self.table, self.release = taxonomy, table, release

    def items(self, record: int) -> Iterator[tuple[int, int]]:
        """Word and concept (or -1) of what a record says that can be told, a word once."""
        forms, form = self.table.forms, self.table.form_of[record]
        met: set[int] = set()
        for item in range(forms.item_offsets[form], forms.item_offsets[form + 1]):
            word, kind = int(forms.item_words[item]), forms.item_kinds[item]
            filler = kind == WORD and bool(self.table.fillers[word])
            if kind != IDENTIFIER and not filler and word not in met:
                met.add(word)
                yield word, int(forms.item_concepts[item])

    def above(self, concept: int) -> set[int]:
        """The concept, its ancestors, and what the longest path up ends in."""
        found = {concept, *self.taxonomy.ancestors_of(concept).tolist()}
        while (parent := int(self.taxonomy.main_parents[concept])) >= 0:
            concept = parent
            found.add(concept)
        return found

    def told(self, record: int) -> tuple[set[int], set[int]]:
        """Words and concepts of a record's row."""
        release, own = self.release, self.release.class_of[record]
        if own < 0:
            return set(), set()
        terms = release.terms[release.term_offsets[own] : release.term_offsets[own + 1]].tolist()
        bounds = release.concept_offsets
        concepts = {*release.concepts[bounds[own] : bounds[own + 1]].tolist()}
        return {t for t in terms if t >= 0}, concepts | {-1 - t for t in terms if t < 0}

    def item_bits(self, word: int, concept: int, record: int) -> tuple[float, float]:
        """Bits kept and held of an item."""
        words, concepts = self.told(record)
        bits, whole = self.taxonomy.information, float(self.table.word_bits[word])
        if concept >= 0:
            whole = max(whole, float(bits[concept]))
        if word in words:
            return whole, whole
        true = concepts & self.above(concept) if concept >= 0 else set()
        return max((float(bits[c]) for c in true), default=0.0), whole

    def information(self, topics: TopicMap, finest: int) -> Information:
        sums = {name: [0.0, 0.0] for name in ("word", "concept", *topics.names, "other")}
        for record in range(len(self.table)):
            for word, concept in self.items(record):
                topic = self.topic(concept, topics)
                for name in ("word",) if concept < 0 else ("concept", topic):
                    for place, bits in enumerate(self.item_bits(word, concept, record)):
                        sums[name][place] += bits
        times = self.times(finest)
        every = [sum(own) for own in zip(sums["word"], sums["concept"], times, strict=True)]
        by_topic = {name: percent(*sums[name]) for name in (*topics.names, "other")}
        return Information(
            percent(*every),
            percent(*sums["word"]),
            percent(*sums["concept"]),
            percent(*times),
            {name: value for name, value in by_topic.items() if sums[name][1] > 0},
        )

    @staticmethod
    def topic(concept: int, topics: TopicMap) -> str:
        mask = int(topics.masks[concept]) if concept >= 0 else 0
        return next((n for bit, n in enumerate(topics.names) if mask >> bit & 1), "other")

    def times(self, finest: int) -> tuple[float, float]:
        """Bits kept and held."""
        timed = [r for r in range(len(self.table)) if self.table.times[r] != NO_TIME]
        rows = [int(self.release.class_of[record]) for record in timed]
        told = [min(int(self.release.precisions[row]), finest) for row in rows if row >= 0]
        return sum(TIME_BITS[p] for p in told), len(timed) * TIME_BITS[finest]

    def truth(self) -> Truth:
        pairs = []
        rows = []
        for record in np.flatnonzero(self.release.published).tolist():
            forms, form = self.table.forms, self.table.form_of[record]
            places = range(forms.item_offsets[form], forms.item_offsets[form + 1])
            own = {int(forms.item_concepts[i]) for i in places if forms.item_kinds[i] == ATTRIBUTE}
            true = set().union(*map(self.above, own))
            said = [concept in true for concept in self.told(record)[1]]
            pairs += said
            rows.append(all(said))
        return Truth(
            sum(pairs) / len(pairs) if pairs else 1.0, sum(rows) / len(rows) if rows else 1.0
        )


def percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole > 0 else 0.0


def figures(information: Information) -> list[float]:
    own = information
    return [own.kept_percent, own.words_percent, own.concepts_percent, own.time_percent]


@settings(max_examples=400)
@given(st.data())
def test_any_release_keeps_what_plain_sets_say(data: st.DataObject) -> None:
    taxonomy, table, topics = data.draw(logs())
    release = data.draw(releases(taxonomy, table))
    finest = data.draw(st.sampled_from([TIME_NONE, TIME_MONTH, TIME_DAY, TIME_HOUR]))
    found = information_kept(table, release, taxonomy, topics, finest=finest)
    expected = Slow(taxonomy, table, release).information(topics, finest)
    assert figures(found) == pytest.approx(figures(expected))
    assert found.by_topic == pytest.approx(expected.by_topic)
    assert list(found.by_topic) == list(expected.by_topic)
    assert all(-1e-9 <= value <= 100 + 1e-9 for value in figures(found))


@settings(max_examples=400)
@given(st.data())
def test_any_release_is_as_true_as_plain_sets_say(data: st.DataObject) -> None:
    taxonomy, table, _ = data.draw(logs())
    release = data.draw(releases(taxonomy, table))
    assert truth_of(table, release, taxonomy) == Slow(taxonomy, table, release).truth()


@given(logs())
def test_nothing_published_keeps_nothing_and_says_nothing_false(
    log: tuple[Taxonomy, RecordTable, TopicMap],
) -> None:
    taxonomy, table, topics = log
    nothing = release_of([-1] * len(table), [])
    found = information_kept(table, nothing, taxonomy, topics, finest=TIME_HOUR)
    assert figures(found) == [0.0] * 4
    assert set(found.by_topic.values()) <= {0.0}
    assert truth_of(table, nothing, taxonomy) == Truth(1.0, 1.0)


@given(logs())
def test_everything_as_typed_keeps_everything(
    log: tuple[Taxonomy, RecordTable, TopicMap],
) -> None:
    """Words alone, one class per form: an attribute told by its word needs no concept."""
    taxonomy, table, topics = log
    forms = table.forms
    bounds = zip(forms.item_offsets[:-1], forms.item_offsets[1:], strict=True)
    said = [forms.item_words[start:end].tolist() for start, end in bounds]
    release = release_of(table.form_of.tolist(), [(row, [], TIME_HOUR) for row in said])
    found = information_kept(table, release, taxonomy, topics, finest=TIME_HOUR)
    slow = Slow(taxonomy, table, release)
    plain = [concept < 0 for r in range(len(table)) for _, concept in slow.items(r)]
    timed = bool((table.times != NO_TIME).any())
    held = [bool(plain) or timed, any(plain), not all(plain), timed]
    assert figures(found) == pytest.approx([100.0 if some else 0.0 for some in held])
    assert list(found.by_topic.values()) == pytest.approx([100.0] * len(found.by_topic))
    assert truth_of(table, release, taxonomy) == Truth(1.0, 1.0)


@pytest.fixture
def taxonomy() -> Taxonomy:
    """entity over a and b; a over a1 and a2, b over b1."""
    names = ["entity", "a", "b", "a1", "a2", "b1"]
    return build_taxonomy(names, names, [[], [0], [0], [1], [1], [2]], root="entity", version="")


def kept(table: RecordTable, release: Release, taxonomy: Taxonomy) -> float:
    topics = TopicMap((), np.zeros(len(taxonomy), dtype=np.uint32))
    return information_kept(table, release, taxonomy, topics, finest=TIME_MONTH).concepts_percent


def test_a_false_concept_keeps_nothing(taxonomy: Taxonomy) -> None:
    """A sibling, a child and a stranger are false; what lies above is true, and keeps its bits."""
    table = table_of(taxonomy, [(user, [1], [], 0) for user in range(2)])
    for false in (2, 3, 4, 5):
        release = release_of([0, 0], [([-1 - false], [false], TIME_NONE)])
        assert kept(table, release, taxonomy) == 0.0
        assert truth_of(table, release, taxonomy) == Truth(0.0, 0.0)


def test_what_lies_above_keeps_its_own_bits(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(user, [3], [], 0) for user in range(2)])
    whole = max(10.0, float(taxonomy.information[3]))
    for above in (3, 1, 0):
        release = release_of([0, 0], [([-1 - above], [above], TIME_NONE)])
        bits = float(taxonomy.information[above])
        assert kept(table, release, taxonomy) == pytest.approx(100 * bits / whole)
        assert truth_of(table, release, taxonomy) == Truth(1.0, 1.0)


def test_the_most_informative_true_thing_counts_and_no_other(taxonomy: Taxonomy) -> None:
    """One record of two says a1, the other b1; both publish a, a1 and b."""
    table = table_of(taxonomy, [(0, [3], [], 0), (1, [5], [], 0)])
    release = release_of([0, 0], [([], [1, 2, 3], TIME_NONE)])
    bits = taxonomy.information
    expected = 100 * (bits[3] + bits[2]) / 20.0
    assert kept(table, release, taxonomy) == pytest.approx(expected)
    assert truth_of(table, release, taxonomy) == Truth(3 / 6, 0.0)
