"""Folding of look-alikes, and spans without overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.spans import KINDS, Span, disjoint, fold, unfold


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
