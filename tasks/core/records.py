"""The values that travel between phases: small, immutable, integers after analysis.

Arrays are read-only. Fields that hold raw text are kept out of ``repr`` so that an accidental
log line shows nothing. Prefect walks lists, tuples and dataclasses but not arrays, so whatever
grows with the log is an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tasks.core import columns
from tasks.core.choices import Time
from tasks.core.counted import PEOPLE, Counted
from tasks.schema import FileRead

if TYPE_CHECKING:
    # They are made of arrays of the kinds that are named below.
    from tasks.core.languages import Languages
    from tasks.core.texts import TextColumn

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Narrow = NDArray[np.signedinteger[Any]]
"""Of the narrowest kind that holds all values."""
Floats = NDArray[np.float64]
Strings = NDArray[np.object_]
Flags = NDArray[np.bool_]

NO_TIME: Final = np.iinfo(np.int64).min
"""Stands for a missing time in arrays of seconds since 1970 (UTC)."""


def freeze(value: Any) -> None:
    """Make every array field of a dataclass read-only."""
    for entry in fields(value):
        content = getattr(value, entry.name)
        if isinstance(content, np.ndarray):
            content.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class QueryLog:
    """What `read` found: one entry per accepted row, and the rows that were set aside.

    Attributes:
        texts: query text, one spelling for each (`normalise`).
        users: rank of the row's user id among the sorted distinct ids, shape (n,); the ids
            themselves end here.
        times: seconds since 1970 (UTC) or NO_TIME, shape (n,).
        people: for each rank a number that stands for the same person in every log of a store
            (a keyed hash of the id), shape (users,).
        sources: names of the files read, in the order in which they were read.
        origins: index into `sources` for each row, shape (n,).
        rows: its row number in that file, counted from 1, shape (n,).
        reject_sources: index into `sources` for each row set aside, shape (r,).
        reject_rows: its row number in that file, counted from 1, shape (r,).
        reject_reasons: why, in words without any of its text, shape (r,).
        counted: what `users` are: people, sessions or rows, and by which column.
        files: how each file with columns was read.
        warnings: what the user should know of the columns, by their names.
        languages: what languages the queries are in, once that is measured.
        has_times: False if the log has no time column.
        passed_over: requests and events in the files that are no searches.
    """

    texts: TextColumn = field(repr=False)
    users: Ints = field(repr=False)
    times: Longs = field(repr=False)
    people: Longs = field(repr=False)
    sources: tuple[str, ...]
    origins: Narrow = field(repr=False)
    rows: Ints | Longs = field(repr=False)
    reject_sources: Ints = field(repr=False)
    reject_rows: Longs = field(repr=False)
    reject_reasons: Strings = field(repr=False)
    has_times: bool
    counted: Counted = PEOPLE
    files: tuple[FileRead, ...] = ()
    warnings: tuple[str, ...] = ()
    languages: Languages | None = None
    passed_over: int = 0

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def user_count(self) -> int:
        return int(self.users.max()) + 1 if len(self.users) else 0

    @property
    def rows_read(self) -> int:
        """Rows seen, accepted or not."""
        return len(self.texts) + len(self.reject_rows)

    def only(self, chosen: Flags, chosen_rejects: Flags) -> QueryLog:
        """Some of the rows and of the rejects, as if the others had never been in the files."""
        users = columns.kept(self.users, chosen)
        present = np.zeros(len(self.people), dtype=np.bool_)
        for own in columns.row_parts(len(users)):
            present[users[own]] = True
        ranks = np.cumsum(present, dtype=np.int32) - 1
        return replace(
            self,
            texts=self.texts.only(chosen),
            users=columns.computed(len(users), np.int32, lambda own: ranks[users[own]]),
            times=columns.kept(self.times, chosen),
            people=self.people[present],
            origins=columns.kept(self.origins, chosen),
            rows=cast("Ints | Longs", columns.kept(self.rows, chosen)),
            reject_sources=self.reject_sources[chosen_rejects],
            reject_rows=self.reject_rows[chosen_rejects],
            reject_reasons=self.reject_reasons[chosen_rejects],
        )

    def set_aside(self, rows: Flags, reason: str) -> QueryLog:
        """The log with some of its rows among the rejects, which stay in the order of the files."""
        aside = columns.places_of(rows)
        sources = np.concatenate([self.reject_sources, self.origins[aside]])
        numbers = np.concatenate([self.reject_rows, self.rows[aside]])
        reasons = np.concatenate(
            [self.reject_reasons, np.full(len(aside), reason, dtype=np.object_)]
        )
        order = np.lexsort((numbers, sources))
        return replace(
            self.only(~rows, np.ones(len(self.reject_rows), dtype=np.bool_)),
            reject_sources=sources[order],
            reject_rows=numbers[order],
            reject_reasons=reasons[order],
        )


WORD, ATTRIBUTE, IDENTIFIER = 0, 1, 2
"""Kinds of items of a query: a plain word, an attribute, something that is never published."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryForms:
    """The distinct queries of a log, cut into items, in canonical order.

    Canonical order is by attribute set, then by weights, then by text: it does not depend on
    the order of the rows, and queries of equal sets stand side by side.

    Attributes:
        item_offsets: rows of items: form f holds items item_offsets[f] to item_offsets[f + 1].
        item_words: what the item says, as an index into RecordTable.words.
        item_kinds: WORD, ATTRIBUTE or IDENTIFIER.
        item_concepts: the concept of an attribute as mentioned, else -1.
        item_identifiers: the kind of an identifier, in the order of KINDS, else -1.
        item_attributes: the attribute (0, 1, … within the form) that stands for it, else -1.
        attribute_offsets, attributes, weights: the attributes of each form after Algorithm 1,
            ascending, and how many mentions each stands for.
    """

    item_offsets: Longs
    item_words: Ints
    item_kinds: Narrow
    item_concepts: Ints
    item_identifiers: Narrow
    item_attributes: Narrow
    attribute_offsets: Longs
    attributes: Ints
    weights: Ints

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.item_offsets) - 1

    def part(self, start: int, end: int) -> QueryForms:
        """Neighbouring forms, without a copy of their items."""
        items, attributes = (
            slice(offsets[start], offsets[end])
            for offsets in (self.item_offsets, self.attribute_offsets)
        )
        return QueryForms(
            item_offsets=self.item_offsets[start : end + 1] - self.item_offsets[start],
            item_words=self.item_words[items],
            item_kinds=self.item_kinds[items],
            item_concepts=self.item_concepts[items],
            item_identifiers=self.item_identifiers[items],
            item_attributes=self.item_attributes[items],
            attribute_offsets=self.attribute_offsets[start : end + 1]
            - self.attribute_offsets[start],
            attributes=self.attributes[attributes],
            weights=self.weights[attributes],
        )


