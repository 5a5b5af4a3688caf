"""Identifiers of all kinds, planted so that k people share each: none may be in the release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import pytest

from flows.run import main
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.lexicon import lexical_key
from tasks.core.detection.readings import normalise

K = 3
EACH = 84
FIRST = ("nadine", "gustavo", "priya", "tamara", "wesley", "ingrid", "olga", "kwame", "bettina")
LAST = ("kowalski", "okafor", "villanueva", "lindqvist", "pruitt", "haskins", "moreau", "tanaka")
STREETS = ("larkspur", "maplewood", "kessler", "brandywine", "elkhorn", "sycamore", "quarry")


def with_luhn_digit(digits: str) -> str:
    doubled = [
        int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(digits[::-1])
    ]
    return digits + str(-sum(sum(divmod(value, 10)) for value in doubled) % 10)


def german_iban(account: int) -> str:
    number = f"{account:018d}"
    check = 98 - int(number + "131400") % 97
    return f"de{check:02d}{number}"


def planted(kind: str) -> Iterator[str]:
    """Identifiers of one kind, all different, none anybody's."""
    numbers = range(EACH)
    people = product(FIRST, LAST) if kind == "name" else ()
    made = {
        "email": (f"nobody{n}x@example{n % 7}.com" for n in numbers),
        "phone": (f"{212 + n}-555-01{n:02d}" for n in numbers),
        "ssn": (f"77{n % 10}-{10 + n}-{3000 + 7 * n}" for n in numbers),
        "card": (with_luhn_digit(f"41111{n:03d}2345678") for n in numbers),
        "iban": (german_iban(370400440532013000 + n) for n in numbers),
        "ip": (f"203.0.113.{n + 1}" for n in numbers),
        "url": (f"www.nobodys-site.org/{n}" for n in numbers),
        "address": (f"{1100 + n} {STREETS[n % 7]} lane" for n in numbers),
        "zip": (f"{10100 + 13 * n}" for n in numbers),
        "account": (f"1z999aa1{7000000 + n}" for n in numbers),
        "date_of_birth": (f"{1 + n % 12:02d}/{1 + n % 28:02d}/{1930 + n % 60}" for n in numbers),
        "name": (f"{first} {last}" for first, last in people),
    }
    return islice(made[kind], EACH)


def all_planted() -> list[tuple[str, str]]:
    extra = [("name", f"{first} {last}") for first in FIRST for last in ("hathcock", "dijkstra")]
    return [(kind, text) for kind in KINDS for text in planted(kind)] + extra


def write_log(path: Path) -> None:
    lines = ["AnonID\tQuery\tQueryTime"]
    for row, (_, text) in enumerate(all_planted()):
        for user in range(K + 1):
            lines.append(f"{user}\tlung cancer {text} weather\t2006-03-01 10:00:{row % 60:02d}")
            lines.append(f"{user}\t{text}\t2006-03-01 11:00:{row % 60:02d}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.slow
def test_a_release_holds_none_of_a_thousand_planted_identifiers(
    store: Path, tmp_path: Path
) -> None:
    planted_texts = all_planted()
    assert len({text for _, text in planted_texts}) >= 1000
    write_log(tmp_path / "log.tsv")
    out = tmp_path / "release"
    options = ["--bare", "--quiet", "--k", str(K), "--store", str(store), "--out", str(out)]
    assert main([str(tmp_path / "log.tsv"), *options]) == 0
    rows = (out / "release.tsv").read_text(encoding="utf-8").splitlines()[1:]
    queries = {row.split("\t")[0] for row in rows}
    # The rest of the queries is there: the test would see identifiers if they were published.
    assert any("weather" in query for query in queries)
    published = " | ".join(f" {query} " for query in queries)
    digits = set(re.findall(r"[0-9]{4,}", published))
    for kind, text in planted_texts:
        assert f" {lexical_key(normalise(text))} " not in published, kind
        assert not digits & set(re.findall(r"[0-9]{4,}", text)), kind
