"""What concepts are called: what people say, and nothing that mostly means something else."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.adapters.public_data import stop_words
from tasks.adapters.wordnet import WordNet
from tasks.core.detection.concept_words import ConceptNamer, Lemmas, is_code
from tasks.core.detection.lexicon import PartOfSpeech


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("watering_place.n.01", "spa"),
        ("yokel.n.01", "rube"),  # not *yahoo*
        ("remedy.n.02", "cure"),
        ("collar.v.01", "arrest"),
        ("mongolism.n.01", "down syndrome"),
        ("regional_enteritis.n.01", "crohn's disease"),
        ("asset.n.01", "asset"),  # not *plus*
        ("indium.n.01", "indium"),  # not *in*
        ("united_states.n.01", "united states"),  # not *us*
        ("delaware.n.04", "delaware"),  # not *first state*
        ("person.n.01", "person"),  # not *someone*
        ("senior_high_school.n.01", "high school"),
    ],
)
def test_concepts_are_called_as_people_say(wordnet: WordNet, name: str, words: str) -> None:
    taxonomy = wordnet.taxonomy
    assert taxonomy.words[taxonomy.names.tolist().index(name)] == words


def test_every_concept_is_called_by_a_lemma_of_its_own(wordnet: WordNet) -> None:
    """Looked up again, the words have the concept among their senses."""
    taxonomy, lexicon = wordnet.taxonomy, wordnet.lexicon
    for concept in range(0, len(taxonomy), 97):
        words = taxonomy.words[concept].replace("-", " ").replace("'", "").replace(".", "")
        pos: PartOfSpeech = "n" if taxonomy.names[concept].rsplit(".", 2)[1] == "n" else "v"
        assert concept in lexicon.senses(words, pos), taxonomy.names[concept]


def namer(wordnet: WordNet, bits: dict[str, float]) -> ConceptNamer:
    return ConceptNamer(wordnet.lexicon, lambda word: bits.get(word, 30.0), 30.0, stop_words())


def test_the_commoner_of_two_clear_lemmas_wins_and_ties_go_by_order(wordnet: WordNet) -> None:
    flu = int(wordnet.lexicon.senses("influenza", "n")[0])
    lemmas = Lemmas("n", ("influenza", "flu", "grippe"))
    assert namer(wordnet, {"influenza": 9.0, "flu": 8.0}).words(flu, lemmas) == "flu"
    assert namer(wordnet, {"influenza": 8.0, "flu": 9.0}).words(flu, lemmas) == "influenza"
    assert namer(wordnet, {}).words(flu, lemmas) == "influenza"


def test_an_expression_is_as_rare_as_its_rarest_word(wordnet: WordNet) -> None:
    attack = int(wordnet.lexicon.senses("heart attack", "n")[0])
    bits = {"heart": 2.0, "attack": 20.0, "infarct": 21.0}
    lemmas = Lemmas("n", ("heart_attack",))
    costs = [
        namer(wordnet, {**bits, "heart": heart})._cost(attack, lemmas.written[0], "n")
        for heart in (2.0, 19.0, 21.0)
    ]
    assert costs[0] == costs[1] == costs[2] - 1.0


@pytest.mark.parametrize(
    ("lemma", "code"),
    [("US", True), ("In", True), ("kHz", True), ("kc", True), ("atomic_number_49", True)]
    + [("Pius_II", False), ("Paris", False), ("spa", False), ("U.S.A.", True)],
)
def test_codes(lemma: str, code: bool) -> None:
    assert is_code(lemma) is code


def test_names_of_concepts_stay(wordnet: WordNet) -> None:
    assert "influenza.n.01" in wordnet.taxonomy.names
    assert len(np.unique(wordnet.taxonomy.names.astype(str))) == len(wordnet.taxonomy)