FORMS_AT_A_TIME: Final = 1 << 17
"""What grows with the items of queries is in memory for so many of them together."""


@dataclass(frozen=True, slots=True, eq=False)
class AttributeSets:
    """The distinct attribute sets of a log in ascending order, as a ragged array."""

    offsets: Longs
    concepts: Ints

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Longs:
        return np.diff(self.offsets)

    def row(self, index: int) -> Ints:
        return self.concepts[self.offsets[index] : self.offsets[index + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class RecordTable:
    """The log after analysis: integers only, records in canonical order (form, time, user).

    Attributes:
        forms: the distinct queries.
        sets: their distinct, non-empty attribute sets.
        set_of_form: set of each form, or -1 for a form without attributes.
        form_of: form of each record, ascending, shape (n,).
        users, times: of each record, shape (n,).
        log_rows: its place in the log, shape (n,).
        words: the vocabulary; only `write` may look at it.
        word_bits: information content of each word in bits, shape of `words`.
        fillers: words that say nothing by themselves (*the*, *how to*), shape of `words`.
        in_doubt: mentions of attributes, over all records, that were taken as sensitive although
            a more common reading of the word is not.
        identifiers: mentions of identifiers, over all records, by kind in the order of KINDS.
    """

    forms: QueryForms
    sets: AttributeSets
    set_of_form: Ints
    form_of: Ints
    users: Ints
    times: Longs
    log_rows: Ints
    words: Strings = field(repr=False)
    word_bits: Floats = field(repr=False)
    fillers: Flags
    in_doubt: int
    identifiers: Longs

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.form_of)

    @property
    def set_of(self) -> Ints:
        """Attribute set of each record, or -1, shape (n,)."""
        return self.set_of_form[self.form_of]

    @property
    def record_offsets(self) -> Longs:
        """Form f is that of the records record_offsets[f] to record_offsets[f + 1]."""
        numbers = np.arange(len(self.forms) + 1, dtype=self.form_of.dtype)
        return np.searchsorted(self.form_of, numbers)

    def form_parts(self) -> Iterator[tuple[slice, slice]]:
        """All forms, some after the other, and which records they are those of.

        What grows with the items of the forms, and with their records, is in memory for so many
        together; one form alone may have more records.
        """
        offsets, start = self.record_offsets, 0
        while start < len(self.forms):
            most = int(offsets[start]) + columns.ROWS_AT_A_TIME
            end = int(np.searchsorted(offsets, most, side="right")) - 1
            end = max(start + 1, min(end, start + FORMS_AT_A_TIME, len(self.forms)))
            yield slice(start, end), slice(int(offsets[start]), int(offsets[end]))
            columns.rest()
            start = end

    def parts(self) -> Iterator[tuple[slice, RecordTable]]:
        """The log, so many forms at a time, and which records each part holds."""
        for forms, own in self.form_parts():
            start, end = forms.start, forms.stop
            yield (
                own,
                replace(
                    self,
                    forms=self.forms.part(start, end),
                    set_of_form=self.set_of_form[start:end],
                    form_of=self.form_of[own] - np.int32(start),
                    users=self.users[own],
                    times=self.times[own],
                    log_rows=self.log_rows[own],
                ),
            )


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """A partition of the records that hold attributes.

    Attributes:
        labels: cluster of each record, or -1 for one without attributes or suppressed, shape (n,).
        suppressed: records set aside because no cluster of >= k people took them, shape (n,).
        centroids: the record that stands for each cluster, or -1 if its method has none.
    """

    labels: Ints
    suppressed: Flags
    centroids: Ints

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def count(self) -> int:
        return len(self.centroids)


PUBLISHED: Final = 0
WITHHELD: Final = (
    "",
    "fewer than k people share a row with it",
    "identifiers only",
    "words that say nothing only",
    "what k people share of it is too vague",
    "a name would have arisen from what is left",
    "one person would have too many of the rows that read alike",
    "the people of its row would share too few sensitive sets",
    "rows that read alike are rounded down in number",
    "fewer than k people of its earlier rows share a row with it",
)
"""Why a record is withheld, by number; the first is that of records that are published."""
TOO_FEW, IDENTIFIERS_ONLY, FILLERS_ONLY, TOO_VAGUE, SCRUBBED = range(1, 6)
SURPLUS, TOO_ALIKE, ROUNDED, RETURNING = range(6, 10)

TIME_NONE, TIME_MONTH, TIME_DAY, TIME_HOUR = 0, 1, 2, 3
"""How finely a time is published."""
PRECISIONS: Final[dict[Time, int]] = {
    "none": TIME_NONE,
    "month": TIME_MONTH,
    "day": TIME_DAY,
    "hour": TIME_HOUR,
}


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What is published: equivalence classes, each of records that publish the same row.

    Attributes:
        class_of: equivalence class of each record, or -1 for a suppressed one, shape (n,).
        term_offsets, terms: the words of each class's query, in order: an index into
            RecordTable.words, or, if negative, -1 - concept.
        concept_offsets, concepts: the published concepts of each class, ascending.
        times: start of the published time span of each class, or NO_TIME.
        precisions: TIME_NONE, TIME_MONTH, TIME_DAY or TIME_HOUR of each class.
        clusters: cluster of each class, or -1 for records without attributes.
        reasons: why each record is withheld, a number of WITHHELD, or PUBLISHED, in one byte,
            shape (n,).
    """

    class_of: Ints
    term_offsets: Longs
    terms: Ints
    concept_offsets: Longs
    concepts: Ints
    times: Longs
    precisions: Ints
    clusters: Ints
    reasons: Narrow

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def class_count(self) -> int:
        return len(self.clusters)

    @property
    def published(self) -> Flags:
        """Of each record, as a column."""
        return columns.computed(len(self.class_of), np.bool_, lambda rows: self.class_of[rows] >= 0)

    def part(self, records: slice) -> Release:
        """What is published of some records."""
        return replace(self, class_of=self.class_of[records], reasons=self.reasons[records])


def too_few_unless_published(class_of: Ints) -> Narrow:
    """Reasons for withholding if there is but the commonest, as a column."""
    return columns.computed(
        len(class_of), np.int8, lambda rows: np.where(class_of[rows] < 0, TOO_FEW, PUBLISHED)
    )


def cut_times(times: Longs, precision: int) -> Longs:
    """The start of the hour, day or month of each time; NO_TIME for anything coarser."""
    unit = {TIME_HOUR: "h", TIME_DAY: "D", TIME_MONTH: "M"}.get(precision)
    if unit is None:
        return np.full(len(times), NO_TIME, dtype=np.int64)
    seconds = times.astype("datetime64[s]").astype(f"datetime64[{unit}]").astype("datetime64[s]")
    return np.where(times == NO_TIME, NO_TIME, seconds.astype(np.int64))
