"""Query texts, one spelling for each, and what the text pipeline found in them.

A reading holds offsets and concepts, none of the words: it can be stored where text must not be,
and together with its text gives the words back.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from tasks.core.arrays import narrowed, take_ragged
from tasks.core.columns import column
from tasks.core.detection.lexicon import lexical_key
from tasks.core.records import Flags, Ints, Longs, Narrow, freeze
from tasks.core.texts import Texts

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
    folded = text.lower()
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    if not folded.isprintable():
        folded = "".join(c if c.isprintable() else " " for c in folded)
    return " ".join(folded.split())


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

    token_offsets: Narrow
    starts: Narrow
    ends: Narrow
    item_offsets: Narrow
    lengths: Narrow
    concepts: Ints
    in_doubt: Flags

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.item_offsets) - 1

    def take(self, chosen: Longs | Ints) -> Readings:
        """The readings of some of the texts, in the order given."""
        token_offsets, tokens = take_ragged(self.token_offsets, chosen)
        item_offsets, items = take_ragged(self.item_offsets, chosen)
        return Readings(
            narrowed(token_offsets, np.int32),
            self.starts[tokens],
            self.ends[tokens],
            narrowed(item_offsets, np.int32),
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
        token_offsets=narrowed(np.cumsum(token_counts, dtype=np.int64), np.int32),
        starts=narrowed(bounds[:, 0]),
        ends=narrowed(bounds[:, 1]),
        item_offsets=narrowed(np.cumsum(item_counts, dtype=np.int64), np.int32),
        lengths=narrowed(numbers[:, 0]),
        concepts=numbers[:, 1].copy(),
        in_doubt=numbers[:, 2].astype(np.bool_),
    )


PlacedReadings = tuple[Longs | Ints, Readings]
"""Which of many texts some are, and their readings."""
_RAGGED: Final = {
    "token_offsets": ("starts", "ends"),
    "item_offsets": ("lengths", "concepts", "in_doubt"),
}


def join_readings(parts: list[PlacedReadings], count: int) -> Readings:
    """The readings of texts 0 … count - 1 from those of some of them at a time.

    Args:
        parts: all of the texts; they are taken from the list one by one, to be freed.
    """
    columns: dict[str, Any] = {}
    for name, values in _RAGGED.items():
        offsets = np.zeros(count + 1, dtype=np.int64)
        for places, own in parts:
            offsets[1:][places] = np.diff(getattr(own, name))
        offsets = columns[name] = narrowed(np.cumsum(offsets, out=offsets), np.int32)
        for value in values:
            kind = np.result_type(np.bool_, *{getattr(own, value).dtype for _, own in parts})
            columns[value] = column(int(offsets[-1]), kind)
    while parts:
        places, own = parts.pop()
        for name, values in _RAGGED.items():
            starts, sizes = getattr(own, name)[:-1], np.diff(getattr(own, name))
            at = np.repeat(columns[name][places] - starts, sizes) + np.arange(sizes.sum())
            for value in values:
                columns[value][at] = getattr(own, value)
    return Readings(**columns)


def merge_spellings(texts: Texts, readings: Readings) -> Ints:
    """For each text the one that stands for all that say the same.

    So *lung-cancer?* is published as *lung cancer* is. It is the one of which most is an
    identifier: a sign may be what tells it, as in an e-mail address.
    """
    words = _identified(readings)
    _, group_of = Texts.of(map(said, texts)).ranks()
    most_first = np.lexsort((-words, group_of))
    standing = np.empty(len(texts), dtype=np.int32)
    # Backwards: the first of a group is written last.
    standing[group_of[most_first[::-1]]] = most_first[::-1]
    return standing[group_of]


def _identified(readings: Readings) -> Ints:
    """How many words of each text are identifiers."""
    sums = np.zeros(len(readings.lengths) + 1, dtype=np.int32)
    is_identifier = readings.concepts <= IDENTIFIER_CONCEPT
    np.cumsum(np.where(is_identifier, readings.lengths, 0), out=sums[1:])
    return sums[readings.item_offsets[1:]] - sums[readings.item_offsets[:-1]]
