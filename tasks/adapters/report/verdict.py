"""What comes first: whether the release is proven, what it promises, how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.adapters.pages.numbers import UNTOLD, count, percent, share
from tasks.core.counted import Counted
from tasks.schema import FinalMeasures, UserCounts

PROMISES = {
    "strict": (
        "Every published row, all its columns together, is shared by at least {who}. All "
        "records of a cluster publish the same concepts. Names, e-mail addresses, "
        "numbers and the like are not published; there is no user key, and the order of the rows "
        "says nothing."
    ),
    "terms": (
        "Every published word is used by at least {who}, every cluster's concepts are shared by at "
        "least {k}. A whole row may be rarer: whoever knows several words of "
        "somebody's query may find its row."
    ),
    "paper": (
        "This is the paper's redaction as printed. It does not give k-anonymity (the paper's §5 "
        "says so): words outside the attributes are published as they are. See the risk below. "
        "Nor need it be true: a row may say what its person did not ask for."
    ),
}
NOT_PROMISED = (
    "Out of scope, in any mode. Homogeneity: if all people behind a row share a trait, the row "
    "tells it. Membership: a rare concept shows that somebody in the log asked for it, and a "
    "person known to be in the log can be placed in a row. Sybils: whoever has k − 1 accounts of "
    "their own in the log sees, by a row that appears or by one row more, whether somebody else "
    "asked what those accounts asked; --rounding hides single rows, not the one that completes a "
    "multiple of k. Several editions of the same people can be intersected. Identifiers that no "
    "recogniser knows may be published."
)
INTERNAL = "Internal edition of the report: all figures are exact. Not for publication."
PUBLIC = (
    "Public edition of the report: figures are rounded so that nobody can be read off. People: "
    "down to multiples of {people}; rows: at most {rows} of each person are counted, down to "
    "multiples of {rows}. A dash: {none}."
)
KINDS = {"strict": "held", "terms": "partly", "paper": "partly"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader is told first.

    Attributes:
        kind: held, partly or failed.
        key_numbers: what a reader takes home, each with what it is: first how much is published,
            how much of it is kept, and whether it is true.
    """

    kind: str
    head: str
    promise: str
    amounts: str
    homogeneity: str
    language: str
    edition: str
    key_numbers: tuple[tuple[str, str], ...]
    not_promised: str = NOT_PROMISED


def verdict(measures: FinalMeasures) -> Verdict:
    """The verdict with what it means and what it does not."""
    return Verdict(
        kind=KINDS[measures["settings"]["guarantee"]] if measures["verified"] else "failed",
        head=verdict_of(measures),
        promise=promise_of(measures),
        amounts=amounts_of(measures),
        homogeneity=homogeneity_of(measures),
        language=language_of(measures),
        edition=PUBLIC.format(**measures["rounded"]) if measures["rounded"] else INTERNAL,
        key_numbers=_key_numbers(measures),
    )


def verdict_of(measures: FinalMeasures) -> str:
    """The one line that a reader takes home."""
    proven = "Verified" if measures["verified"] else "Not verified"
    settings, whom = measures["settings"], counted(measures["users"])
    return f"{proven}: {settings['guarantee']}, k = {whom.said(settings['k'])}."


def counted(users: UserCounts) -> Counted:
    """What k counts."""
    return Counted(users["counted"], users["column"])


def promise_of(measures: FinalMeasures) -> str:
    """What the guarantee means."""
    settings = measures["settings"]
    said = PROMISES[settings["guarantee"]]
    return said.format(k=settings["k"], who=counted(measures["users"]).said(settings["k"]))


def amounts_of(measures: FinalMeasures) -> str:
    """How much of the log is in the release."""
    records, users = measures["records"], measures["users"]
    return (
        f"{count(records['published'])} of {count(records['read'])} rows are published, "
        f"{count(records['withheld'])} withheld, {count(records['rejected'])} set aside; "
        f"{count(users['published'])} of {counted(users).said(count(users['read']))} are in the "
        "release."
    )


def homogeneity_of(measures: FinalMeasures) -> str:
    """What rows tell of everybody behind them."""
    found = measures["diversity"]
    return (
        f"{count(found['homogeneous_classes'])} of {count(found['sensitive_classes'])} different "
        "rows whose people all hold something sensitive are homogeneous: all hold the same. "
        "Whoever knows that somebody stands behind such a row knows what it is; --l 2 asks for "
        "more."
    )


def language_of(measures: FinalMeasures) -> str:
    """How much of the log was not understood."""
    part = share(measures["language"]["not_understood"])
    return (
        f"Some {part} of the queries are not understood: other languages, names, slips. Sensitive "
        "words among them count as plain words, which are published where enough people share them."
    )


def published_of(measures: FinalMeasures) -> str:
    """How many rows of how many are published."""
    records, part = measures["records"], measures["shares"]["published"]
    return f"{count(records['published'])} of {count(records['read'])} ({share(part)})"


def truth_said(measures: FinalMeasures) -> str:
    """Whether what is published is true."""
    true: float | None = measures["truth"]["rows_true"]
    if true is None or true == 1:
        return UNTOLD if true is None else "every row"
    return f"{share(1 - true)} of rows say something false"


def lead_of(measures: FinalMeasures) -> str:
    """What a reader asks first, in one line."""
    kept = percent(measures["information"]["kept_percent"])
    rows = published_of(measures)
    return f"Rows published: {rows}. Information kept: {kept}. True: {truth_said(measures)}."


def loss_speaks_of(measures: FinalMeasures) -> str:
    """The rows that Eq. 10 to 13 speak of, which are not all."""
    held, published = attribute_shares(measures)
    return f"the {held} of rows that have attributes ({published} of these are published)"


def attribute_shares(measures: FinalMeasures) -> tuple[str, str]:
    """Rows with attributes in percent of all, and of these the published ones."""
    shares = measures["shares"]
    held, published = shares["with_attributes"], shares["with_attributes_published"]
    return share(held), share(published / held if held and published is not None else held)


def _key_numbers(measures: FinalMeasures) -> tuple[tuple[str, str], ...]:
    risk = measures["risk"]
    rows, raw = count(measures["records"]["read"]), share(risk["raw_worst"])
    loss = percent(measures["information_loss"]["symmetric_percent"])
    whom = counted(measures["users"]).whom
    return (
        (share(measures["shares"]["published"]), f"of {rows} rows published"),
        (percent(measures["information"]["kept_percent"]), "of the information kept"),
        _true_rows(measures["truth"]["rows_true"]),
        (count(risk["least_people"]), f"{whom} at least behind every published row"),
        (share(risk["released_worst"]), f"linkage risk at worst (raw log: {raw})"),
        (loss, f"loss by the paper’s measure, which speaks of {loss_speaks_of(measures)}"),
    )


def _true_rows(part: float | None) -> tuple[str, str]:
    if part == 1:
        return "every row", "true: its concepts are those of everybody behind it, or above them"
    false = None if part is None else 1 - part
    return share(false), "of published rows say something false of who is behind them"
