"""Synthetic query logs with the shape of a real one, from a vocabulary and a seed.

What is imitated: people of very different activity, each with a few interests, a home town,
favourite sites and people they look for; sessions of a few queries minutes apart with
reformulations; queries repeated by the same person; a wide tail of queries asked once; typing
errors; direct identifiers now and then. What is not: any query of any real person.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final, NamedTuple

from tasks.errors import UsageError
from tasks.synthetic.draws import Dice, Weighted, weighted, zipf
from tasks.synthetic.phrases import Town, Writer, small_town
from tasks.synthetic.queries import (
    Kind,
    Query,
    Topic,
    Vocabulary,
    address_query,
    as_typed,
    click_url,
    common_query,
    form_query,
    identifier_query,
    misspelt,
    person_query,
    reworded,
    topic_query,
    topic_term,
)

FIRST_DAY: Final = datetime(2006, 3, 1)
DAYS: Final = 92
LAST_START: Final = DAYS * 86_400 - 2 * 3_600
"""Sessions start two hours before the end at the latest: none lasts that long."""

LARGEST_ID: Final = 25_000_000
MOST_ACTIVE: Final = 200
"""How many times as active as the least active person the most active may be."""

CLICKED: Final = 0.45
MISSPELT: Final = 0.06
KNOWN_HOME: Final = 0.45
SAME_AGAIN: Final = 0.1
"""The next row of a session is the same query: another result was clicked."""
REWORDED: Final = 0.1
SAME_TOPIC: Final = 0.14
OF_HABIT: Final = 0.55
SETTLED: Final = 80
"""The more people have asked, the more of it they ask again: at most a share of OF_HABIT, half of
that after so many queries."""
SELDOM_AGAIN: Final = (Kind.FORM, Kind.PERSON, Kind.SITE)
"""What is asked for once and found is not a habit."""
OF_CONCERN: Final = 0.1
USUAL: Final = 0.1
RANKS: Final = weighted(range(1, 41), [1 / rank for rank in range(1, 11)] + [0.012] * 30)
"""Results on the first page by place, and seldom those of the next three pages."""

HOURS: Final = weighted(
    range(24), (3, 2, 1, 1, 1, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 8, 8, 7, 5)
)
SESSION_LENGTHS: Final = weighted(range(1, 9), (40, 22, 13, 9, 6, 4, 3, 3))


class Row(NamedTuple):
    """One row of the log; rank and url are empty if nothing was clicked."""

    user: int
    query: str
    time: str
    rank: str
    url: str


@dataclass(slots=True)
class Searcher:
    """A person of the log: what they care about and what they have typed so far."""

    topics: Weighted[Topic]
    writer: Writer
    focus: dict[str, list[str]] = field(default_factory=dict)
    usual: list[Query] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    history: list[Query] = field(default_factory=list)


class World(NamedTuple):
    """What all searchers share."""

    dice: Dice
    words: Vocabulary
    topics: Weighted[Topic]
    sought: deque[str]
    """People somebody has looked for: now and then somebody else does too."""


def synthetic_log(
    words: Vocabulary,
    *,
    queries: int,
    users: int,
    seed: int,
    topics_per_user: int = 5,
    sensitive: float = 1.0,
) -> Iterator[Row]:
    """Rows of a synthetic log, ordered by user and time; same arguments, same rows.

    Args:
        words: the vocabulary.
        queries: how many rows, from 1.
        users: how many people, from 1; each has a row if there are rows enough, otherwise only as
            many people as rows appear.
        seed: any whole number from 0.
        topics_per_user: each person has from two to so many interests, from 1.
        sensitive: factor on how common sensitive interests are, from 0 (none) to 1000.

    Raises:
        UsageError: for arguments out of range; the message lists all of them.
    """
    counts = {"queries": queries, "users": users, "topics per user": topics_per_user}
    faults = [f"{name} must be from 1, not {count}" for name, count in counts.items() if count < 1]
    if seed < 0:
        faults.append(f"seed must be from 0, not {seed}")
    if not 0 <= sensitive <= 1000:
        faults.append(f"sensitive must be from 0 to 1000, not {sensitive:g}")
    if faults:
        raise UsageError("; ".join(faults))
    scaled = [topic.weight * (sensitive if topic.sensitive else 1.0) for topic in words.topics]
    world = World(Dice(seed), words, weighted(words.topics, scaled), deque(maxlen=500))
    return _all_rows(world, queries, min(users, queries), topics_per_user)


def _all_rows(world: World, queries: int, users: int, topics_per_user: int) -> Iterator[Row]:
    dice = world.dice
    for user, rows in zip(_ids(dice, users), _activity(dice, queries, users), strict=True):
        yield from _rows(world, user, _searcher(world, topics_per_user), rows)


def _ids(dice: Dice, users: int) -> list[int]:
    widest_gap = max(1, 2 * LARGEST_ID // users - 1)
    return list(accumulate(dice.between(1, widest_gap) for _ in range(users)))


def _activity(dice: Dice, queries: int, users: int) -> list[int]:
    """Rows per user: one each, the rest in proportion to heavy-tailed whole weights."""
    weights = [int(1000 * dice.pareto(MOST_ACTIVE)) - 700 for _ in range(users)]
    extra, total = queries - users, sum(weights)
    rows = [1 + weight * extra // total for weight in weights]
    largest_remainder = sorted(
        range(users), key=lambda user: (-(weights[user] * extra % total), user)
    )
    for user in largest_remainder[: queries - sum(rows)]:
        rows[user] += 1
    return rows


def _searcher(world: World, topics_per_user: int) -> Searcher:
    dice = world.dice
    count = dice.between(min(2, topics_per_user), topics_per_user)
    picks = (dice.pick(world.topics) for _ in range(2 * count))
    distinct = {topic.name: topic for topic in picks}
    return Searcher(
        zipf([*distinct.values()][:count]), Writer(dice, world.words.lists, _home(world))
    )


def _home(world: World) -> Town:
    """A town that everybody knows, or a small one in the same state."""
    town, state = world.dice.pick(world.words.book.towns)
    if world.dice.chance(KNOWN_HOME):
        return town, state
    return small_town(Writer(world.dice, world.words.lists, (town, state))), state


def _rows(world: World, user: int, searcher: Searcher, count: int) -> Iterator[Row]:
    """All rows of one person in order of time."""
    dice = world.dice
    timed: list[tuple[int, str, Query]] = []
    for start, length in _sessions(dice, count):
        timed.extend(_session(world, searcher, start, length))
    timed.sort(key=lambda entry: entry[0])
    for seconds, typed, query in timed:
        rank, url = "", ""
        if dice.chance(CLICKED):
            rank, url = str(dice.pick(RANKS)), click_url(dice, world.words, query)
        yield Row(user, typed, str(FIRST_DAY + timedelta(seconds=seconds)), rank, url)


def _sessions(dice: Dice, count: int) -> list[tuple[int, int]]:
    """Start and length of each session, in order of time; lengths sum to count."""
    lengths: list[int] = []
    while count:
        lengths.append(min(count, dice.pick(SESSION_LENGTHS)))
        count -= lengths[-1]
    return list(zip(sorted(_start(dice) for _ in lengths), lengths, strict=True))


def _start(dice: Dice) -> int:
    hour = dice.between(0, DAYS - 1) * 24 + dice.pick(HOURS)
    return min(LAST_START, hour * 3_600 + dice.between(0, 3_599))


def _session(
    world: World, searcher: Searcher, seconds: int, length: int
) -> Iterator[tuple[int, str, Query]]:
    """Time, text as typed and meaning of the queries of one session."""
    dice = world.dice
    query = _fresh(world, searcher)
    typed = _typed(dice, query)
    for _ in range(length):
        searcher.history.append(query)
        yield seconds, typed, query
        seconds += 5 + int(600 * dice.uniform() * dice.uniform())
        if typed != query.text and dice.chance(0.5):
            typed = query.text
        elif not dice.chance(SAME_AGAIN):
            query = _next(world, searcher, query)
            typed = _typed(dice, query)


def _typed(dice: Dice, query: Query) -> str:
    if query.kind is Kind.EXACT:
        return query.text
    text = as_typed(dice, query.text)
    return misspelt(dice, text) if dice.chance(MISSPELT) else text


def _next(world: World, searcher: Searcher, query: Query) -> Query:
    """What follows in a session: the same thing in other words, the same topic, something else."""
    course = world.dice.uniform()
    if course < REWORDED:
        return reworded(searcher.writer, world.words, query)
    if course < REWORDED + SAME_TOPIC and query.topic:
        return _on_topic(world, searcher, query.topic)
    return _fresh(world, searcher)


def _fresh(world: World, searcher: Searcher) -> Query:
    """A new intention, or one the person has had before (the oldest habits most often)."""
    dice, asked = world.dice, len(searcher.history)
    if dice.chance(OF_HABIT * asked / (asked + SETTLED)):
        return _habit(dice, searcher.history)
    return dice.pick(INTENTIONS)(world, searcher)


def _habit(dice: Dice, history: Sequence[Query]) -> Query:
    """One of a person's queries: few of the oldest again and again."""
    for _ in range(3):
        place = len(history) * dice.uniform() * dice.uniform() * dice.uniform()
        query = history[int(place * dice.uniform())]
        if query.kind not in SELDOM_AGAIN:
            break
    return query


