"""`python -m tests.bench.hardness`: are generated logs as hard as a real one?

Counts the same things on logs of `flows.sample` as were counted on a real web log of 2006
(whose figures are all that is known of it here), at two sizes. Logs that repeat themselves more,
or know fewer words, would flatter whatever is measured on them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from flows import sample
from tasks.folders import default_store
from tasks.phases.analyse import analyse
from tasks.phases.job import Job
from tasks.phases.read import read
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tasks.synthetic.log import Row, synthetic_log
from tasks.synthetic.vocabulary import load_vocabulary
from tests.bench.tables import markdown_table

USERS: Final = 800
SEED: Final = 7
SHARED: Final = 5
"""A query or word of so many people is one that many share."""
FIRST: Final = 100
LONG: Final = 4
WITH_ATTRIBUTES: Final = "rows with sensitive attributes"
WORD: Final = re.compile("[a-z0-9]+")
"""As the real log was counted: the same figures of the generator of version 0.1 agree exactly."""
ADDRESS: Final = re.compile(r"\bwww?\b|https?:|\.(com|org|net|gov|edu|us|co)\b")

REAL: Final[Mapping[int, Mapping[str, float]]] = {
    10_000: {
        "distinct queries, of rows": 0.78,
        "rows that repeat a query of the same user": 0.18,
        "words a query": 3.09,
        "queries of 1 word": 0.17,
        "queries of 2 words": 0.28,
        "queries of 3 words": 0.22,
        "queries of 4 words and more": 0.32,
        "distinct words": 9_350,
        "tokens whose word only one user typed": 0.24,
        "tokens whose word 5 users and more typed": 0.53,
        "rows whose query 5 users and more asked": 0.08,
        "the commonest query, of rows": 0.016,
        "the first 100 queries, of rows": 0.15,
        "rows with www, .com and the like": 0.03,
        WITH_ATTRIBUTES: 0.28,
    },
    100_000: {
        "distinct queries, of rows": 0.60,
        "rows that repeat a query of the same user": 0.35,
        "words a query": 3.08,
        "distinct words": 30_399,
        "tokens whose word only one user typed": 0.10,
        "tokens whose word 5 users and more typed": 0.79,
        "rows whose query 5 users and more asked": 0.12,
        "the commonest query, of rows": 0.017,
        "the first 100 queries, of rows": 0.15,
        "rows with www, .com and the like": 0.03,
    },
}
"""By rows of the log (of 800 users each), by what was counted."""

RELATIVE: Final = 0.10
ABSOLUTE: Final = 0.005
"""A figure is near the real one if it is within a tenth, or so little off that it is rounding."""


def is_near(found: float, real: float, *, slack: float = 1.0) -> bool:
    """Whether a figure is within so many times the bounds of the real one."""
    return abs(found - real) <= slack * max(RELATIVE * real, ABSOLUTE)


def counted(rows: Sequence[Row]) -> dict[str, float]:
    """All figures that follow from the rows alone."""
    asked = [(row.user, row.query.lower()) for row in rows]
    return {**_repetition(asked), **_lengths(asked), **_words(asked), **_addresses(asked)}


Asked = Sequence[tuple[int, str]]


def _repetition(asked: Asked) -> dict[str, float]:
    count = len(asked)
    rows_of = Counter(query for _, query in asked)
    users_of = Counter(query for _, query in set(asked))
    common = [times for _, times in rows_of.most_common(FIRST)]
    shared = sum(times for query, times in rows_of.items() if users_of[query] >= SHARED)
    return {
        "distinct queries, of rows": len(rows_of) / count,
        "rows that repeat a query of the same user": 1 - len(set(asked)) / count,
        "rows whose query 5 users and more asked": shared / count,
        "the commonest query, of rows": common[0] / count,
        "the first 100 queries, of rows": sum(common) / count,
    }


def _lengths(asked: Asked) -> dict[str, float]:
    lengths = Counter(len(WORD.findall(query)) for _, query in asked)
    words = sum(length * times for length, times in lengths.items())
    long = sum(times for length, times in lengths.items() if length >= LONG)
    shares = {
        f"queries of {length} word{'s'[: length > 1]}": lengths[length] / len(asked)
        for length in range(1, LONG)
    }
    return {
        "words a query": words / len(asked),
        **shares,
        "queries of 4 words and more": long / len(asked),
    }


def _words(asked: Asked) -> dict[str, float]:
    tokens: Counter[str] = Counter()
    users_of: defaultdict[str, set[int]] = defaultdict(set)
    for user, query in asked:
        for word in WORD.findall(query):
            tokens[word] += 1
            users_of[word].add(user)
    total = tokens.total()
    alone = sum(times for word, times in tokens.items() if len(users_of[word]) == 1)
    shared = sum(times for word, times in tokens.items() if len(users_of[word]) >= SHARED)
    return {
        "distinct words": len(tokens),
        "tokens whose word only one user typed": alone / total,
        "tokens whose word 5 users and more typed": shared / total,
    }


def _addresses(asked: Asked) -> dict[str, float]:
    found = sum(bool(ADDRESS.search(query)) for _, query in asked)
    return {"rows with www, .com and the like": found / len(asked)}


def generated(size: int, seed: int) -> list[Row]:
    """The rows of `flows.sample --queries SIZE --users 800 --seed SEED`."""
    return list(synthetic_log(load_vocabulary(), queries=size, users=USERS, seed=seed))


def share_with_attributes(size: int, seed: int, store: str) -> float:
    """The share of records in which something sensitive is detected."""
    options = ("--queries", size, "--users", USERS, "--seed", seed)
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        with log.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
            sample.main([str(option) for option in options])
        settings = Settings(logs=(str(log),), scope="sensitive", store=store)
        job = Job.of(settings, LocalExecutor(settings.workers))
        table = analyse(job, read(job)).value
    return float((table.set_of >= 0).mean())


def figures(size: int, seed: int, store: str) -> dict[str, float]:
    """All figures of a generated log that are known of the real one of that size."""
    found = counted(generated(size, seed))
    if WITH_ATTRIBUTES in REAL[size]:
        found[WITH_ATTRIBUTES] = share_with_attributes(size, seed, store)
    return {name: found[name] for name in REAL[size]}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    found = [
        {"queries": size, "users": USERS, "seed": options.seed, "real": dict(real), "generated": of}
        for size, real in REAL.items()
        for of in [figures(size, options.seed, options.store)]
    ]
    print(
        "\n\n".join(
            f"{size:,} rows, {USERS} users\n\n" + _table(size, one["generated"])
            for size, one in zip(REAL, found, strict=True)
        )
    )
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def _table(size: int, found: Mapping[str, float]) -> str:
    rows: Iterable[Sequence[object]] = (
        (name, real, found[name], found[name] / real, is_near(found[name], real))
        for name, real in REAL[size].items()
    )
    return markdown_table(("", "real", "generated", "ratio", "near"), rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hardness", description=__doc__)
    here = Path(__file__).parent
    parser.add_argument("--json", type=Path, default=here / "hardness.json", metavar="FILE")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    parser.add_argument("--store", default=default_store(), metavar="DIR")
    return parser


if __name__ == "__main__":
    sys.exit(main())
