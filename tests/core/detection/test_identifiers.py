"""Folding of look-alikes, spans without overlap; numbers, dates, addresses and hosts by shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.identifiers import (
    KINDS,
    Span,
    addresses,
    dates,
    disjoint,
    fold,
    numbers,
    typed_hosts,
    unfold,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("plain text", "plain text"),
        ("\u0665\u0665\u0665", "555"),
        ("12\u201103\u20131961", "12-03-1961"),
        ("j\u043ehn", "john"),
        ("jos\u00e9 m\u00fcller", "jose muller"),
        ("o\u2019brien", "o'brien"),
        ("jo\u200bhn", "john"),
        ("j\u0336o\u0336", "jo"),
        ("\u4e2d\u6587", "\u4e2d\u6587"),
    ],
)
def test_fold_shows_what_the_eye_sees(text: str, folded: str) -> None:
    assert fold(text)[0] == folded


def test_unfold_points_into_the_text_as_it_was() -> None:
    text = "to jo\u200bhn!"
    folded, offsets = fold(text)
    start = folded.index("john")
    (span,) = unfold([Span(start, start + 4, "name")], offsets)
    assert text[span.start : span.end] == "jo\u200bhn"


def test_of_overlapping_spans_the_first_given_wins_and_the_rest_stays() -> None:
    spans = [Span(5, 20, "email"), Span(0, 8, "name")]
    assert disjoint("jane roe@example.com", spans) == (Span(0, 4, "name"), Span(5, 20, "email"))


def test_a_rest_without_letters_or_digits_is_nothing() -> None:
    assert disjoint("12 - ", [Span(0, 2, "zip"), Span(0, 5, "account")]) == (Span(0, 2, "zip"),)


@st.composite
def text_and_spans(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(st.text(min_size=1))
    place = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(place, place, st.sampled_from(KINDS))))
    return text, [Span(min(a, b), max(a, b), kind) for a, b, kind in pairs if a != b]


@given(text_and_spans())
def test_disjoint_spans_are_ordered_and_cover_every_letter(case: tuple[str, list[Span]]) -> None:
    text, spans = case
    result = disjoint(text, spans)
    borders = [border for span in result for border in (span.start, span.end)]
    assert borders == sorted(borders)
    covered = {at for span in result for at in range(span.start, span.end)}
    wanted = {at for span in spans for at in range(span.start, span.end)}
    assert all(at in covered for at in wanted if text[at].isalnum())


@given(st.text())
def test_fold_keeps_one_offset_per_character(text: str) -> None:
    folded, offsets = fold(text)
    assert len(offsets) == len(folded) + 1
    assert list(offsets) == sorted(set(offsets))
    assert offsets[-1] == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "12/03/1961",
        "3/12/61",
        "31-12-1999",
        "12.03.1961",
        "12.03.61",
        "12 03 1961",
        "1961-03-12",
        "1961/3/12",
        "march 12 1961",
        "march 12th, 1961",
        "mar. 12 '61",
        "12 mar 61",
        "12mar1961",
        "3rd of may 1970",
    ],
)
def test_full_dates(text: str) -> None:
    assert [(span.start, span.end) for span in dates(f"born {text} in ohio")] == [
        (5, 5 + len(text))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "9/11",
        "march 1961",
        "may 12",
        "2006",
        "32/13/1961",
        "20/20/1961",
        "10.4.11",
        "1/2/3/4",
        "4-4-2",
        "lottery results june 5 2006",
        "attack on pearl harbor december 7 1941",
    ],
)
def test_no_full_date(text: str) -> None:
    assert list(dates(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "123 main street",
        "12 n. oak dr apt 4b",
        "221b baker street",
        "1600 pennsylvania ave nw",
        "77-12 5th ave.",
        "4512 martin luther king blvd",
        "9 st james pl, suite 200",
        "1234 hwy 61",
        "1420 broadway",
        "844 6th street northwest",
        "2615 1/2 gary avenue",
        "4140 west 5415 south",
        "2229 18 mile road",
        "1101 u.s. highway no. 130 north",
        "p.o. box 123",
        "po box 99",
    ],
)
def test_addresses(text: str) -> None:
    found = [(span.start, span.end) for span in addresses(f"{text}, springfield")]
    assert (0, len(text)) in found


@pytest.mark.parametrize(
    "text",
    [
        "baker street",
        "42nd street",
        "4 wheel drive",
        "2006 four-wheel drive",
        "500 gb hard drive",
        "10 things to do in st louis",
        "3 homes st louis",
        "highway 61",
        "2 way radio",
        "box 12",
    ],
)
def test_no_address(text: str) -> None:
    assert list(addresses(text)) == []


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("90210", "zip"),
        ("90210-1234", "zip"),
        ("536-22-8726", "ssn"),
        ("078 05 1120", "ssn"),
        ("536228726", "ssn"),
        ("555-1234", "phone"),
        ("(555) 123-4567", "phone"),
        ("555 123 4567", "phone"),
        ("202 555 1999", "phone"),
        ("5551234567", "phone"),
        ("+44 20 7946 0958", "phone"),
        ("1234567", "account"),
        ("12345678", "account"),
        ("1234 5678 9012 3456", "account"),
        ("2006 1234 5678 1", "account"),
        ("1z999aa10123456784", "account"),
    ],
)
def test_numbers(number: str, kind: str) -> None:
    text = f"about {number} here"
    found = [span for span in numbers(text) if text[span.start : span.end] == number]
    assert found[0].kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "windows 2000",
        "1040 form",
        "windows 98 2000 2003",
        "bmw 325 2001",
        "1995-2000",
        "2005 2006",
        "1024 768",
        "3.14159265",
        "$250000",
        "100,000",
        "24 7 365",
        "1 2 3 4 5 6 7 8",
        "mp3",
        "rs232",
        "no digits",
        "laptop under 80000",
        "12500 btu air conditioner",
        "20000 leagues under the sea",
        "patent 6285999",
        "isbn 0131103628",
        "0131103628 textbook",
        "036000291452 cereal",
        "error 80070057",
        "part number 40mxf250d",
        "compaq dc123456",
        "oil filter 123456",
        "chevy 350 4000 rpm",
        "pick 3 10 20 30",
    ],
)
def test_everyday_numbers(text: str) -> None:
    assert list(numbers(text)) == []


@pytest.mark.parametrize("text", ["90210", "555 0198", "123456", "10000"])
def test_a_number_typed_alone_is_asked_for_itself(text: str) -> None:
    assert [(span.start, span.end) for span in numbers(text)][:1] == [(0, len(text))]


def test_a_label_makes_a_short_number_an_account() -> None:
    text = "pin number: 1234"
    assert [text[span.start : span.end] for span in numbers(text)] == ["1234"]


@pytest.mark.parametrize(
    "text", ["www foo com", "www.foo com", "www. foo.com", "foo .com", "foo dot com"]
)
def test_hosts_typed_with_blanks(text: str) -> None:
    spans = [(span.start, span.end) for span in typed_hosts(text)]
    assert (spans[0][0], spans[-1][1]) == (0, len(text))


@pytest.mark.parametrize("text", ["dot com bubble", "www", "com", "polka dot dress", "foo. bar"])
def test_no_typed_host(text: str) -> None:
    assert list(typed_hosts(text)) == []