def _of_interest(world: World, searcher: Searcher) -> Query:
    return _on_topic(world, searcher, world.dice.pick(searcher.topics))


def _on_topic(world: World, searcher: Searcher, topic: Topic) -> Query:
    """About one of the few things in a topic that concern this person, or about any other."""
    dice = world.dice
    concerns = searcher.focus.get(topic.name)
    if not concerns:
        concerns = [topic_term(dice, topic) for _ in range(dice.between(2, 4))]
        searcher.focus[topic.name] = concerns
    term = dice.one_of(concerns) if dice.chance(OF_CONCERN) else topic_term(dice, topic)
    return topic_query(searcher.writer, world.words, topic, term)


def _of_passing_interest(world: World, searcher: Searcher) -> Query:
    topic = world.dice.pick(world.topics)
    return topic_query(searcher.writer, world.words, topic, topic_term(world.dice, topic))


def _common(world: World, searcher: Searcher) -> Query:
    """What everybody asks; each person has a few of those that they ask again and again."""
    dice, usual = world.dice, searcher.usual
    if usual and dice.chance(USUAL):
        return usual[int(len(usual) * dice.uniform() * dice.uniform())]
    usual.append(common_query(dice, world.words))
    return usual[-1]


def _address(world: World, searcher: Searcher) -> Query:
    return address_query(searcher.writer, world.words)


