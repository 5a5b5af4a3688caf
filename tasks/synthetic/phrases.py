"""Queries put together from forms: text with slots that lists of words, rules and forms fill.

Most names here belong to nobody: brands and small towns are made of syllables, songs and films of
words that sound like titles. Real logs are full of names that no list knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tasks.synthetic.draws import Dice, Weighted, weighted

SLOT: Final = re.compile(r"<([a-z_]+)>(s\b)?")
CHOICE: Final = re.compile(r"\{([^{}]+)\}")
STEM: Final = "@"
"""What the form of a town's name holds in place of its made-up part."""

KNOWN_BRAND: Final = 0.6
KNOWN_TOWN: Final = 0.355
OWN_TOWN: Final = 0.35
YEARS: Final = weighted(range(2006, 1939, -1), [1.0 / (age + 2) for age in range(67)])
RECENT: Final = weighted(("2006", "2005", "2007", "2004"), (8, 2, 1, 1))

Town = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Lists:
    """What slots are filled from: forms and words by the name of the slot, names and towns."""

    by_slot: Mapping[str, Weighted[str]]
    first_names: Weighted[str]
    last_names: Weighted[str]
    towns: Weighted[Town]
    state_names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes queries for a person of a town."""

    dice: Dice
    lists: Lists
    home: Town

    def query(self, form: str) -> str:
        """A query of a kind, say `local` or `question`."""
        return self.filled(self.dice.pick(self.lists.by_slot[form]))

    def filled(self, text: str) -> str:
        """The text with every slot filled and every choice made."""
        if "{" in text:
            text = CHOICE.sub(lambda found: self.dice.one_of(found[1].split("|")), text)
        return SLOT.sub(self._fill, text) if "<" in text else text

    def _fill(self, slot: re.Match[str]) -> str:
        maker = MAKERS.get(slot[1])
        text = maker(self) if maker else self.query(slot[1])
        return plural(text) if slot[2] else text


def plural(term: str) -> str:
    """The regular plural, or the term itself if it already looks like one.

    Example:
        >>> plural("puppy"), plural("church"), plural("jeans"), plural("boy")
        ('puppies', 'churches', 'jeans', 'boys')
    """
    if term.endswith("s"):
        return term
    if term.endswith(("x", "z", "ch", "sh")):
        return term + "es"
    if term.endswith("y") and term[-2:-1] not in "aeiou":
        return term[:-1] + "ies"
    return term + "s"


def _first(writer: Writer) -> str:
    return writer.dice.pick(writer.lists.first_names)


def _last(writer: Writer) -> str:
    return writer.dice.pick(writer.lists.last_names)


def _brand(writer: Writer) -> str:
    """A brand that nobody knows."""
    return _syllables(writer, "brand")


def _brand_of(trade: str) -> Callable[[Writer], str]:
    """A brand that everybody knows for a kind of goods, or one that nobody does."""

    def made(writer: Writer) -> str:
        return writer.query(trade) if writer.dice.chance(KNOWN_BRAND) else _brand(writer)

    return made


def _place_word(writer: Writer) -> str:
    return _syllables(writer, "place")


def _syllables(writer: Writer, kind: str) -> str:
    start, end = writer.query(f"{kind}_start"), writer.query(f"{kind}_end")
    return start + end.removeprefix(start[-1])


def town_of(writer: Writer) -> Town:
    """The writer's own town, another that people know, or a small one."""
    dice, lists = writer.dice, writer.lists
    if dice.chance(OWN_TOWN):
        return writer.home
    town, state = dice.pick(lists.towns)
    if dice.chance(KNOWN_TOWN):
        return town, state
    return small_town(writer), state


def small_town(writer: Writer) -> str:
    """A town that is on no list."""
    stem = _last(writer) if writer.dice.chance(0.3) else _place_word(writer)
    return writer.query("town_form").replace(STEM, stem)


def _town(writer: Writer) -> str:
    return town_of(writer)[0]


def _state(writer: Writer) -> str:
    return writer.lists.state_names[_st(writer)]


def _st(writer: Writer) -> str:
    return town_of(writer)[1]


def place_name(writer: Writer) -> str:
    """A town with or without its state, or the state."""
    town, state = town_of(writer)
    full = writer.lists.state_names[state]
    return writer.dice.one_of((town, f"{town} {state}", f"{town} {state}", f"{town} {full}", full))


def _year(writer: Writer) -> str:
    return str(writer.dice.pick(YEARS))


def _recent(writer: Writer) -> str:
    return writer.dice.pick(RECENT)


def _number(writer: Writer) -> str:
    """Small numbers most often."""
    return str(2 + int(writer.dice.pareto(60)))


def _model(writer: Writer) -> str:
    """What makers call their models: 350, dx4500, z 40."""
    dice = writer.dice
    number = str(dice.between(1, 99) * dice.one_of((1, 5, 10, 50, 100)))
    letters = dice.one_of("acdefgklmprstvxz") + dice.one_of(("", "", "x", "s", "l", "r", "t"))
    return dice.one_of((number, letters + number, f"{letters} {number}", letters + number + "i"))


def _glued(writer: Writer) -> str:
    """Words without blanks, as in the name of a site."""
    return writer.query("glue").replace(" ", "")


MAKERS: Final[Mapping[str, Callable[[Writer], str]]] = {
    "first": _first,
    "last": _last,
    "brand": _brand,
    "brand_of_gadgets": _brand_of("gadget_brand"),
    "brand_of_machines": _brand_of("machine_brand"),
    "brand_of_clothes": _brand_of("fashion_brand"),
    "place_word": _place_word,
    "town": _town,
    "state": _state,
    "st": _st,
    "place": place_name,
    "year": _year,
    "recent": _recent,
    "number": _number,
    "model": _model,
    "glued": _glued,
}
