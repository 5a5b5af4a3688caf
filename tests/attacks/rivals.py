"""What others do in place of strict: the attacks must break it, or they prove nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tests.attacks.evidence import MONTH, read_logs


def publish_allowed_words(log: Path, out: Path, audit: Path, k: int) -> Path:
    """Every word that k people used is published where it stands, with the month.

    So allow-lists of words work, as they are proposed for sharing search logs.
    """
    rows = read_logs([log]).reset_index()
    people: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows.itertuples():
        for word in row.text.split():
            people[word].add(row.user)
    allowed = {word for word, users in people.items() if len(users) >= k}
    rows["query"] = [
        " ".join(word for word in text.split() if word in allowed) for text in rows.text
    ]
    rows["concepts"], rows["cluster"], rows["time"] = "", "", rows.time.str[:MONTH]
    rows = rows.sort_values(["query", "time"], kind="stable").reset_index(drop=True)
    shown = rows["query"] != ""
    _write(rows, shown, log, out, audit)
    return out


def _write(rows: pd.DataFrame, shown: Sequence[bool], log: Path, out: Path, audit: Path) -> None:
    out.mkdir()
    published = rows[shown][["query", "concepts", "time", "cluster"]]
    published.to_csv(out / "release.tsv", sep="\t", index=False)
    numbers = pd.Series(shown).cumsum().where(shown).astype("Int64")
    people = rows.user.astype("category").cat.codes
    lines = {"file": str(log), "row": rows.row, "person": people, "release_row": numbers}
    pd.DataFrame(lines | {"reason": None}).to_parquet(audit)
