"""What is counted, in words, and which ids are one person's."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.counted import Counted, folded_id, is_nobody, unit_of
from tasks.core.log_options import LogOptions
from tasks.errors import UsageError


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (Counted("people", "customer_id"), "5 people (column customer_id)"),
        (Counted("people"), "5 people"),
        (Counted("sessions", "sid"), "5 sessions, not people"),
        (Counted("rows"), "5 rows, not people"),
    ],
)
def test_the_words_of_every_verdict(counted: Counted, said: str) -> None:
    assert counted.said(5) == said


def test_what_may_be_compared() -> None:
    assert Counted("people", "User_ID").is_same_as(Counted("people", "userId"))
    assert not Counted("people", "user").is_same_as(Counted("people", "member"))
    assert not Counted("people", "user").is_same_as(Counted("sessions", "user"))


@pytest.mark.parametrize(
    ("person", "unit"),
    [("", "people"), ("customer", "people"), ("session:sid", "sessions"), ("row", "rows")],
)
def test_units(person: str, unit: str) -> None:
    assert unit_of(person) == unit


SPELLINGS = [
    ["Anna Smith", "anna smith", "ANNA SMITH", " Anna  Smith ", "\u200banna\u00a0smith\ufeff"],
    ["straße", "STRASSE", "stra\u00adße", "s\u034ftraße"],
    ["ﬁona", "fiona", "ＦＩＯＮＡ", "fi\u200dona", "fiona\ufe0f", "fiona\u2800"],
    ["5", "5.0", "05", "５", "+5", "5."],
    ["Zoë", "Zoe\u0308", "zoe\u0308\u200e"],
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda found: found[0])
def test_spellings_of_one_id(spellings: list[str]) -> None:
    assert len({folded_id(text) for text in spellings}) == 1


def test_ids_that_differ() -> None:
    ids = ["5", "50", "5.5", "anna", "anna1", "ann a", "zoe", "zoë", "1-1"]
    assert len({folded_id(text) for text in ids}) == len(ids)


@given(st.text())
def test_folding_once_is_enough(text: str) -> None:
    folded = folded_id(text)
    assert folded_id(folded) == folded
    assert folded_id(text.upper().casefold()) == folded_id(text.casefold().upper().casefold())
    assert not [c for c in folded if unicodedata.category(c) in ("Cf", "Cc")]


@pytest.mark.parametrize(
    "text",
    ["-", "--", "NULL", "nan", "None", "n/a", "N/A", "unknown", "Anonymous", "guest", "0", "0.0"]
    + ["(null)", "undefined", "(not set)", "00000000-0000-0000-0000-000000000000", "-1", "\\N", "?"]
    + ["", " ", "\u200b", "０", "ＮＵＬＬ"],
)
def test_placeholders_are_nobody(text: str) -> None:
    assert is_nobody(folded_id(text))


@pytest.mark.parametrize("text", ["1", "10", "anna", "nano", "0x1", "Nuller", "李"])
def test_somebody(text: str) -> None:
    assert not is_nobody(folded_id(text))


def test_a_person_is_said_in_one_way() -> None:
    assert LogOptions(person="who") == LogOptions(columns={"user": "who"})
    session = LogOptions(person="session:sid", columns={"query": "q"})
    assert session.columns == {"query": "q", "user": "sid"}
    assert LogOptions(person=session.person, columns=session.columns) == session


@pytest.mark.parametrize(
    ("person", "user"), [("row", "who"), ("session:sid", "who"), ("a", "b"), ("session:", "")]
)
def test_contradictions(person: str, user: str) -> None:
    with pytest.raises(UsageError, match="--person"):
        LogOptions(person=person, columns={"user": user} if user else {})
