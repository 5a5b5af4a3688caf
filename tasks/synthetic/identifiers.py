"""Direct identifiers in synthetic logs.

They are well formed, drawn by rule, nobody's on purpose. Check digits and ranges are kept,
so that detectors with validators (presidio's) accept them. Mail addresses lie in the domains that
RFC 2606 reserves, public IP addresses in the blocks that RFC 5737 reserves: those belong to
nobody. Phone and social security numbers have no reserved block that validators accept, so there
a match with a real number is possible by chance only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tasks.synthetic.draws import Dice, Weighted, weighted

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
