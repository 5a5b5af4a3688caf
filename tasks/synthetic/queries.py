"""What is typed in synthetic logs: topics, towns, sites, people, identifiers; in which words.

Identifiers are well formed, drawn by rule, nobody's on purpose. Check digits and ranges are kept,
so that detectors with validators (presidio's) accept them. Mail addresses lie in the domains that
RFC 2606 reserves, public IP addresses in the blocks that RFC 5737 reserves: those belong to
nobody. Phone and social security numbers have no reserved block that validators accept, so there
a match with a real number is possible by chance only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from tasks.synthetic.draws import Dice, Weighted, weighted

TERM: Final = "*"
PLACE: Final = "^"
"""What a pattern holds in place of a term and of a town."""

LONGEST_HOST: Final = 14
"""Terms with more letters lend a site only their last word."""

MOST_WORDS: Final = 6
"""A query with more words is not made any longer."""

QUESTION_WORDS: Final = ("how ", "what ", "why ", "is ", "can ", "who ", "where ", "when ")
NOT_IN_HOSTS: Final = re.compile("[^a-z0-9]+")
NEIGHBOURS: Final = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj",
    "i": "uo", "j": "hk", "k": "jl", "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o",
    "q": "wa", "r": "et", "s": "ad", "t": "ry", "u": "yi", "v": "cb", "w": "qe", "x": "zc",
    "y": "tu", "z": "xa",
}  # fmt: skip
"""Keys beside each key."""

WOOLWORTH: Final = "078-05-1120"
"""Printed on a sample card in 1938, used by thousands, void since: validators refuse it."""


@dataclass(frozen=True, slots=True)
class AddressBook:
    """What identifiers are made of."""

    first_names: Weighted[str]
    last_names: Weighted[str]
    streets: Weighted[str]
    street_kinds: Weighted[str]
    mail_domains: Weighted[str]
    path_words: Weighted[str]
    area_codes: Weighted[str]
    towns: Weighted[tuple[str, str]]


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
    place_things: Weighted[str]
    person_patterns: Weighted[str]
    additions: Weighted[str]
    sites: Weighted[str]
    site_forms: Weighted[str]
    host_forms: Weighted[str]
    host_stems: Weighted[str]
    state_names: dict[str, str]
    book: AddressBook


class Kind(Enum):
    """What a query wants; EXACT ones are pasted, so they are neither misspelt nor reworded."""

    TOPIC = 0
    SITE = 1
    LOCAL = 2
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


PHRASINGS: Final = weighted(tuple(Phrasing), (0.34, 0.45, 0.07, 0.07, 0.07))
ENDINGS: Final = weighted(("com", "org", "net", "gov", "edu"), (16, 3, 2, 1, 1))
JOINTS: Final = weighted((" and ", " ", " or ", " vs "), (6, 2, 1, 1))


def topic_query(dice: Dice, words: Vocabulary, topic: Topic, term: str, place: str) -> Query:
    """A query about one term of a topic, or one of the topic's ready-made queries."""
    if dice.chance(0.15):
        return Query(dice.pick(topic.queries), Kind.TOPIC, term, topic)
    return Query(_phrase(dice, words, topic, term, place), Kind.TOPIC, term, topic)


def topic_term(dice: Dice, topic: Topic) -> str:
    """What a query of this topic may be about: a frequent term or one of the long tail."""
    if dice.chance(0.55):
        return dice.pick(topic.terms)
    term = dice.pick(topic.tail)
    return plural(term) if topic.countable and dice.chance(0.4) else term


def _phrase(dice: Dice, words: Vocabulary, topic: Topic, term: str, place: str) -> str:
    phrasing = dice.pick(PHRASINGS)
    if phrasing is Phrasing.BARE:
        return term
    if phrasing is Phrasing.COMMON_WORDS:
        return dice.pick(words.patterns).replace(TERM, term)
    if phrasing is Phrasing.WITH_ANOTHER_TERM:
        other = dice.pick(topic.terms)
        return term + dice.pick(JOINTS) + other if other not in term else term
    if phrasing is Phrasing.AT_A_PLACE and topic.local:
        return dice.pick(words.local_patterns).replace(TERM, term).replace(PLACE, place)
    return dice.pick(topic.patterns).replace(TERM, term)


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


