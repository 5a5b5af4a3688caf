"""Other people's programs on the same sets, where they are installed.

None of them knows sets of concepts (docs/decisions.md#peers). So they get the sets as rows of
numbers: what the sets have above them in the taxonomy, in its main directions.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from tasks.core.arrays import take_ragged
from tasks.core.records import Floats, Ints
from tasks.evaluation.method import Material

DIRECTIONS: Final = 8
FEWEST_SETS, MOST_SETS = 20, 6_000
"""AnonyPyx keeps all distances in one table: 196 s for 10,000 rows (measured)."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program: it puts the distinct sets into groups of k, or a reason why it does not.

    Attributes:
        partition: label of each set, given their coordinates and k.
    """

    name: str
    about: str
    partition: Callable[[Floats, int], Ints] | None = None
    reason: str = ""


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def peers(is_installed: Callable[[str], bool] = _is_installed) -> list[Peer]:
    """All that are worth a comparison.

    Args:
        is_installed: whether a package of Python can be imported.
    """
    return [
        _anonypyx(installed=is_installed("anonypyx")),
        _foreign("sdcMicro", "R", "Rscript", "MDAV in C++, the fastest; on tables of numbers"),
        _foreign("ARX", "Java", "java", "generalisation and microaggregation of tables"),
        _foreign("µANT", "Java", "java", "microaggregation of single ontology values"),
        Peer("privlib", "MDAV over WordNet, one word a record", reason=_PRIVLIB),
        Peer(
            "Amnesia, SECRETA",
            "k^m of sets",
            reason="no Python package; k^1 and k^2 are of their model",
        ),
    ]


_PRIVLIB: Final = "0.0.4 fails on Python 3.11 and later"


def _anonypyx(*, installed: bool) -> Peer:
    about = (
        "MDAV (Domingo-Ferrer & Torra 2005) on the distinct sets as rows of "
        f"{DIRECTIONS} numbers; its k counts rows, not people"
    )
    if not installed:
        return Peer("AnonyPyx", about, reason="not installed: pip install anonypyx==0.2.11")
    return Peer("AnonyPyx", about, _by_anonypyx)


def _by_anonypyx(rows: Floats, k: int) -> Ints:
    import pandas
    from anonypyx.microaggregation import MDAVGeneric

    frame = pandas.DataFrame(rows, columns=[f"c{place}" for place in range(rows.shape[1])])
    labels = np.empty(len(rows), dtype=np.int32)
    for label, group in enumerate(MDAVGeneric(frame, list(frame.columns)).partition(k)):
        labels[np.asarray(group)] = label
    return labels


def _foreign(name: str, language: str, program: str, about: str) -> Peer:
    if shutil.which(program) is None:
        return Peer(name, about, reason=f"needs {language}, which is not here")
    return Peer(name, about, reason="no Python package; takes tables, not sets")


def coordinates(material: Material) -> Floats:
    """Each set as a few numbers: the main directions of what lies above its concepts."""
    table, taxonomy = material.table, material.taxonomy
    concepts = table.sets.concepts
    above = taxonomy.ancestor_matrix(concepts, inclusive=True)
    offsets, _ = take_ragged(table.sets.offsets, np.arange(len(table.sets)))
    ones = np.ones(len(concepts), dtype=np.float32)
    sums = csr_matrix((ones, np.arange(len(concepts)), offsets)) @ above
    directions = min(DIRECTIONS, min(sums.shape) - 1)
    # A start that is given, and no last digits: the result is the same every time.
    start = np.random.default_rng(0).normal(size=min(sums.shape))
    left, sizes, _ = svds(sums.astype(np.float64), k=directions, v0=start)
    return np.round(np.asarray(left * sizes), 9)
