"""The verifier proves honest releases and names the broken clauses of every dishonest one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tasks.core.verification.clauses import Promise, not_promised, promised
from tests.core.release_cases import (
    CLAUSES,
    CLUSTER,
    CONCEPTS,
    FORM,
    HEADER,
    HONEST,
    K_ANONYMOUS,
    NAME,
    PAPER,
    QUERY,
    STRICT,
    TERMS,
    TIME,
    Case,
    broken,
    judge,
    make_case,
    row_saying,
    sentences,
)


@pytest.mark.parametrize("guarantee", HONEST)
def test_an_honest_release_is_proven(guarantee: str) -> None:
    assert judge(HONEST[guarantee]) == []


def test_an_empty_release_is_proven() -> None:
    assert judge(make_case([], "strict")) == []


def test_several_rows_of_one_person_do_no_harm() -> None:
    number = row_saying(STRICT, "cancer help")
    twice = STRICT.take([*range(len(STRICT.rows)), number])
    case = replace(twice, promise=replace(STRICT.promise, published=17, withheld=3))
    assert judge(case.sorted()) == []


def test_every_clause_is_promised_in_plain_words() -> None:
    assert promised(STRICT.promise) == [says for name, says in CLAUSES.items() if name != "words"]
    by_day = sentences("terms")
    of_rows = ("shared", "common")
    assert promised(TERMS.promise) == [s for name, s in by_day.items() if name not in of_rows]
    of_paper = [name for name in (*FORM, "people") if name not in K_ANONYMOUS]
    assert promised(PAPER.promise) == [by_day[name] for name in of_paper]


@pytest.mark.parametrize(
    ("time", "says", "told"),
    [
        ("none", "no row tells a time", ""),
        ("month", "no time is finer than the month", "2006-03"),
        ("day", "no time is finer than the day", "2006-03-05"),
        ("hour", "no time is finer than the hour", "2006-03-05 07"),
    ],
)
def test_no_time_is_finer_than_promised(time: str, says: str, told: str) -> None:
    case = replace(STRICT, promise=replace(STRICT.promise, time=time))
    assert says in promised(case.promise)
    finer = [each for each in ("2006-03", "2006-03-05", "2006-03-05 07") if len(each) > len(told)]
    for each in finer:
        found = judge(case.with_column(TIME, lambda _, each=each: each).sorted())  # type: ignore[misc]
        assert found == [f"{says}: broken by 16 rows (1, 2, 3, ...)"]
    assert judge(case.with_column(TIME, lambda _: told).sorted()) == []


def test_what_is_not_promised_is_said() -> None:
    assert not_promised("paper") == ["truth is not promised under guarantee paper"]
    assert not_promised("strict") == not_promised("terms") == []


def swap_concept(case: Case) -> Case:
    row = row_saying(case, "treatment respiratory disease")
    case = case.with_cell(row, CONCEPTS, "influenza.n.01;treatment.n.01")
    return case.with_cell(row, QUERY, "treatment influenza").sorted()


def swap_cancer_for(name: str) -> Callable[[Case], Case]:
    """In the whole cluster, so that only the truth gives it away."""

    def swap(case: Case) -> Case:
        return case.with_column(CONCEPTS, lambda cell: cell.replace("cancer.n.01", name)).sorted()

    return swap


def let_one_person_mention_something_else(case: Case) -> Case:
    """A sibling of what the row publishes, which stays true of all others."""
    row = next(number for number, names in enumerate(case.mentions) if "pneumonia.n.01" in names)
    mentions = list(case.mentions)
    mentions[row] = ("cancer.n.01", "treatment.n.01")
    return replace(case, mentions=tuple(mentions))


def say_fillers(case: Case) -> Case:
    """In every row, so that k people share the words; rows with concepts say those."""
    return case.with_column(QUERY, lambda text: "for the").sorted()


def call_a_concept_by_a_filler(case: Case) -> Case:
    return case.with_column(QUERY, lambda text: text.replace("cancer help", "of")).sorted()


def misspell_a_concept(case: Case) -> Case:
    return case.with_column(CONCEPTS, lambda cell: cell.replace("cancer", "canker")).sorted()


def turn_concepts_round(case: Case) -> Case:
    return case.with_column(CONCEPTS, lambda cell: ";".join(reversed(cell.split(";")))).sorted()


def name_a_concept_twice(case: Case) -> Case:
    return case.with_column(CONCEPTS, lambda cell: cell.replace(";", ";treatment.n.01;")).sorted()


def give_words_alone_a_concept(case: Case) -> Case:
    plain = [number for number, row in enumerate(case.rows) if not row[CLUSTER]]
    for number in plain:
        text = f"influenza {case.rows[number][QUERY]}"
        case = case.with_cell(number, CONCEPTS, "influenza.n.01").with_cell(number, QUERY, text)
    return case.sorted()


def add_a_rare_word(case: Case) -> Case:
    return case.with_cell(0, QUERY, case.rows[0][QUERY] + " zanzibar").sorted()


def put_a_name_back(case: Case) -> Case:
    return case.with_column(QUERY, lambda text: f"{text} {NAME}").sorted()


def drop_a_row_of_the_file(case: Case) -> Case:
    return replace(case, rows=case.rows[1:])


def drop_a_member(case: Case) -> Case:
    return case.without(row_saying(case, "weather"))


def add_a_user_column(case: Case) -> Case:
    rows = tuple((*row, str(user)) for row, user in zip(case.rows, case.users, strict=True))
    return replace(case, rows=rows, header=(*HEADER, "user"))


def rename_a_column(case: Case) -> Case:
    return replace(case, header=("user", *HEADER[1:]))


def restore_a_full_timestamp(case: Case) -> Case:
    """For all rows of that day, as if k people had searched in the same second."""
    full = "2006-03-05 07:41:02"
    return case.with_column(TIME, lambda time: full if "-05" in time else time).sorted()


def refine_a_time_to_the_hour(case: Case) -> Case:
    return case.with_column(TIME, lambda time: f"{time} 07" if "-05" in time else time).sorted()


def swap_two_rows(case: Case) -> Case:
    """With the people behind them, so that only their order gives it away."""
    return case.take([len(case.rows) - 1, *range(1, len(case.rows) - 1), 0])


def move_a_row_to_another_cluster(case: Case) -> Case:
    return case.with_cell(row_saying(case, "cancer help"), CLUSTER, "1").sorted()


def pad_a_cluster_with_words_alone(case: Case) -> Case:
    """A cluster of its own, so that only the missing concepts give it away."""
    return case.with_column(CLUSTER, lambda number: number or "3").sorted()


def duplicate_a_row(case: Case) -> Case:
    return replace(case, rows=(case.rows[0], *case.rows))


def empty_a_query(case: Case) -> Case:
    return case.with_column(QUERY, lambda text: text.replace("weather", " ")).sorted()


def let_one_person_fill_a_cluster(case: Case) -> Case:
    users = [1 if row[CLUSTER] == "2" else u for row, u in zip(case.rows, case.users, strict=True)]
    return replace(case, users=tuple(users))


def let_a_cluster_hide_one_set(case: Case) -> Case:
    sets = [9 if row[CLUSTER] == "1" else s for row, s in zip(case.rows, case.sets, strict=True)]
    return replace(case, sets=tuple(sets))


def lose_a_read_record(case: Case) -> Case:
    return replace(case, promise=replace(case.promise, read=case.promise.read + 1))


def claim_one_more_published(case: Case) -> Case:
    counts = replace(case.promise, published=case.promise.published + 1, read=case.promise.read + 1)
    return replace(case, promise=counts)


def withhold_less_than_nothing(case: Case) -> Case:
    return replace(case, promise=replace(case.promise, withheld=-1, rejected=8))


MUTATIONS: list[tuple[Case, Callable[[Case], Case], set[str]]] = [
    (STRICT, swap_concept, {"same", "sets", "shared", "true"}),
    (STRICT, swap_cancer_for("respiratory_disease.n.01"), {"true"}),  # its sibling
    (STRICT, swap_cancer_for("lymphoma.n.01"), {"true"}),  # its child
    (STRICT, swap_cancer_for("treatment.n.01"), {"true"}),  # a stranger
    (STRICT, swap_cancer_for("entity.n.01"), {"true"}),  # says nothing of anybody
    (STRICT, swap_cancer_for("disease.n.01"), set()),  # its parent
    (STRICT, let_one_person_mention_something_else, {"true"}),
    (STRICT, say_fillers, {"fillers"}),
    (STRICT, call_a_concept_by_a_filler, set()),
    (STRICT, misspell_a_concept, {"wordnet", "true"}),
    (STRICT, turn_concepts_round, {"sorted"}),
    (STRICT, name_a_concept_twice, {"sorted"}),
    (STRICT, give_words_alone_a_concept, {"stray", "true"}),
    (STRICT, add_a_rare_word, {"sets", "shared"}),
    (STRICT, put_a_name_back, {"identifier"}),
    (STRICT, drop_a_row_of_the_file, {"rows", "people", "sets", "shared", "common", "true"}),
    (STRICT, drop_a_member, {"shared"}),
    (STRICT, add_a_user_column, {"columns", "fields"}),
    (STRICT, rename_a_column, {"columns"}),
    (STRICT, restore_a_full_timestamp, {"time", "finest"}),
    (STRICT, swap_two_rows, {"order"}),
    (STRICT, move_a_row_to_another_cluster, {"people", "same", "sets", "shared"}),
    (STRICT, pad_a_cluster_with_words_alone, {"bare"}),
    (STRICT, duplicate_a_row, {"rows", "people", "sets", "shared", "common", "true"}),
    (STRICT, empty_a_query, {"empty"}),
    (STRICT, let_one_person_fill_a_cluster, {"people", "sets", "shared"}),
    (STRICT, let_a_cluster_hide_one_set, {"sets"}),
    (STRICT, lose_a_read_record, {"records"}),
    (STRICT, claim_one_more_published, {"rows"}),
    (STRICT, withhold_less_than_nothing, {"records"}),
    (TERMS, let_one_person_mention_something_else, {"true"}),
    (TERMS, say_fillers, {"fillers"}),
    (PAPER, swap_cancer_for("treatment.n.01"), set()),
    (PAPER, say_fillers, set()),
    (TERMS, add_a_rare_word, {"words"}),
    (TERMS, put_a_name_back, {"identifier"}),
    (TERMS, drop_a_row_of_the_file, {"rows", "people", "sets", "words", "true"}),
    (TERMS, add_a_user_column, {"columns", "fields"}),
    (TERMS, restore_a_full_timestamp, {"time", "finest"}),
    (TERMS, refine_a_time_to_the_hour, {"finest"}),
    (TERMS, swap_two_rows, {"order"}),
    (TERMS, duplicate_a_row, {"rows", "people", "sets", "words", "true"}),
    (TERMS, let_a_cluster_hide_one_set, {"sets"}),
    (TERMS, lose_a_read_record, {"records"}),
    (PAPER, put_a_name_back, {"identifier"}),
    (PAPER, add_a_user_column, {"columns", "fields"}),
    (PAPER, restore_a_full_timestamp, {"time", "finest"}),
    (PAPER, swap_two_rows, {"order"}),
    (PAPER, claim_one_more_published, {"rows"}),
]


@pytest.mark.parametrize(("honest", "mutate", "expected"), MUTATIONS)
def test_a_broken_release_is_caught_by_the_right_clauses(
    honest: Case, mutate: Callable[[Case], Case], expected: set[str]
) -> None:
    assert broken(mutate(honest)) == expected


@pytest.mark.parametrize(
    "time",
    ["2006", "2006-13", "2006-00", "2006-03-32", "2006-03-05 24", "2006-03-05T07",
     "2006-03-05 07:41", "yesterday", " ", "2006-03-05 07\n", "\u0968006-03"],
)  # fmt: skip
def test_only_the_four_forms_of_time_pass(time: str) -> None:
    found = broken(STRICT.with_column(TIME, lambda _: time).sorted())
    assert found - {"finest"} == {"time"}


@pytest.mark.parametrize("number", ["0", "-1", "01", "1.0", "one", " 1", "1\r", "\u0661"])
def test_only_positive_whole_numbers_are_clusters(number: str) -> None:
    case = STRICT.with_column(CLUSTER, lambda cell: number if cell == "1" else cell).sorted()
    assert broken(case) == {"number"}


def test_an_unknown_guarantee_proves_nothing_and_is_judged_by_every_clause() -> None:
    promise = replace(STRICT.promise, guarantee="none")
    assert "promise" in broken(replace(STRICT, promise=promise))
    every = {*sentences("none").values(), CLAUSES["sets"]}
    assert set(promised(promise)) == every


@pytest.mark.parametrize(
    "promise",
    [
        replace(STRICT.promise, k=1),
        replace(STRICT.promise, l=0),
        replace(STRICT.promise, time="second"),
    ],
    ids=["k", "l", "time"],
)
def test_a_promise_of_nothing_is_no_promise(promise: Promise) -> None:
    case = replace(STRICT, promise=promise)
    assert any(fault.startswith(CLAUSES["promise"]) for fault in judge(case))


def test_a_row_of_other_width_is_not_counted_among_the_people_of_its_cluster() -> None:
    cut = (STRICT.rows[0][:3], *STRICT.rows[1:])
    assert broken(replace(STRICT, rows=cut)) == {"fields", "people", "sets", "shared"}


def test_a_side_table_of_other_length_proves_nothing_about_people() -> None:
    found = judge(replace(STRICT, sets=STRICT.sets[1:]))
    assert found[0] == (
        "every row stands for one record of one person: "
        "broken by the counts: 16 rows, 16 people, 15 attribute sets, 16 queries, 16 published"
    )
    assert [fault.partition(": ")[2] for fault in found[1:]] == [
        "not proven, because it is not known who stands behind each row"
    ] * 5
    assert "15 queries" in judge(replace(STRICT, mentions=STRICT.mentions[1:]))[0]


def test_a_fault_counts_the_rows_and_names_the_first_three() -> None:
    assert judge(put_a_name_back(STRICT)) == [
        "no query holds a direct identifier: broken by 16 rows (1, 2, 3, ...)"
    ]
    assert judge(add_a_rare_word(TERMS)) == [
        "every word is used by at least 3 people: broken by 1 row (1)"
    ]


@pytest.mark.parametrize("guarantee", HONEST)
def test_no_fault_repeats_a_word_of_the_release(guarantee: str) -> None:
    rows = [(f"{NAME} b", f"{NAME};{NAME}", NAME, NAME), (f"{NAME} a", NAME, NAME, ""), (NAME,)]
    case = make_case([(row, (number,), (1,)) for number, row in enumerate(rows)], guarantee)
    leaky = replace(case, rows=tuple(rows), header=(NAME, *HEADER))
    found = judge(leaky)
    assert len(found) >= 10
    assert NAME not in " ".join(found)
