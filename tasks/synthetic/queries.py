"""What is typed in synthetic logs: topics, sites, people, forms of all kinds; in which words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from tasks.synthetic.draws import Dice, Weighted, weighted
from tasks.synthetic.identifiers import AddressBook, identifier
from tasks.synthetic.phrases import Lists, Writer, place_name, plural

TERM: Final = "*"
PLACE: Final = "^"
"""What a pattern holds in place of a term and of a town."""

MOST_WORDS: Final = 6
"""A query with more words is not made any longer."""

QUESTION_WORDS: Final = ("how ", "what ", "why ", "is ", "can ", "who ", "where ", "when ")
NOT_IN_HOSTS: Final = re.compile("[^a-z0-9]+")
BEFORE_VOWEL: Final = re.compile(r"\ba (?=[aeio])")
NEIGHBOURS: Final = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj",
    "i": "uo", "j": "hk", "k": "jl", "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o",
    "q": "wa", "r": "et", "s": "ad", "t": "ry", "u": "yi", "v": "cb", "w": "qe", "x": "zc",
    "y": "tu", "z": "xa",
}  # fmt: skip
"""Keys beside each key."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One field of interest: its frequent terms, its long tail, and how people ask about them."""

    name: str
    weight: float
    sensitive: bool
    countable: bool
    local: bool
    terms: Weighted[str] = field(repr=False)
    tail: Weighted[str] = field(repr=False)
    queries: Weighted[str] = field(repr=False)
    patterns: Weighted[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All words a synthetic log is made of."""

    topics: tuple[Topic, ...]
    heads: Weighted[str]
    patterns: Weighted[str]
    local_patterns: Weighted[str]
    person_patterns: Weighted[str]
    additions: Weighted[str]
    endings: Weighted[str]
    sites: Weighted[str]
    site_forms: Weighted[str]
    book: AddressBook
    lists: Lists


class Kind(Enum):
    """What a query wants; EXACT ones are pasted, so they are neither misspelt nor reworded."""

    TOPIC = 0
    SITE = 1
    FORM = 2
    PERSON = 3
    COMMON = 4
    EXACT = 5


@dataclass(frozen=True, slots=True)
class Query:
    """A query before typing errors; the subject is what any rewording keeps."""

    text: str
    kind: Kind
    subject: str = ""
    topic: Topic | None = None


class Phrasing(Enum):
    """How a query speaks of its term."""

    BARE = 0
    WORDS_OF_THE_TOPIC = 1
    COMMON_WORDS = 2
    WITH_ANOTHER_TERM = 3
    AT_A_PLACE = 4


PHRASINGS: Final = weighted(tuple(Phrasing), (0.30, 0.34, 0.07, 0.15, 0.14))
ENDINGS: Final = weighted(("com", "org", "net", "gov", "edu"), (16, 3, 2, 1, 1))
JOINTS: Final = weighted((" and ", " ", " or ", " vs "), (6, 2, 1, 1))
WITH_ENDING: Final = 0.16
READY_MADE: Final = 0.03
FREQUENT_TERM: Final = 0.27


def topic_query(writer: Writer, words: Vocabulary, topic: Topic, term: str) -> Query:
    """A query about one term of a topic, or one of the topic's ready-made queries."""
    dice = writer.dice
    if dice.chance(READY_MADE):
        return Query(dice.pick(topic.queries), Kind.TOPIC, term, topic)
    text = _phrase(writer, words, topic, term)
    if dice.chance(WITH_ENDING):
        text = f"{text} {writer.filled(dice.pick(words.endings))}"
    return Query(text, Kind.TOPIC, term, topic)


def topic_term(dice: Dice, topic: Topic) -> str:
    """What a query of this topic may be about: a frequent term or one of the long tail."""
    if dice.chance(FREQUENT_TERM):
        return dice.pick(topic.terms)
    term = dice.pick(topic.tail)
    return plural(term) if topic.countable and dice.chance(0.4) else term


def _phrase(writer: Writer, words: Vocabulary, topic: Topic, term: str) -> str:
    dice = writer.dice
    phrasing = dice.pick(PHRASINGS)
    if phrasing is Phrasing.BARE:
        return term
    if phrasing is Phrasing.COMMON_WORDS:
        return dice.pick(words.patterns).replace(TERM, term)
    if phrasing is Phrasing.WITH_ANOTHER_TERM:
        other = topic_term(dice, topic)
        return term + dice.pick(JOINTS) + other if other not in term else term
    if phrasing is Phrasing.AT_A_PLACE and topic.local:
        at_place = dice.pick(words.local_patterns).replace(PLACE, place_name(writer))
        return at_place.replace(TERM, term)
    return dice.pick(topic.patterns).replace(TERM, term)


def form_query(writer: Writer, form: str) -> Query:
    """A query of one of the kinds that forms describe."""
    text = BEFORE_VOWEL.sub("an ", writer.query(form))
    return Query(text, Kind.FORM, text)


def person_query(writer: Writer, words: Vocabulary, name: str) -> Query:
    """A query for a private person."""
    pattern = writer.dice.pick(words.person_patterns)
    text = pattern.replace(PLACE, place_name(writer)).replace(TERM, name)
    return Query(text, Kind.PERSON, name)


def common_query(dice: Dice, words: Vocabulary) -> Query:
    """One of the queries that everybody asks."""
    text = dice.pick(words.heads)
    return Query(text, Kind.COMMON, text)


def address_query(writer: Writer, words: Vocabulary) -> Query:
    """The address of a site: a well-known one, or one that few know."""
    dice = writer.dice
    name = dice.pick(words.sites) if dice.chance(0.3) else writer.filled("<glued>")
    return _as_host(dice, words, name)


def _as_host(dice: Dice, words: Vocabulary, site: str) -> Query:
    name = _letters(site)
    return Query(dice.pick(words.site_forms).replace(TERM, name), Kind.SITE, name)


def identifier_query(dice: Dice, words: Vocabulary) -> Query:
    """A query that holds a direct identifier and nothing else to speak of."""
    return Query(identifier(dice, words.book), Kind.EXACT)


def reworded(writer: Writer, words: Vocabulary, query: Query) -> Query:
    """The next attempt at the same thing."""
    dice = writer.dice
    if query.topic and dice.chance(0.6):
        return topic_query(writer, words, query.topic, query.subject)
    if query.kind is Kind.SITE:
        return Query(query.subject, Kind.COMMON, query.subject)
    if query.kind is Kind.PERSON:
        return person_query(writer, words, query.subject)
    if query.kind is Kind.EXACT:
        return query
    return _longer_or_shorter(dice, words, query)


def _longer_or_shorter(dice: Dice, words: Vocabulary, query: Query) -> Query:
    """The same query with a word more, or cut to its subject or its first words."""
    addition = dice.pick(words.additions)
    fits = query.text.count(" ") < MOST_WORDS and not query.text.startswith(QUESTION_WORDS)
    is_new = addition.strip("* ") not in query.text
    if fits and is_new and (query.subject == query.text or dice.chance(0.7)):
        return replace(query, text=addition.replace(TERM, query.text))
    if query.kind is Kind.FORM and query.text.count(" ") >= 2:
        return replace(query, text=query.text.rpartition(" ")[0])
    return replace(query, text=query.subject)


def click_url(dice: Dice, words: Vocabulary, query: Query) -> str:
    """The host that was clicked: the site asked for, words of the query, or a well-known site."""
    if query.kind in (Kind.SITE, Kind.EXACT) or dice.chance(0.35):
        site = query.subject if query.kind is Kind.SITE else dice.pick(words.sites)
        return f"http://www.{_letters(site)}.com"
    parts = [_letters(part) for part in query.text.split()]
    longest = sorted(parts, key=len)[-dice.between(1, 2) :]
    name = "".join(part for part in parts if part in longest)
    return f"http://www.{name}.{dice.pick(ENDINGS)}"


def _letters(word: str) -> str:
    return NOT_IN_HOSTS.sub("", word.lower())


def as_typed(dice: Dice, text: str) -> str:
    """The query as it leaves the keyboard: seldom quoted, hyphenated, capitalised, punctuated."""
    if dice.chance(0.97):
        return text
    habit = dice.between(0, 3)
    if habit == 0:
        return f'"{text}"'
    if habit == 1:
        return text.replace(" ", "-", 1)
    if habit == 2:
        return text.title()
    return f"{text}?" if text.startswith(QUESTION_WORDS) else f"{text}."


def misspelt(dice: Dice, text: str) -> str:
    """The text with one typing error: two letters swapped, one dropped, doubled or hit beside."""
    spots = [at for at in range(1, len(text) - 1) if text[at - 1 : at + 2].isalpha()]
    if not spots:
        return text
    at = dice.one_of(spots)
    before, letter, after = text[:at], text[at], text[at + 1 :]
    error = dice.between(0, 3)
    if error == 0:
        return before + after[0] + letter + after[1:]
    if error == 1:
        return before + after
    if error == 2:
        return before + letter + letter + after
    return before + dice.one_of(NEIGHBOURS.get(letter, letter)) + after
