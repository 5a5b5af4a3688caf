"""Singling out: who is behind a row? (WP29 05/2014 §2.2.1; anonymeter's predicates.)

Attacker: anybody who has the release and knows one query of somebody; tries to say who of all
people that is, and so to attach what the row tells beside it. They find the row that tells that
query and name one of the people behind it, all of whom they would have to know. A guess among n
people is right once in n times. Targets are people with one query: each counts once, however often
they asked it (who asked most is what `dominance` guesses). Without the release: one in all people.

The attacker who is *shown the row* knows as much as the audit; no other can do better.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

from tests.attacks.evidence import MONTH, Evidence
from tests.attacks.trials import Trial

MOST_TRIES: Final = 2000
"""Targets of an attacker who has to search; drawn by a fixed seed."""


def singling_out(evidence: Evidence) -> Iterator[Trial]:
    """By what the attacker knows."""
    targets = evidence.records.drop_duplicates(["cls", "person", "text"])
    people = evidence.people()
    behind = people.loc[targets.cls].to_numpy()
    bound, chance = 1 / evidence.k, evidence.chance
    guessed = float((1 / behind).sum())
    yield Trial("singling out", "shown the row", len(targets), guessed, chance, bound)
    alone = int((behind < evidence.k).sum())
    yield Trial(
        "singling out", "shown the row: fewer than k people", len(targets), alone, chance, 0.0
    )
    sample = targets.sample(min(len(targets), MOST_TRIES), random_state=1)
    search = RowSearch(evidence)
    for assumed, dated, hidden in (
        ("knows the query", False, 0),
        ("knows query and month", True, 0),
        ("knows all words but one, and the month", True, 1),
    ):
        tries, successes = 0, 0.0
        for target in sample.itertuples():
            known = _known_words(target.text, hidden)
            if known:
                found = search.best(known, target.month if dated else "")
                tries += 1
                # Of rows that fit equally well one is taken blindly.
                successes += (target.cls in found) / max(1, len(found)) / people.loc[target.cls]
        yield Trial("singling out", assumed, tries, successes, chance, bound)


def _known_words(text: str, hidden: int) -> set[str]:
    """The words of a query but for some, drawn by the query itself."""
    words = sorted(set(text.split()))
    return set(random.Random(text).sample(words, len(words) - hidden)) if words else set()


class RowSearch:
    """Finds the rows that fit what is known of a query best."""

    def __init__(self, evidence: Evidence) -> None:
        rows: Any = evidence.classes
        self.words = {row.Index: set(row.query.split()) for row in rows.itertuples()}
        self.months = {row.Index: row.time[:MONTH] for row in rows.itertuples()}
        self.classes_of = defaultdict(list)
        for number, words in self.words.items():
            for word in words:
                self.classes_of[word].append(number)

    def best(self, known: set[str], month: str) -> set[int]:
        """Rows that hold most known words and fewest others; with the month if that is known."""
        hits = Counter(number for word in known for number in self.classes_of.get(word, ()))
        scores = {
            number: (2 * count - len(self.words[number]), bool(month and self.months[number]))
            for number, count in hits.items()
            if not month or self.months[number] in ("", month)
        }
        top = max(scores.values(), default=None)
        return {number for number, score in scores.items() if score == top}
