"""Rows to look at: the choice is a rule that anybody can follow with the release alone."""

from __future__ import annotations

from tasks.adapters.report.examples import MOST_LISTED, Class, example_classes, listed_classes


def a_class(name: str, concepts: str, rows: int) -> Class:
    return (name, concepts, "", ""), rows, 5


def test_the_largest_the_median_and_the_smallest_of_both_kinds() -> None:
    concepts = [a_class(f"c{rows}", "a.n.01;b.n.01", rows) for rows in range(5, 14)]
    words = [a_class(f"w{name}", "", 5) for name in "dabce"]
    found = example_classes([*concepts, *words])
    assert [one.query for one in found] == [
        *("c13", "c12", "c9", "c6", "c5"),
        *("wa", "wb", "wc", "wd", "we"),
    ]
    assert found[2].why == "with concepts, median"
    assert (found[0].concepts, found[0].people) == ("a.n.01 b.n.01", "5")
    assert example_classes([*words, *concepts[::-1]]) == found, "whatever their order"


def test_few_classes_are_shown_once_each() -> None:
    assert [one.why for one in example_classes([a_class("w", "", 5)])] == ["words alone, largest"]
    two = [a_class("v", "", 6), a_class("w", "", 5)]
    assert [one.query for one in example_classes(two)] == ["v", "w"]
    assert example_classes([]) == []


def test_long_lists_are_cut() -> None:
    many = [a_class(f"{rows:03d}", "", rows) for rows in range(100)]
    found = listed_classes(many)
    assert len(found) == MOST_LISTED
    assert found[0].query == "099"
