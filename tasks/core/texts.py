"""Query texts, kept compactly: the bytes of all in one array, each different text once.

As Python strings they take some 80 bytes each beside what they say, and an entry of a dict as much
again; of a log of millions of rows that is most of its memory. Strings are made of some thousands
at a time, for whoever looks at what they say. In UTF-8 bytes have the order of the strings.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np

from tasks.core.arrays import narrowed
from tasks.core.columns import Growing, computed, kept, row_parts
from tasks.core.records import Flags, Ints, Longs, Narrow, freeze

TEXTS_AT_A_TIME: Final = 1 << 16
MOST_GATHERED: Final = 1 << 22
"""So many texts are gathered before those that are equal are looked for."""
WIDTH: Final = 8
"""Bytes that are compared at a time."""
_FIRST_BYTES: Final = np.array([~(2 ** (64 - 8 * n) - 1) % 2**64 for n in range(9)], np.uint64)
"""What leaves the first 0, 1, … 8 of eight bytes as they are, and the others zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Some texts, in an order.

    Attributes:
        content: their bytes, one text after the other, and as many zeros as are compared at a time.
        offsets: text t is content[offsets[t] : offsets[t + 1]].
    """

    content: bytes = field(repr=False)
    offsets: Narrow = field(repr=False)

    def __post_init__(self) -> None:
        freeze(self)

    @staticmethod
    def of(texts: Iterable[str]) -> Texts:
        gathered = _Bytes()
        remaining = iter(texts)
        while some := list(islice(remaining, TEXTS_AT_A_TIME)):
            gathered.add([_encoded(text) for text in some])
        return gathered.texts()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), TEXTS_AT_A_TIME):
            yield from self.strings(np.arange(start, min(start + TEXTS_AT_A_TIME, len(self))))

    def strings(self, places: Ints | Longs) -> list[str]:
        """Some of them, as many as one can hold as strings."""
        return [own.decode("utf-8", "surrogatepass") for own in self._bytes(places)]

    def take(self, places: Ints | Longs) -> Texts:
        gathered = _Bytes()
        for start in range(0, len(places), TEXTS_AT_A_TIME):
            gathered.add(self._bytes(places[start : start + TEXTS_AT_A_TIME]))
        return gathered.texts()

    def _bytes(self, places: Ints | Longs) -> list[bytes]:
        content = self.content
        bounds = zip(self.offsets[places].tolist(), self.offsets[1:][places].tolist(), strict=True)
        return [content[start:end] for start, end in bounds]

    def distinct(self) -> tuple[Texts, Ints]:
        """The different ones, ascending, and which of them each is."""
        first, number_of = self.ranks()
        return self.take(first), number_of

    def ranks(self) -> tuple[Ints, Ints]:
        """The first place of each different one, ascending, and which of them each is."""
        order, is_new = ascending(self.content, self.offsets)
        number_of = np.empty(len(self), dtype=np.int32)
        number_of[order] = np.cumsum(is_new, dtype=np.int32) - 1
        return order[is_new], number_of


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """The text of each row: which of the distinct texts it is."""

    distinct: Texts
    of_row: Ints

    def __post_init__(self) -> None:
        freeze(self)

    @staticmethod
    def of(texts: Sequence[str]) -> TextColumn:
        gathered = TextGatherer()
        gathered.add(texts)
        return gathered.column()

    def __len__(self) -> int:
        return len(self.of_row)

    def __getitem__(self, rows: Ints | Longs | Flags | slice) -> TextColumn:
        """Some of the rows, with the texts that these have."""
        return self._renumbered(self.of_row[rows])

    def only(self, chosen: Flags) -> TextColumn:
        """The rows that are marked."""
        return self._renumbered(kept(self.of_row, chosen))

    def _renumbered(self, own: Ints) -> TextColumn:
        used = np.zeros(len(self.distinct), dtype=np.bool_)
        for rows in row_parts(len(own)):
            used[own[rows]] = True
        number_of = np.cumsum(used, dtype=np.int32) - 1
        of_row = computed(len(own), np.int32, lambda rows: number_of[own[rows]])
        return TextColumn(self.distinct.take(np.flatnonzero(used)), of_row)

    def tolist(self) -> list[str]:
        texts = list(self.distinct)
        return [texts[number] for number in self.of_row.tolist()]


class TextGatherer:
    """Texts of rows as they come: a text that was said lately is not kept again.

    When many have come, those that were said before are found by sorting, so that never many more
    are kept than there are different ones.
    """

    def __init__(self, spelt: Callable[[str], str] = str) -> None:
        """Take `spelt` as the spelling in which a text is kept.

        Of printable ASCII in which no blank is the first, the last or behind another one, it
        changes each character for itself and drops none.
        """
        self._spelt = spelt
        self._lately: dict[str, int] = {}
        self._bytes = _Bytes()
        self._of_row = Growing(np.int32)
        self._most = MOST_GATHERED

    def add(self, texts: Sequence[str]) -> None:
        """The texts of rows."""
        self.add_rows(self.numbers(texts))

    def numbers(self, texts: Sequence[str]) -> Ints:
        """Keep texts of which there are rows to come; each gets a number for `add_rows`."""
        lately, first = self._lately, len(self._bytes)
        numbers = list(map(lately.get, texts))
        new: list[str] = []
        for place in [place for place, number in enumerate(numbers) if number is None]:
            text = texts[place]
            own = self._spelt(text)
            number = lately.setdefault(own, first + len(new))
            if number == first + len(new):
                new.append(own)
            numbers[place] = lately[text] = number
        self._bytes.add([_encoded(text) for text in new])
        if len(lately) >= TEXTS_AT_A_TIME:
            lately.clear()
        return np.array(numbers, dtype=np.int32)

    def plain_numbers(self, content: bytes, ends: Longs) -> Ints:
        """The same for texts of printable ASCII with single blanks, one after the other.

        They are spelt together, and looked for among those that were said lately by nobody: that
        would take longer than to sort them.
        """
        first = len(self._bytes)
        self._bytes.add_all(self._spelt(content.decode("ascii")).encode("ascii"), ends)
        return np.arange(first, len(self._bytes), dtype=np.int32)

    def add_rows(self, numbers: Ints) -> None:
        """Rows, by the numbers of their texts, which hold no longer after that."""
        self._of_row.add(numbers)
        if len(self._bytes) >= self._most:
            self._sort_out()

    def column(self) -> TextColumn:
        """The rows so far; nothing can be added after that."""
        distinct = self._sort_out()
        return TextColumn(distinct, self._of_row.column())

    def _sort_out(self) -> Texts:
        """Keep each text once."""
        self._lately.clear()
        distinct, number_of = self._bytes.texts().distinct()
        self._of_row.replace(number_of)
        self._bytes = _Bytes(distinct)
        self._most = max(MOST_GATHERED, 2 * len(distinct))
        return distinct


class _Bytes:
    """The bytes of texts, one after the other."""

    def __init__(self, first: Texts | None = None) -> None:
        self.content = [first.content[:-WIDTH]] if first else []
        self.ends = array("q", first.offsets.astype(np.int64).tobytes() if first else [0])

    def __len__(self) -> int:
        return len(self.ends) - 1

    def add(self, texts: Sequence[bytes]) -> None:
        self.add_all(b"".join(texts), np.cumsum([*map(len, texts)], dtype=np.int64))

    def add_all(self, content: bytes, ends: Longs) -> None:
        """Texts one after the other."""
        ends = ends + self.ends[-1]
        self.content.append(content)
        self.ends.frombytes(ends.tobytes())

    def texts(self) -> Texts:
        content, self.content = self.content, []
        return Texts(b"".join([*content, bytes(WIDTH)]), narrowed(np.asarray(self.ends), np.int32))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def ascending(content: bytes, offsets: Narrow) -> tuple[Ints, Flags]:
    """The order of rows of bytes, and whether each is a new one in it; equal ones stay as they are.

    Eight bytes are compared at a time, and of those rows alone that are equal so far.

    Args:
        content, offsets: as in `Texts`; no row is another one and zeros.
    """
    windows = np.ndarray(len(content) - WIDTH + 1, dtype=">u8", buffer=content, strides=(1,))
    order = np.arange(len(offsets) - 1, dtype=np.int32)
    is_new = order == 0
    tied, depth = order.copy(), 0
    while len(tied):
        rows = order[tied]
        keys, left = np.empty(len(rows), dtype=np.uint64), np.empty(len(rows), dtype=np.int32)
        for start in range(0, len(rows), TEXTS_AT_A_TIME):
            own = slice(start, start + TEXTS_AT_A_TIME)
            at = offsets[rows[own]].astype(np.int64) + depth
            left[own] = offsets[1:][rows[own]] - at
            known = _FIRST_BYTES[np.clip(left[own], 0, WIDTH)]
            keys[own] = windows[np.minimum(at, len(windows) - 1)] & known
        sorting = np.lexsort((keys, np.cumsum(is_new[tied], dtype=np.int32)))
        order[tied] = rows[sorting]
        keys, left = keys[sorting], left[sorting]
        is_new[tied[1:]] |= keys[1:] != keys[:-1]
        fresh = is_new[tied]
        # A row that ends within its eight bytes is equal to those it is tied with.
        tied = tied[(left >= WIDTH) & ~(fresh & np.append(fresh[1:], True))]
        depth += WIDTH
    return order, is_new