def place_name(dice: Dice, words: Vocabulary, own: tuple[str, str]) -> str:
    """A town with or without its state, or the state: the searcher's own as often as not."""
    town, state = own if dice.chance(0.6) else dice.pick(words.book.towns)
    full = words.state_names[state]
    return dice.one_of((town, f"{town} {state}", f"{town} {state}", f"{town} {full}", full))


def local_query(dice: Dice, words: Vocabulary, thing: str, place: str) -> Query:
    """A shop, an office, a church … in a town."""
    text = dice.pick(words.local_patterns).replace(TERM, thing).replace(PLACE, place)
    return Query(text, Kind.LOCAL, thing)


def person_query(dice: Dice, words: Vocabulary, name: str, place: str) -> Query:
    """A query for a private person."""
    text = dice.pick(words.person_patterns).replace(TERM, name).replace(PLACE, place)
    return Query(text, Kind.PERSON, name)


def site_query(dice: Dice, words: Vocabulary, topic: Topic) -> Query:
    """A query that only wants to reach a site: a well-known one, or one named after a topic."""
    if dice.chance(0.65):
        site = dice.pick(words.sites)
        return Query(site, Kind.SITE, site) if dice.chance(0.75) else _as_host(dice, words, site)
    stem = dice.pick(words.host_stems) if dice.chance(0.4) else ""
    term = dice.pick(topic.terms)
    name = stem + _letters(term if len(term) <= LONGEST_HOST else term.split()[-1])
    return Query(dice.pick(words.host_forms).replace(TERM, name), Kind.SITE, name)


def _as_host(dice: Dice, words: Vocabulary, site: str) -> Query:
    """A well-known site, asked for by the name of its host."""
    name = _letters(site.removesuffix(".com"))
    return Query(dice.pick(words.site_forms).replace(TERM, name), Kind.SITE, name)


def identifier_query(dice: Dice, words: Vocabulary) -> Query:
    """A query that holds a direct identifier and nothing else to speak of."""
    return Query(identifier(dice, words.book), Kind.EXACT)


def common_query(dice: Dice, words: Vocabulary) -> Query:
    """One of the queries that everybody asks."""
    text = dice.pick(words.heads)
    return Query(text, Kind.COMMON, text)


def reworded(dice: Dice, words: Vocabulary, query: Query, place: str) -> Query:
    """The next attempt at the same thing."""
    if query.topic and dice.chance(0.6):
        return topic_query(dice, words, query.topic, query.subject, place)
    if query.kind is Kind.SITE:
        return _as_host(dice, words, query.subject)
    if query.kind is Kind.LOCAL:
        return local_query(dice, words, query.subject, place)
    if query.kind is Kind.PERSON:
        return person_query(dice, words, query.subject, place)
    if query.kind is Kind.EXACT:
        return query
    return _longer_or_shorter(dice, words, query)


def _longer_or_shorter(dice: Dice, words: Vocabulary, query: Query) -> Query:
    """The same query with a word more, or cut to its subject."""
    addition = dice.pick(words.additions)
    fits = query.text.count(" ") < MOST_WORDS and not query.text.startswith(QUESTION_WORDS)
    is_new = addition.strip("* ") not in query.text
    if fits and is_new and (query.subject == query.text or dice.chance(0.7)):
        return replace(query, text=addition.replace(TERM, query.text))
    return replace(query, text=query.subject)


def click_url(dice: Dice, words: Vocabulary, query: Query) -> str:
    """The host that was clicked: the site asked for, words of the query, or a well-known site."""
    if query.kind in (Kind.SITE, Kind.EXACT) or dice.chance(0.35):
        site = query.subject if query.kind is Kind.SITE else dice.pick(words.sites)
        return f"http://www.{_letters(site.removesuffix('.com'))}.com"
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


# Direct identifiers


def person(dice: Dice, book: AddressBook) -> str:
    """First and last name of a private person who does not exist."""
    return f"{dice.pick(book.first_names)} {dice.pick(book.last_names)}"


