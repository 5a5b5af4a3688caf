"""Information content of concepts: a slow count by the formula, and what must hold of any."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.adapters.wordnet import WordNet
from tasks.core.taxonomy import Taxonomy, build_taxonomy


@st.composite
def parent_lists(draw: st.DrawFn) -> list[list[int]]:
    """Parents of concepts; all but the root have some, and those come before them."""
    size = draw(st.integers(1, 12))
    return [
        draw(st.lists(st.integers(0, own - 1), min_size=1, max_size=3, unique=True)) if own else []
        for own in range(size)
    ]


def taxonomy_of(parents: list[list[int]]) -> Taxonomy:
    names = [f"c{number}" for number in range(len(parents))]
    return build_taxonomy(names, names, parents, root="c0", version="")


def above(concept: int, parents: list[list[int]]) -> set[int]:
    """The concept and all on its ways up."""
    return {concept}.union(*(above(parent, parents) for parent in parents[concept]))


def slow_information(parents: list[list[int]]) -> list[float]:
    """-log2((leaves below / subsumers + 1) / (leaves + 1)): Sánchez, Batet, Isern 2011.

    The root is no subsumer here, as it is in no T(x); it says nothing.
    """
    concepts = range(1, len(parents))
    leaves = [c for c in concepts if not any(c in row for row in parents)]
    found = [0.0]
    for concept in concepts:
        below = [leaf for leaf in leaves if leaf != concept and concept in above(leaf, parents)]
        subsumers = above(concept, parents) - {0}
        found.append(-log2((len(below) / len(subsumers) + 1) / (len(leaves) + 1)))
    return found


@given(parent_lists())
def test_information_equals_a_slow_count(parents: list[list[int]]) -> None:
    assert taxonomy_of(parents).information.tolist() == pytest.approx(slow_information(parents))


@given(parent_lists())
def test_nothing_says_more_than_what_lies_below_it(parents: list[list[int]]) -> None:
    information = taxonomy_of(parents).information
    assert information[0] == 0.0
    assert (information >= 0.0).all()
    for concept, row in enumerate(parents):
        assert all(information[parent] <= information[concept] + 1e-12 for parent in row)


@given(parent_lists())
def test_leaves_say_most_and_all_the_same(parents: list[list[int]]) -> None:
    information = taxonomy_of(parents).information
    leaves = [c for c in range(1, len(parents)) if not any(c in row for row in parents)]
    assert np.unique(information[leaves]).size <= 1
    assert not leaves or information[leaves[0]] == information.max()


def test_information_of_wordnet(wordnet: WordNet) -> None:
    """The same over WordNet: from the root, which says nothing, to the leaves."""
    taxonomy = wordnet.taxonomy
    bits = taxonomy.information
    assert bits[taxonomy.names.tolist().index("entity.n.01")] == 0.0
    assert (
        np.repeat(bits, np.diff(taxonomy.ancestor_offsets)) - bits[taxonomy.ancestors]
    ).min() > -1e-9
    way = ["physical_entity.n.01", "person.n.01", "doctor.n.01", "dentist.n.01"]
    along = [bits[taxonomy.names.tolist().index(name)] for name in way]
    assert along == sorted(along)
    assert len(set(along)) == len(along)


def test_information_of_a_wordnet_concept_by_the_formula(wordnet: WordNet) -> None:
    taxonomy = wordnet.taxonomy
    names = taxonomy.names.tolist()
    has_child = set(taxonomy.ancestors.tolist()) | {names.index("entity.n.01")}
    leaves = [concept for concept in range(len(names)) if concept not in has_child]
    for name in ("disease.n.01", "dog.n.01", "buy.v.01"):
        concept = names.index(name)
        below = sum(concept in taxonomy.ancestors_of(leaf) for leaf in leaves)
        share = (below / (len(taxonomy.ancestors_of(concept)) + 1) + 1) / (len(leaves) + 1)
        assert taxonomy.information[concept] == pytest.approx(-log2(share))
