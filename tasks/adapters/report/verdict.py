"""What comes first: whether the release is proven, what it promises, how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.adapters.pages.numbers import count, percent
from tasks.schema import FinalMeasures

PROMISES = {
    "strict": (
        "Every published row, all its columns together, is shared by at least {k} different "
        "people. All records of a cluster publish the same concepts. Names, e-mail addresses, "
        "numbers and the like are not published; there is no user key, and the order of the rows "
        "says nothing."
    ),
    "terms": (
        "Every published word is used by at least {k} different people, every cluster's concepts "
        "are shared by at least {k}. A whole row may be rarer: whoever knows several words of "
        "somebody's query may find its row."
    ),
    "paper": (
        "This is the paper's redaction as printed. It does not give k-anonymity (the paper's §5 "
        "says so): words outside the attributes are published as they are. See the risk below. "
        "Nor need it be true: a row may say what its person did not ask for."
    ),
}
NOT_PROMISED = (
    "Not promised, in any mode: protection from what somebody knows beside the release (if all "
    "people behind a row share a trait, the row tells it: see diversity), from comparing several "
    "releases of the same people, or from identifiers that no recogniser knows."
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
    key_numbers: tuple[tuple[str, str], ...]
    not_promised: str = NOT_PROMISED


def verdict(measures: FinalMeasures) -> Verdict:
    """The verdict with what it means and what it does not."""
    return Verdict(
        kind=KINDS[measures["settings"]["guarantee"]] if measures["verified"] else "failed",
        head=verdict_of(measures),
        promise=promise_of(measures),
        amounts=amounts_of(measures),
        key_numbers=_key_numbers(measures),
    )


def verdict_of(measures: FinalMeasures) -> str:
    """The one line that a reader takes home."""
    settings = measures["settings"]
    proven = "Verified" if measures["verified"] else "Not verified"
    return f"{proven}: {settings['guarantee']}, k = {settings['k']}."


def promise_of(measures: FinalMeasures) -> str:
    """What the guarantee means."""
    settings = measures["settings"]
    return PROMISES[settings["guarantee"]].format(k=settings["k"])


def amounts_of(measures: FinalMeasures) -> str:
    """How much of the log is in the release."""
    records, users = measures["records"], measures["users"]
    said = (
        f"{count(records['published'])} of {count(records['read'])} rows are published, "
        f"{count(records['withheld'])} withheld, {count(records['rejected'])} set aside; "
        f"{count(users['published'])} of {count(users['read'])} people are in the release."
    )
    return said if users["from_column"] else f"{said} The log names nobody: each row is one person."


def published_of(measures: FinalMeasures) -> str:
    """How many rows of how many are published."""
    records, share = measures["records"], measures["shares"]["published"]
    return f"{count(records['published'])} of {count(records['read'])} ({percent(100 * share)})"


def truth_said(measures: FinalMeasures) -> str:
    """Whether what is published is true."""
    false = 1 - measures["truth"]["rows_true"]
    return f"{percent(100 * false)} of rows say something false" if false else "every row"


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
    return percent(100 * held), percent(100 * published / held if held else 0.0)


def _key_numbers(measures: FinalMeasures) -> tuple[tuple[str, str], ...]:
    risk, worst = measures["risk"], measures["risk"]["released_worst"]
    rows, raw = count(measures["records"]["read"]), percent(100 * risk["raw_worst"])
    loss = percent(measures["information_loss"]["symmetric_percent"])
    return (
        (percent(100 * measures["shares"]["published"]), f"of {rows} rows published"),
        (percent(measures["information"]["kept_percent"]), "of the information kept"),
        _true_rows(measures["truth"]["rows_true"]),
        (count(1 / worst) if worst else "–", "people at least behind every published row"),
        (percent(100 * worst), f"linkage risk at worst (raw log: {raw})"),
        (loss, f"loss by the paper’s measure, which speaks of {loss_speaks_of(measures)}"),
    )


def _true_rows(share: float) -> tuple[str, str]:
    if share == 1:
        return "every row", "true: its concepts are those of everybody behind it, or above them"
    return percent(100 * (1 - share)), "of published rows say something false of who is behind them"