def email(dice: Dice, book: AddressBook) -> str:
    """A mail address in a reserved domain."""
    first, last = dice.pick(book.first_names), dice.pick(book.last_names)
    local = dice.one_of(
        (f"{first}{last}", f"{first}.{last}", f"{first[0]}{last}", f"{last}_{first}")
    )
    number = str(dice.between(1, 99)) if dice.chance(0.6) else ""
    return f"{local}{number}@{dice.pick(book.mail_domains)}"


def phone(dice: Dice, book: AddressBook) -> str:
    """A ten-digit number of the North American plan: no 555 and no N11 exchange."""
    area = dice.pick(book.area_codes)
    exchange = dice.between(200, 998)
    if exchange == 555 or exchange % 100 == 11:
        exchange += 1
    line = dice.digits(4)
    form = dice.one_of(("{}-{}-{}", "({}) {}-{}", "{} {} {}", "{}-{}-{}"))
    return form.format(area, exchange, line)


def social_security_number(dice: Dice, book: AddressBook) -> str:
    """Nine digits in the ranges that were issued: area 001-665 or 667-899, no zero group."""
    area = dice.between(1, 898)
    area += area >= 666
    number = f"{area:03d}-{dice.between(1, 99):02d}-{dice.between(1, 9999):04d}"
    return number if number != WOOLWORTH else "078-05-1121"


def luhn_digit(digits: str) -> str:
    """The check digit (ISO/IEC 7812) that completes these digits.

    Example:
        >>> luhn_digit("7992739871")
        '3'
    """
    doubled = [int(digit) * 2 for digit in digits[::-2]]
    plain = [int(digit) for digit in digits[-2::-2]]
    return str(-(sum(value // 10 + value % 10 for value in doubled) + sum(plain)) % 10)


def card(dice: Dice, book: AddressBook) -> str:
    """A sixteen-digit card number with a valid check digit."""
    body = dice.one_of(("4", "51", "52", "53", "54", "6011"))
    body += dice.digits(15 - len(body))
    number = body + luhn_digit(body)
    separator = dice.one_of((" ", "-", ""))
    return separator.join(number[start : start + 4] for start in range(0, 16, 4))


def street_address(dice: Dice, book: AddressBook) -> str:
    """House number, street, town and state."""
    town, state = dice.pick(book.towns)
    street = f"{dice.pick(book.streets)} {dice.pick(book.street_kinds)}"
    return f"{dice.between(10, 9899)} {street} {town} {state}"


def zip_code(dice: Dice, book: AddressBook) -> str:
    """A five-digit zip code, alone or with what is looked for there."""
    number = f"{dice.between(1001, 99950):05d}"
    return dice.one_of(("{}", "zip code {}", "homes for sale {}", "jobs in {}")).format(number)


def account_number(dice: Dice, book: AddressBook) -> str:
    """A customer, account or tracking number."""
    number = dice.digits(dice.between(8, 12))
    return dice.one_of(("account {}", "account number {}", "tracking {}", "order {}")).format(
        number
    )


def web_address(dice: Dice, book: AddressBook) -> str:
    """A personal page under a family's name."""
    last, word = dice.pick(book.last_names), dice.pick(book.path_words)
    return f"http://www.{last}{dice.pick(book.streets)}.com/{word}.htm?id={dice.digits(4)}"


def ip_address(dice: Dice, book: AddressBook) -> str:
    """An address of a home network or of a block kept for documentation."""
    network = dice.one_of(
        ("192.168.0", "192.168.1", "10.0.0", "192.0.2", "198.51.100", "203.0.113")
    )
    return f"{network}.{dice.between(1, 254)}"


Maker = Callable[[Dice, AddressBook], str]

MAKERS: Weighted[Maker] = weighted(
    (
        phone,
        email,
        street_address,
        zip_code,
        account_number,
        web_address,
        social_security_number,
        card,
        ip_address,
    ),
    (5, 4, 5, 4, 3, 2, 2, 1, 1),
)


def identifier(dice: Dice, book: AddressBook) -> str:
    """A direct identifier of any kind."""
    return dice.pick(MAKERS)(dice, book)
