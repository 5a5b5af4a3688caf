"""What comes first: whether the release is proven, what it promises, how much of it there is."""

from __future__ import annotations

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
        "says so): words outside the attributes are published as they are. The certificate shows "
        "the risk. Nor need it be true: a row may say what its person did not ask for."
    ),
}
KINDS = {"strict": "held", "terms": "partly", "paper": "partly"}


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
    records, users, rounded = measures["records"], measures["users"], measures["rounded"]
    aside = f", {count(records['rejected'])} set aside" if records["rejected"] is not None else ""
    so_counted = (
        f"Counted with at most {rounded['rows']} rows of each and rounded down, so fewer than in "
        "the file: "
        if rounded
        else ""
    )
    return (
        f"{so_counted}"
        f"{_some(records['published'])} of {_some(records['read'])} rows are published, "
        f"{_some(records['withheld'])} withheld{aside}; "
        f"{_some(users['published'])} of {counted(users).said(_some(users['read']))} are in the "
        "release."
    )


def _some(number: int | None) -> str:
    return "too few to tell" if number is None else count(number)


def published_of(measures: FinalMeasures) -> str:
    """How many rows of how many are published."""
    records, part = measures["records"], measures["shares"]["published"]
    if measures["rounded"] and part is not None:
        # Public counts are not those of the file: beside it they would look wrong.
        return f"about {share(part)}"
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