def _form(name: str) -> Intention:
    """The intention to ask what a form describes."""
    return lambda world, searcher: form_query(searcher.writer, name)


def _person(world: World, searcher: Searcher) -> Query:
    dice = world.dice
    if not searcher.people or dice.chance(0.7):
        known = world.sought and dice.chance(0.1)
        name = dice.one_of(world.sought) if known else searcher.writer.filled("<first> <last>")
        searcher.people.append(name)
        world.sought.append(name)
    return person_query(searcher.writer, world.words, dice.one_of(searcher.people))


def _identifier(world: World, searcher: Searcher) -> Query:
    return identifier_query(world.dice, world.words)


Intention = Callable[[World, Searcher], Query]
SHARES: Final[Mapping[Intention, float]] = {
    _of_interest: 0.265,
    _of_passing_interest: 0.09,
    _common: 0.118,
    _form("bare"): 0.175,
    _form("navigation"): 0.10,
    _form("local"): 0.07,
    _form("product"): 0.035,
    _form("show"): 0.055,
    _form("question"): 0.035,
    _form("daily"): 0.02,
    _form("wish"): 0.012,
    _person: 0.04,
    _address: 0.039,
    _identifier: 0.005,
}
INTENTIONS: Final = weighted(tuple(SHARES), tuple(SHARES.values()))
