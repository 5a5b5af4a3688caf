"""Query texts, one spelling for each, and what the text pipeline found in them.

A reading holds offsets and concepts, none of the words: it can be stored where text must not be,
and together with its text gives the words back.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tasks.core.arrays import joined_offsets, take_ragged
from tasks.core.detection.lexicon import lexical_key
from tasks.core.records import Flags, Ints, Longs, Strings, freeze

IDENTIFIER_CONCEPT = -2
"""Marks an item as an identifier on its way from the text pipeline to the record table.

This number and those below it, one for each kind in the order of KINDS.
"""

_SIGNS = re.compile(r"[^\w.']")
"""Where words end, beside underscores; dots and apostrophes fold."""

Offsets = tuple[int, int]
"""Where a token begins and ends in its text."""


def normalise(text: str) -> str:
    """One spelling for one query: compatibility forms folded, lower case, single blanks."""
    folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    if not folded.isprintable():
        folded = "".join(c if c.isprintable() else " " for c in folded)
    return " ".join(folded.split())


def distinct_texts(texts: Strings) -> tuple[list[str], Ints]:
    """The distinct normalised texts, ascending, and which of them each text is."""
    numbers: dict[str, int] = {}
    number_of = np.fromiter(
        (numbers.setdefault(text, len(numbers)) for text in texts), np.int32, len(texts)
    )
    normalised = [normalise(text) for text in numbers]
    distinct = sorted(set(normalised))
    rank = {text: position for position, text in enumerate(distinct)}
    rank_of_number = np.array([rank[text] for text in normalised], dtype=np.int32)
    return distinct, rank_of_number[number_of]


def said(text: str) -> str:
    """The words of a normalised text, whatever signs stand between them; itself if it has none."""
    return lexical_key(_SIGNS.sub(" ", text)) or text


class Item(NamedTuple):
    """A piece of a query in its order: some words, and the concept they stand for, if any.

    `in_doubt` if they have a more common sense that is not sensitive; `length` in tokens.
    """

    words: str
    concept: int
    in_doubt: bool = False
    length: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """The readings of some texts, one after the other.

    Attributes:
        token_offsets: text t holds tokens token_offsets[t] to token_offsets[t + 1].
        starts, ends: where each token begins and ends in its text.
        item_offsets: text t holds items item_offsets[t] to item_offsets[t + 1].
        lengths: how many tokens each item consists of; the items of a text use up its tokens.
        concepts: the concept of each item, or a negative number.
        in_doubt: of each item, see `Item`.
    """

    token_offsets: Longs
    starts: Ints
    ends: Ints
    item_offsets: Longs
    lengths: Ints
    concepts: Ints
    in_doubt: Flags

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.item_offsets) - 1

    def take(self, chosen: Longs) -> Readings:
        """The readings of some of the texts, in the order given."""
        token_offsets, tokens = take_ragged(self.token_offsets, chosen)
        item_offsets, items = take_ragged(self.item_offsets, chosen)
        return Readings(
            token_offsets,
            self.starts[tokens],
            self.ends[tokens],
            item_offsets,
            self.lengths[items],
            self.concepts[items],
            self.in_doubt[items],
        )

    def words(self, texts: Sequence[str]) -> list[str]:
        """The words of every item, in lexical form, given the texts that were read."""
        tokens = list(self._tokens(texts))
        ends = np.cumsum(self.lengths, dtype=np.int64)
        bounds = zip((ends - self.lengths).tolist(), ends.tolist(), strict=True)
        return [
            tokens[start] if end == start + 1 else " ".join(tokens[start:end])
            for start, end in bounds
        ]

    def _tokens(self, texts: Sequence[str]) -> Iterator[str]:
        """The lexical form of every token; a log repeats its words, so each is made once."""
        forms: dict[str, str] = {}
        owners = np.repeat(np.arange(len(self)), np.diff(self.token_offsets)).tolist()
        for owner, start, end in zip(owners, self.starts.tolist(), self.ends.tolist(), strict=True):
            token = texts[owner][start:end]
            form = forms.get(token)
            if form is None:
                form = forms[token] = lexical_key(token)
            yield form


def pack_readings(found: Iterable[tuple[Sequence[Offsets], Sequence[Item]]]) -> Readings:
    """Readings from the tokens and items of each text.

    Numbers are gathered in arrays: as Python objects those of a million texts would take gigabytes.
    """
    token_counts, item_counts = array("q", [0]), array("q", [0])
    tokens, items = array("i"), array("i")
    for own_tokens, own_items in found:
        tokens.extend(chain.from_iterable(own_tokens))
        for item in own_items:
            items.extend((item.length, item.concept, item.in_doubt))
        token_counts.append(len(own_tokens))
        item_counts.append(len(own_items))
    bounds = np.array(tokens, dtype=np.int32).reshape(-1, 2)
    numbers = np.array(items, dtype=np.int32).reshape(-1, 3)
    return Readings(
        token_offsets=np.cumsum(token_counts, dtype=np.int64),
        starts=bounds[:, 0].copy(),
        ends=bounds[:, 1].copy(),
        item_offsets=np.cumsum(item_counts, dtype=np.int64),
        lengths=numbers[:, 0].copy(),
        concepts=numbers[:, 1].copy(),
        in_doubt=numbers[:, 2].astype(np.bool_),
    )


def join_readings(parts: Sequence[Readings]) -> Readings:
    """The readings of several lists of texts as one list."""
    columns: dict[str, Any] = {}
    for entry in fields(Readings):
        values = [getattr(part, entry.name) for part in parts]
        join = joined_offsets if entry.name.endswith("offsets") else np.concatenate
        columns[entry.name] = join(values)
    return Readings(**columns)


def merge_spellings(
    texts: Sequence[str], readings: Readings, text_of: Ints
) -> tuple[list[str], Readings, Ints]:
    """One text for all that say the same: *lung-cancer?* is published as *lung cancer* is.

    The one of which most is an identifier: a sign may be what tells it, as in an e-mail address.
    """
    owners = np.repeat(np.arange(len(texts)), np.diff(readings.item_offsets))
    identified = np.where(readings.concepts <= IDENTIFIER_CONCEPT, readings.lengths, 0)
    most_first = np.argsort(-np.bincount(owners, identified, len(texts)), kind="stable")
    place_of: dict[str, int] = {}
    spelt = np.empty(len(texts), dtype=np.int64)
    for place in most_first.tolist():
        spelt[place] = place_of.setdefault(said(texts[place]), place)
    kept, number_of = np.unique(spelt, return_inverse=True)
    return (
        [texts[place] for place in kept.tolist()],
        readings.take(kept),
        number_of[text_of].astype(np.int32),
    )
