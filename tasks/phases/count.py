"""A phase for those who ask for it, count: people per word and concept, differentially private.

In: the log and its `RecordTable`. Out: `Counts`, the content of `counts.tsv`. The rows of a release
are not differentially private; these counts are, and they stand for k people or more each. Noise is
drawn once: what was told is kept in the book beside its price, so that a run that is repeated, or
was killed, tells the same again, and nothing is spent twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import numpy as np

from tasks.adapters.private_counts import Price, private_counts, require_library, within
from tasks.adapters.release_files import render_counts
from tasks.adapters.resources import wordnet
from tasks.core.columns import computed
from tasks.core.measures.basis import some_records
from tasks.core.measures.term_counts import term_counts
from tasks.core.records import QueryLog, RecordTable
from tasks.errors import UsageError
from tasks.phases.job import Job
from tasks.runtime.results import Nothing, Result

MOST_TERMS: Final = 16
"""Words in which one person counts, and as many concepts."""
NOT_DECISIVE: Final = (
    *("l", "dominance", "rounding", "method", "guarantee", "time", "threshold", "ancestors"),
    *("distance", "release_format", "budget"),
)
"""Settings that do not decide the counts: another release of the same log tells the same ones."""
OVERSPENT: Final = (
    "the budget of the differentially private counts is spent: the people of these files were "
    "counted before"
)


class Spending(NamedTuple):
    """Counts that are about to be told, of which files (by their digests), and their price."""

    fingerprint: str
    files: Sequence[str]
    price: Price
    content: bytes


class Book(Protocol):
    """Where prices are kept: those of one edition, or of releases of their own."""

    def told(self, fingerprint: str) -> tuple[bytes, Price] | None:
        """What was told before, and at what price."""

    def spent(self, files: Sequence[str]) -> list[Price]:
        """What was spent on the people of these files, or of the edition."""

    def spend(self, spending: Spending, fits: Callable[[list[Price]], bool]) -> bool:
        """Keep what is about to be told, unless all prices together do not fit."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What `counts.tsv` holds, and its price; nothing if the budget is spent."""

    content: bytes | None
    price: Price = (0.0, 0.0)


def count(
    job: Job, log: Result[QueryLog], table: Result[RecordTable], book: Book
) -> Result[Counts]:
    return Result(
        "count",
        counts_fingerprint(job),
        lambda: count_terms(job, counted_rows(job, log.value, table.value), book),
        _InBook(book),
        lambda found: f"{lines(found.content)} terms" if found.content else "the budget is spent",
    )


def counts_fingerprint(job: Job) -> str:
    """Of what is counted, whatever the program's version: an update spends nothing."""
    chosen = job.settings.published().items()
    decisive = {name: value for name, value in chosen if name not in NOT_DECISIVE}
    return job.fingerprint("count", _digests(job), decisive)


def _digests(job: Job) -> list[str]:
    return [file.digest for file in job.files]


class _InBook(Nothing):
    """Known is what the book has."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def knows(self, fingerprint: str) -> bool:
        return self._book.told(fingerprint) is not None

    def load(self, fingerprint: str) -> Counts | None:  # type: ignore[override]
        found = self._book.told(fingerprint)
        return None if found is None else Counts(*found)


def refuse_overspending(job: Job, book: Book) -> None:
    """Before the work of a release of its own; one of an edition goes on without counts.

    Raises:
        UsageError: the budget is spent, or the library is not installed.
    """
    require_library()
    if book.told(counts_fingerprint(job)) is None and not _fits(job)(book.spent(_digests(job))):
        raise UsageError(
            f"{OVERSPENT}; --budget and --delta are what all counts of them may cost together"
        )


def price_of(job: Job) -> Price:
    """What one release costs; δ in shares of the budget."""
    return job.settings.epsilon, job.settings.delta * job.settings.epsilon / _budget(job)[0]


def _budget(job: Job) -> Price:
    return job.settings.budget or job.settings.epsilon, job.settings.delta


def _fits(job: Job) -> Callable[[list[Price]], bool]:
    """Whether this release can be paid beside all that was spent."""
    return lambda spent: within([*spent, price_of(job)], _budget(job))


def counted_rows(job: Job, log: QueryLog, table: RecordTable) -> RecordTable:
    """All rows; of an edition that grows those of the file that came.

    Which rows have waited depends on what others asked: counted again, they would let one person
    change the counts of many.
    """
    if job.appended_to is None:
        return table
    came = np.array([file.digest not in job.appended_to.waiting for file in job.files])
    chosen = computed(len(table), np.bool_, lambda rows: came[log.origins[table.log_rows[rows]]])
    return some_records(table, chosen)


def count_terms(job: Job, table: RecordTable, book: Book) -> Counts:
    require_library()
    if not _fits(job)(book.spent(_digests(job))):
        return Counts(None)
    taxonomy = wordnet(job.settings.store).taxonomy
    # Which terms a person counts in may be guessed: the bound alone matters.
    found = term_counts(table, taxonomy, most=MOST_TERMS, random=np.random.default_rng())
    people = np.concatenate([found.word_people, found.concept_people])
    told = private_counts(people, price=price_of(job), most=2 * MOST_TERMS, k=job.settings.k)
    names = [*table.words[found.words], *taxonomy.names[found.concepts]]
    kinds = ["word"] * len(found.words) + ["concept"] * len(found.concepts)
    content = render_counts(
        (kind, str(name), noisy)
        for kind, name, noisy in zip(kinds, names, told, strict=True)
        if noisy is not None
    )
    spending = Spending(counts_fingerprint(job), _digests(job), price_of(job), content)
    paid = book.spend(spending, _fits(job))
    return Counts(content, price_of(job)) if paid else Counts(None)


def lines(content: bytes) -> int:
    return content.count(b"\n") - 1


def counts_told(job: Job, counts: Result[Counts], book: Book) -> dict[str, object]:
    """What `measures.json` says of the counts, all of it public."""
    content, spent = counts.value.content, book.spent(_digests(job))
    return {
        "published": content is not None,
        "terms": lines(content) if content else 0,
        "epsilon": counts.value.price[0],
        "delta": counts.value.price[1],
        "terms_per_person": 2 * MOST_TERMS,
        "least_people": job.settings.k,
        "spent_epsilon": sum(price[0] for price in spent),
        "spent_delta": sum(price[1] for price in spent),
        "budget_epsilon": _budget(job)[0],
        "budget_delta": _budget(job)[1],
        "says": PRIVATE if content is not None else OVERSPENT,
    }


PRIVATE: Final = (
    "counts.tsv is (epsilon, delta)-differentially private, whoever is added or removed with all "
    "that they asked; release.tsv, measures and report are not"
)
