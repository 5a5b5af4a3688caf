"""Proof that all releases of an edition together keep their promise, and each by itself.

Each release is judged alone by every clause: then neither the difference of two releases nor what
they have in common narrows a row to fewer people than the release that holds it. A clause on
single rows, or on a file, holds for the union if it holds for each release; a clause on several
rows, or on counts, is judged again on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tasks.core.verification.clauses import broken_clauses, clauses_of
from tasks.core.verification.evidence import Evidence, Knowledge, Promise, ReadBack


def union_faults(releases: Sequence[ReadBack], promise: Promise, knowledge: Knowledge) -> list[str]:
    """One sentence per broken clause, of which release it is; an empty list is a proof.

    Args:
        releases: one or more, in the order of their numbers; a person has the same number in all
            of them, an attribute set need not.
        promise: what the edition promises, with the counts of the union; a release that itself
            promises less is judged by this all the same.
    """
    clauses = clauses_of(promise)
    found = _counts_differ(releases)
    for number, release in enumerate(releases, start=1):
        alone = Evidence.of([release], _as_edition(release.promise, promise), knowledge)
        found += [f"release {number}: {fault}" for fault in broken_clauses(alone, clauses)]
    together = Evidence.of(releases, promise, knowledge)
    joint = [clause for clause in clauses if clause.joint]
    return found + [f"all releases: {fault}" for fault in broken_clauses(together, joint)]


def union_promise(promises: Sequence[Promise]) -> Promise:
    """What an edition promises if each release read what waited before it and new rows.

    Rows that waited are read again by the next release, and count once in the union.
    """
    last = promises[-1]
    waited = sum(promise.withheld for promise in promises[:-1])
    return replace(
        last,
        read=sum(promise.read for promise in promises) - waited,
        rejected=sum(promise.rejected for promise in promises),
        published=sum(promise.published for promise in promises),
    )


def _as_edition(promise: Promise, edition: Promise) -> Promise:
    """The counts of a release with the guarantee of the edition."""
    return replace(
        edition,
        read=promise.read,
        rejected=promise.rejected,
        withheld=promise.withheld,
        published=promise.published,
    )


def _counts_differ(releases: Sequence[ReadBack]) -> list[str]:
    """Ids of two columns are not compared: one person may have one in each."""
    counts = [release.promise.counted for release in releases]
    first = next((counted for counted in counts if counted.column), counts[0])
    other = next((counted for counted in counts if not counted.is_same_as(first)), None)
    if other is None:
        return []
    return [
        f"all releases: k counts the same in each: broken, {first.said('some')} in one and "
        f"{other.said('some')} in another"
    ]
