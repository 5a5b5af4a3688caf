"""Direct identifiers: their kinds, the spans they take up in a text, and those known by shape.

By shape are found numbers, dates, street addresses and host names; in doubt a number is an
identifier. Every rule takes time linear in the text's length: no pattern can match the same
characters in two ways. The recognisers read texts in lower case as `fold` makes them look.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from tasks.core.detection.name_lists import FUNCTION_WORDS, word_set

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
    shown = [(plain, at) for at, char in enumerate(text) if (plain := _plain(char))]
    return "".join(plain for plain, _ in shown), [*(at for _, at in shown), len(text)]


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


_YEAR = r"(?:1[89]|20)[0-9]{2}"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
_ORDINAL = rf"{_DAY}(?:st|nd|rd|th)?"
_ANY_YEAR = rf"(?:{_YEAR}|'?[0-9]{{2}})"
_DATES = re.compile(
    rf"(?<![0-9a-z/.-])(?:"
    rf"{_MONTH}[ -]?{_ORDINAL}[, -]{{1,2}}{_ANY_YEAR}"
    rf"|{_ORDINAL}[ -]?(?:of )?{_MONTH}[, -]{{0,2}}{_ANY_YEAR}"
    rf"|{_YEAR}([-/. ]){_DAY}\1{_DAY}"
    rf"|{_DAY}([-/. ]){_DAY}\2{_YEAR}"
    rf"|{_DAY}([-/]){_DAY}\3[0-9]{{2}}"
    rf"|[0-3][0-9]\.[0-3][0-9]\.[0-9]{{2}}"
    rf")(?![0-9a-z]|[/.-][0-9])"
)

# Words that a day in somebody's life stands beside, and those of days that everybody knows.
_PERSONAL = word_set(
    """anniversary arrested astrology baby bday birth birthdate birthday birthdays born chart date
    death deceased died divorced dob horoscope husband married me mother my natal numerology
    obituaries obituary obits son wedding wife"""
)
_EVENTS = word_set(
    """attack attacks battle bombing championship concert crash debate earthquake eclipse election
    episode fire flood game happened history hurricane lottery moon news newspaper olympics race
    season shooting show tornado tv war"""
)

_SUFFIXES = (
    r"alley|ave|avenue|av|blvd|boulevard|causeway|cir|circle|court|cres|crescent|crossing|ct|dr|"
    r"drive|esplanade|expressway|expy|highway|hwy|lane|ln|loop|mews|parkway|pike|pkwy|pl|place|"
    r"plaza|rd|road|sq|square|st|street|ter|terrace|trail|trl|turnpike|way"
)
_STREET_WORD = r"(?:[a-z][a-z'.-]*|[0-9]{1,3}(?:st|nd|rd|th)|[0-9]{1,2}(?= mile ))"
_SIDE = r"(?:[ns]?[ew]|[ns]|(?:north|south)(?:east|west)?|east|west)"
_QUARTER = rf"(?: {_SIDE}(?![\w-]))?"
_UNIT = r"(?:,? (?:apt|apartment|bldg|lot|suite|ste|unit|#)\.? ?#?[a-z0-9-]{1,6}(?![a-z0-9]))?"
_STREETS = re.compile(
    rf"(?<![\w/.$-])(?P<house>[0-9]{{1,6}})[a-z]?(?:-[0-9]{{1,4}})?(?: 1/2)?,? "
    rf"(?P<words>(?:{_STREET_WORD} ){{1,4}}?)(?P<suffix>{_SUFFIXES})(?![\w-])\.?{_QUARTER}{_UNIT}"
)
_ROADS_AND_BOXES = re.compile(
    r"(?<![\w/.$-])[0-9]{1,6} (?:[a-z.]+ ){0,2}(?:hwy|highway|route|rte|rt|rr|county road|cr|fm) "
    rf"(?:no\.? )?[0-9]{{1,4}}(?![\w-]){_QUARTER}"
    r"|(?<![\w/.$-])[0-9]{1,6} (?:[nsew]\.? )?broadway(?![\w-])"
    r"|(?<![\w/.$-])[0-9]{1,6} (?:[nsew]\.?|north|south|east|west) [0-9]{1,3}(?:st|nd|rd|th)(?!\w)"
    rf"|(?<![\w/.$-])[0-9]{{1,6}} {_SIDE}\.? [0-9]{{1,6}} {_SIDE}(?![\w-])"
    r"|(?<![\w/.$-])[0-9]{1,6} (?:ave|avenue) of (?:the )?[a-z]+"
    r"|(?<![a-z])(?:p\.? ?o\.?|post office) ?box ?#? ?[0-9]+"
)
# Streets of other countries: the kind of street before its name or at its end, the number anywhere.
_KIND_FIRST = (
    r"(?:rue|calle|via|viale|avenida|chemin|impasse|quai|rua|piazza|paseo|camino)"
    r"(?: (?:de|du|des|del|della|di|da|do|la|le|les|los|las|l)){0,2} [a-z][a-z'-]*"
)
_KIND_LAST = r"[a-z][a-z-]{2,24}(?:strasse|strase|gasse|allee|platz|straat|laan|gatan|vej)"
_FOREIGN_STREETS = re.compile(
    rf"(?<![\w/.$-])[0-9]{{1,4}}(?: (?:bis|ter))?,? {_KIND_FIRST}(?![a-z])"
    rf"|(?<![a-z]){_KIND_FIRST},? [0-9]{{1,4}}[a-z]?(?![\w-])"
    rf"|(?<![a-z]){_KIND_LAST} [0-9]{{1,4}}[a-z]?(?![\w-])"
)
# A flat by itself: a number after *unit* mostly counts something else, unless the query ends there.
_NUMBERED = r"(?:(?:no|num|number)\.? ?)?#? ?"
_FLATS = re.compile(
    rf"(?<![\w-])(?:(?:apt|apartment)\b\.? ?{_NUMBERED}"
    r"(?P<flat>[0-9]{1,4}-?[a-z]?|[a-z]-?[0-9]{1,4})(?![\w-])"
    rf"|unit {_NUMBERED}(?:[0-9]{{3,4}}|[0-9]{{1,3}}-?[a-z])(?=$|,))"
    r"(?P<end>)(?: (?P<after>[a-z]+))?"
)
# What a number counts that stands after *apartment*.
_COUNTED = word_set(
    """bath bathroom bathrooms bed bedroom bedrooms beds br building buildings day days floor floors
    hour hours minute minutes month months person room rooms sq story unit units week weeks year
    years"""
)
# The most notorious unit was nobody's flat.
_KNOWN_UNITS = frozenset({"unit 731"})
# Words that stand in no street name but between a number and *drive*, *way*, *place* or *st*.
_NOT_IN_STREETS = word_set(
    """a an and are at bedroom best by cd disk do does dvd external flash floppy for free from gb
    gig gigabyte hard how in internal is of on or tape test thumb to usb wheel what with zip"""
)
_SAINTS = word_set(
    """augustine charles cloud croix george john joseph kitts louis lucia maarten martin patrick
    patricks paul petersburg thomas"""
)

_NUMBER_RUN = re.compile(r"(?<![$€£0-9])\+?\(?[0-9]+(?:[-./ ()]{1,3}[0-9]+)*")
_MIXED_TOKEN = re.compile(r"(?<![a-z0-9])(?=[0-9]*[a-z])[a-z0-9]+")
_LABELLED = re.compile(
    r"(?<![a-z])(?:acct|account|badge|case|claim|confirmation|employee|imei|invoice|licen[cs]e|medicare|"
    r"medicaid|member|mrn|order|passport|patient|pin|policy|reservation|ssn|student|tracking|vin)"
    r"(?: (?:id|no|num|number|is)){0,2}[.:# ]{1,3}([a-z0-9]+(?:-[a-z0-9]+){0,5})(?![a-z0-9])"
)
_HYPHENATED = re.compile(r"(?<![a-z0-9-])[a-z0-9]+(?:-[a-z0-9]+)+(?![a-z0-9-])")
_SIZE = re.compile(r"[0-9]+x[0-9]+")
# Numbers of things in shops, libraries and manuals, of roads and flights point to nobody.
_THINGS = re.compile(
    r"(?<![a-z])(?:isbn|issn|upc|ean|gtin|sku|asin|mpn|nsn|oem|cas|part|parts|model|item|patent|rfc|kb|"
    r"version|ver|firmware|build|error|stop|bulletin|article|catalog|stock|form|size|scale|series|"
    r"route|rte|highway|hwy|interstate|flight|channel|page|chapter|psalm|room)"
    r"(?: ?(?:no|num|number|code|13|10))?[.:#]? ?$"
)
# Round numbers, and what follows or leads numbers that count something: *under 15000*, *12000 btu*.
_COUNTS_BEFORE = re.compile(
    r"(?<![a-z])(?:under|below|over|above|about|around|than|within|upto|up to|top|only|earn|win|"
    r"save|rs|inr|usd|eur|gbp|is|are|of|with|make|first|last|next)\.? ?$"
)
_COUNTS_AFTER = re.compile(
    r" ?(?:btu|rpm|mah|miles?|km|meters?|metres?|feet|ft|sq|square|acres?|gallons?|lbs?|pounds|"
    r"tons?|watts?|volts?|lumens?|points?|pieces?|people|words|songs|names|jobs|hours?|days?|"
    r"years?|dollars?|bucks|euros?|rupees|rs|inr|usd|pesos|yen|won|calories|leagues|series|bc|ad)"
    r"(?![a-z])"
)
# Plates look like models: only the words before them tell; the British kind is like nothing else.
_PLATE_LABEL = re.compile(
    r"(?<![a-z])(?:"
    r"(?:licen[cs]e|number|vehicle|car|truck|auto) (?:plates?|tags?|registration|reg)"
    r"|[a-z]{2} (?:plate|tag)|vrm|rego|(?:plate|tag|registration|reg)(?= (?:no|num|number)\b| ?#)"
    r"|(?:plate|registration|reg)(?= [a-z]{2}[0-9]{2} ?[a-z]{3}(?![\w-]))"
    r")(?: (?:id|no|num|number|is|of|for|on|search|lookup|check)\b\.?){0,3}[.:# ]{1,3}(?=[a-z0-9])"
)
_PLATE_PARTS = re.compile(r"[a-z0-9]+(?:[ -][a-z0-9]+){0,2}")
PLATE_LENGTHS = range(5, 9)
"""Letters and digits of a plate."""
LONGEST_LABEL = 20
LONGEST_COUNT = 8
SHORTEST_NUMBER = 7
SHORTEST_CODE = 9
"""Digits of a number among words, and letters and digits of a code, that nothing else tells."""
_ZIP = re.compile(r"(?<![0-9a-z$])(?<![0-9][.,-])[0-9]{5}(?:-[0-9]{4})?(?![0-9a-z]|[.,-][0-9])")
_UK_AREAS = (
    r"ab|al|b|ba|bb|bd|bh|bl|bn|br|bs|bt|ca|cb|cf|ch|cm|co|cr|ct|cv|cw|da|dd|de|dg|dh|dl|dn|dt|dy|e|"
    r"ec|eh|en|ex|fk|fy|g|gl|gu|gy|ha|hd|hg|hp|hr|hs|hu|hx|ig|im|ip|iv|je|ka|kt|kw|ky|l|la|ld|le|ll|"
    r"ln|ls|lu|m|me|mk|ml|n|ne|ng|nn|np|nr|nw|ol|ox|pa|pe|ph|pl|po|pr|rg|rh|rm|s|sa|se|sg|sk|sl|sm|sn|"
    r"so|sp|sr|ss|st|sw|sy|ta|td|tf|tn|tq|tr|ts|tw|ub|w|wa|wc|wd|wf|wn|wr|ws|wv|yo|ze"
)
_POSTCODE = re.compile(
    rf"(?<![a-z0-9-])(?:(?:{_UK_AREAS})[0-9][0-9a-z]? ?[0-9][abd-hjlnp-uw-z]{{2}}"
    r"|[abceghj-nprstvxy][0-9][abceghj-nprstv-z][ -]?[0-9][abceghj-nprstv-z][0-9])(?![a-z0-9-])"
)
_PHONE_SHAPES = {(3, 4), (3, 3, 4), (1, 3, 3, 4), (3, 7), (6, 4), (10,), (1, 10)}
_SSN_SHAPES = {(9,), (3, 2, 4), (3, 6)}

_COMMON_TLD = r"(?:com|net|org|edu|gov|mil|info|biz)"
_TYPED_HOSTS = re.compile(
    rf"(?<![\w.-])w{{3}}[ .]{{1,2}}[\w.-]+(?: {_COMMON_TLD}(?![\w-]))?"
    rf"|(?<![\w-])[\w-]{{1,63}}(?: \.|\. | \. | dot ){_COMMON_TLD}(?![\w-])"
)


def dates(text: str) -> Iterator[Span]:
    """Full dates: day, month and year in any usual order and spelling."""
    for match in _DATES.finditer(text):
        if _has_month(match.group()) and not _is_of_event(match.group(), text):
            yield Span(match.start(), match.end(), "date_of_birth")


def _is_of_event(date: str, text: str) -> bool:
    """Whether a date is that of what happened to many: a recent one among words, none personal."""
    recent = re.search(r"(?<![0-9])20[0-9]{2}(?![0-9])", date) is not None
    others = set(re.findall(r"[a-z]+", text.replace(date, " ")))
    return (
        bool(others) and others.isdisjoint(_PERSONAL) and (recent or not others.isdisjoint(_EVENTS))
    )


def _has_month(date: str) -> bool:
    parts = [int(part) for part in re.findall(r"[0-9]+", date)]
    named = any(map(str.isalpha, re.sub(r"(?<=[0-9])(?:st|nd|rd|th)", "", date)))
    day_and_month = parts[1:] if parts[0] > 31 else parts[:2]
    return named or min(day_and_month) <= 12


def addresses(text: str) -> Iterator[Span]:
    """House number and street, with the flat; roads by number; post office boxes; flats."""
    for match in _STREETS.finditer(text):
        if _is_street(match, text):
            yield Span(match.start(), match.end(), "address")
    for pattern in (_ROADS_AND_BOXES, _FOREIGN_STREETS):
        for match in pattern.finditer(text):
            yield Span(match.start(), match.end(), "address")
    for match in _FLATS.finditer(text):
        if _is_flat(match):
            yield Span(match.start(), match.end("end"), "address")


def _is_flat(match: re.Match[str]) -> bool:
    counted = match["after"] in _COUNTED or re.fullmatch(_YEAR, match["flat"] or "")
    return not counted and match.group() not in _KNOWN_UNITS


def _is_street(match: re.Match[str], text: str) -> bool:
    if not _NOT_IN_STREETS.isdisjoint(re.split(r"[ -]", match["words"])):
        return False
    following = text[match.end("suffix") + 1 : match.end("suffix") + 12].split(" ")[0]
    # *3 bedrooms st louis*: a small number before a saint is no house.
    return match["suffix"] != "st" or len(match["house"]) > 2 or following not in _SAINTS


def numbers(text: str) -> Iterator[Span]:
    """Numbers that may point to somebody: postcodes, and whatever is long enough.

    Years, model numbers, measures and the like are short: up to four digits are nobody's number,
    unless a word before them says so (*pin 1234*). The kind is a guess by the grouping of digits.
    """
    yield from _codes(text)
    for match in _ZIP.finditer(text):
        if not (_is_of_thing(text, match.start()) or _is_count(text, *match.span())):
            yield Span(match.start(), match.end(), "zip")
    for match in _POSTCODE.finditer(text):
        yield Span(match.start(), match.end(), "zip")
    for match in _NUMBER_RUN.finditer(text):
        kind = _number_kind(match.group(), alone=match.group() == text)
        if kind and not (_is_of_thing(text, match.start()) or _is_count(text, *match.span())):
            yield Span(match.start(), match.end(), kind)


def _is_count(text: str, start: int, end: int) -> bool:
    """Whether a number counts or prices something: five to eight digits, alone and mostly round."""
    number = text[start:end]
    if not number.isdigit() or len(number) > LONGEST_COUNT:
        return False
    round_number = number.endswith("000") and number != text
    before = text[max(0, start - LONGEST_LABEL) : start]
    return (
        round_number
        or _COUNTS_AFTER.match(text, end) is not None
        or (_COUNTS_BEFORE.search(before) is not None and number.endswith("00"))
    )


def _codes(text: str) -> Iterator[Span]:
    """Numbers with letters or hyphens: what a label says is one, else if it has six digits."""
    for match in _LABELLED.finditer(text):
        if _digits(match.group(1)) >= 4:
            yield Span(match.start(1), match.end(1), "account")
    yield from _plates(text)
    for match in _HYPHENATED.finditer(text):
        code = match.group()
        is_code = any(map(str.isalpha, code)) and _may_be_code(code.replace("-", ""))
        if is_code and not _is_of_thing(text, match.start()):
            yield Span(match.start(), match.end(), "account")
    for match in _MIXED_TOKEN.finditer(text):
        code = match.group()
        is_code = _may_be_code(code) and not _SIZE.fullmatch(code)
        if is_code and not _is_of_thing(text, match.start()):
            yield Span(match.start(), match.end(), "account")


def _may_be_code(code: str) -> bool:
    return _digits(code) >= 6 and len(code) >= SHORTEST_CODE


def _plates(text: str) -> Iterator[Span]:
    """Licence plates: up to three groups of letters and digits after a word that says so."""
    for label in _PLATE_LABEL.finditer(text):
        found = _PLATE_PARTS.match(text, label.end())
        parts = re.split("[ -]", found.group()) if found else []
        for count in range(len(parts), 0, -1):
            if _is_plate(parts[:count]):
                # Groups are one character apart.
                length = sum(map(len, parts[:count])) + count - 1
                yield Span(label.end(), label.end() + length, "account")
                break


def _is_plate(parts: Sequence[str]) -> bool:
    """Short groups of letters and digits, neither words nor a year."""
    code = "".join(parts)
    if len(code) not in PLATE_LENGTHS or _digits(code) < 2 or code.isdigit():
        return False
    words = [part for part in parts if part.isalpha()]
    years = any(re.fullmatch(_YEAR, part) for part in parts)
    return not years and all(len(word) <= 3 and word not in FUNCTION_WORDS for word in words)


def _digits(code: str) -> int:
    return sum(map(str.isdigit, code))


def _is_of_thing(text: str, start: int) -> bool:
    """Whether the words before a number say that it is one of a thing: *part number 12345678*."""
    return _THINGS.search(text[max(0, start - LONGEST_LABEL) : start]) is not None


def _number_kind(run: str, *, alone: bool) -> str:
    """A guess; what is typed alone is asked for itself, be it short."""
    groups = re.findall(r"[0-9]+", run)
    lengths = tuple(map(len, groups))
    if sum(lengths) < (6 if alone else SHORTEST_NUMBER) or _is_article(run):
        return ""
    if _is_everyday(run, groups, lengths) and not (alone and lengths == (3, 4)):
        return ""
    if lengths in _SSN_SHAPES:
        return "ssn"
    return "phone" if lengths in _PHONE_SHAPES or run[0] == "+" else "account"


def _is_article(run: str) -> bool:
    """Whether the check digit is that of a book or of an article of commerce (ISBN, UPC, EAN).

    A number that may be that of a card, too, is none.
    """
    if not run.isdigit() or len(run) not in (10, 12, 13):
        return False
    values = list(map(int, reversed(run)))
    if len(run) == 10:
        return run[0] in "01" and sum(at * value for at, value in enumerate(values, 1)) % 11 == 0
    odd, even = sum(values[::2]), values[1::2]
    card = odd + sum(2 * value - 9 * (value > 4) for value in even)
    return (odd + 3 * sum(even)) % 10 == 0 and card % 10 != 0


def _is_everyday(run: str, groups: Sequence[str], lengths: tuple[int, ...]) -> bool:
    """Counting, years, decimal fractions, sizes, a model and its year."""
    years = [bool(re.fullmatch(_YEAR, group)) for group in groups]
    if max(lengths) == 1 or all(years) or re.fullmatch(r"[0-9]{1,2}\.[0-9]{1,8}", run):
        return True
    if lengths == (3, 4) and (" " in run or groups[0][0] in "01"):
        return True
    # Three groups of three are how some countries number people.
    counting = len(groups) > 2 and max(lengths) < 4 and lengths != (3, 3, 3)
    if counting and not run.replace(" ", "").strip("0123456789"):
        return True
    if sum(lengths) == 6 and len(groups) > 1:
        return True
    if max(lengths) > 4 or run.replace(" ", "").strip("0123456789") or lengths in _SSN_SHAPES:
        return False
    if len(groups) == 2:
        return lengths != (3, 4) or years[1]
    return len(groups) == 3 and any(years) and lengths not in _PHONE_SHAPES


def typed_hosts(text: str) -> Iterator[Span]:
    """Host names typed with blanks or words for dots: *www foo com*, *foo .com*, *foo dot com*."""
    for match in _TYPED_HOSTS.finditer(text):
        yield Span(match.start(), match.end(), "url")
