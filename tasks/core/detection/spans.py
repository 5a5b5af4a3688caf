"""Spans of direct identifiers in a text, and the text as the recognisers read it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

KINDS: tuple[str, ...] = (
    "email",
    "phone",
    "ssn",
    "card",
    "iban",
    "ip",
    "url",
    "address",
    "zip",
    "account",
    "date_of_birth",
    "name",
)

# Letters of other scripts that look like Latin ones, and Latin ones without a decomposition.
_LOOK_ALIKES = dict(
    zip("аеорсухіјѕԁһԛԝοανρυιıłøđħŧðæœ", "aeopcyxijsdhqwoavpuiilodhtdao", strict=True)
)
_LOOK_ALIKES |= {"ß": "s", "\u2018": "'", "\u2019": "'", "\u02bc": "'"}
_LOOK_ALIKES |= {"\u2212": "-", "\u3002": ".", "\u2024": "."}


@dataclass(frozen=True, slots=True)
class Span:
    """A direct identifier: character offsets into the text it was found in, and one of KINDS."""

    start: int
    end: int
    kind: str


def fold(text: str) -> tuple[str, Sequence[int]]:
    """The text as it looks: other digits, dashes, accents and look-alikes become ASCII.

    Returns:
        The folded text, and for each of its characters the offset in `text`, then that of its end.
        Marks and invisible characters are left out, all else stays one character.
    """
    if text.isascii():
        return text, range(len(text) + 1)
    kept = [(plain, at) for at, char in enumerate(text) if (plain := _plain(char))]
    return "".join(plain for plain, _ in kept), [*(at for _, at in kept), len(text)]


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    if char.isascii():
        return char
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return ""
    if category in ("Pd", "Zs"):
        return "-" if category == "Pd" else " "
    base = unicodedata.normalize("NFKD", char)[0]
    return _LOOK_ALIKES.get(char, base if base.isascii() and base.isalpha() else char)


def unfold(spans: Iterable[Span], offsets: Sequence[int]) -> tuple[Span, ...]:
    """Spans of a folded text as spans of the text it was made from."""
    if isinstance(offsets, range):
        return tuple(spans)
    return tuple(Span(offsets[s.start], offsets[s.end], s.kind) for s in spans)


def disjoint(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans in text order without overlap; of those that overlap the first given wins.

    What is left of a later one stays an identifier: of *jane roe@example.com*, mail address and
    name, *jane* is still a name. Spans of one kind that touch become one.
    """
    if len(spans) < 2:
        return tuple(spans)
    owners = [""] * len(text)
    for span in reversed(spans):
        owners[span.start : span.end] = [span.kind] * (span.end - span.start)
    return tuple(_trimmed(text, owners))


def _trimmed(text: str, owners: Sequence[str]) -> Iterator[Span]:
    start = 0
    for kind, group in groupby(owners):
        end = start + sum(1 for _ in group)
        part = text[start:end]
        if kind and any(map(str.isalnum, part)):
            yield Span(
                start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()), kind
            )
        start = end
