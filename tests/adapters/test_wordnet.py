"""The compiled WordNet against NLTK's reader, which is the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.adapters.public_data import Fields, compiled
from tasks.adapters.wordnet import (
    SOURCE_FILES,
    WordNet,
    load_wordnet,
    open_reader,
    wordnet_sources,
    wordnet_version,
)
from tasks.core.detection.lexicon import PartOfSpeech, lexical_key
from tasks.runtime.codec import pack

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def reader(store: Path, wordnet: WordNet) -> Any:
    return open_reader(store / "wordnet" / wordnet.version)


def closures(reader: Any, pos: str) -> dict[str, frozenset[str]]:
    """All ancestors of every synset, by walking up NLTK's links, without root and itself."""
    parents = {
        synset.name(): [p.name() for p in synset.hypernyms() + synset.instance_hypernyms()]
        for synset in reader.all_synsets(pos)
    }
    return {name: frozenset(above(name, parents)) - {"entity.n.01", name} for name in parents}


def above(name: str, parents: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = deque([name])
    while waiting:
        for parent in parents[waiting.popleft()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def test_files_are_wordnet_3_0_without_carriage_returns(store: Path, wordnet: WordNet) -> None:
    folder = store / "wordnet" / wordnet.version / "corpora" / "wordnet"
    assert (folder / "data.noun").stat().st_size == 15_300_280
    assert not any(b"\r" in (folder / name).read_bytes() for name in SOURCE_FILES)
    assert len(wordnet.taxonomy) == 82_115 + 13_767


@pytest.mark.slow
@pytest.mark.parametrize(("pos", "count"), [("n", 82_115), ("v", 13_767)])
def test_every_name_and_all_ancestors_equal_nltk(
    wordnet: WordNet, reader: Any, pos: str, count: int
) -> None:
    taxonomy = wordnet.taxonomy
    expected = closures(reader, pos)
    own = [place for place, name in enumerate(taxonomy.names) if name.split(".")[-2] == pos]
    assert len(own) == len(expected) == count
    found = {
        taxonomy.names[concept]: frozenset(taxonomy.names[taxonomy.ancestors_of(concept)])
        for concept in own
    }
    assert found == expected


@pytest.mark.slow
def test_adjectives_and_adverbs_have_no_ancestors(reader: Any) -> None:
    """Hence nothing is lost by leaving them out of the taxonomy."""
    others = [synset for pos in "ar" for synset in reader.all_synsets(pos)]
    assert len(others) == 117_659 - 82_115 - 13_767
    assert not any(synset.hypernyms() or synset.instance_hypernyms() for synset in others)


@pytest.mark.slow
@pytest.mark.parametrize("pos", ["n", "v"])
def test_every_first_sense_equals_nltk(wordnet: WordNet, reader: Any, pos: PartOfSpeech) -> None:
    """Spellings that share a key (*a.e.* and *ae*) share their senses: one of their first wins."""
    firsts: dict[str, set[str]] = {}
    for lemma in reader.all_lemma_names(pos=pos):
        first = reader.synset_from_pos_and_offset(pos, reader._lemma_pos_offset_map[lemma][pos][0])
        firsts.setdefault(lexical_key(lemma), set()).add(first.name())
    names, lexicon = wordnet.taxonomy.names, wordnet.lexicon
    found = {key: names[lexicon.senses(key, pos)[0]] for key in firsts}
    assert {key for key, name in found.items() if name not in firsts[key]} == set()
    has_senses = {key for key in lexicon.index if len(lexicon.senses(key, pos))}
    assert has_senses == set(firsts)


IRREGULAR = (
    "flu disease mice ran went wolves churches boxes buses men parties taxes running lives "
    "studied oxen teeth better addresses glasses heroes leaves was had diagnoses"
)
WORDS = st.sampled_from(tuple(IRREGULAR.split()))


@given(st.one_of(WORDS, st.from_regex(r"[a-z]{1,8}(s|ses|ies|men|ing|ed|es)?", fullmatch=True)))
def test_base_forms_equal_morphy(wordnet: WordNet, reader: Any, form: str) -> None:
    for pos in ("n", "v"):
        found = wordnet.lexicon.base(form, pos)
        expected = next(iter(reader._morphy(form, pos)), None)
        # We also find lemmas whose dots and apostrophes nobody types: *ae* is WordNet's a.e.
        folded = found is not None and pos not in reader._lemma_pos_offset_map.get(found, {})
        assert found == expected or folded


def test_hyphen_space_and_underscore_are_one() -> None:
    assert lexical_key("ill-health") == lexical_key("ill_health") == lexical_key("Ill  health")
    assert lexical_key("Alzheimer's") == "alzheimers"


def test_a_second_load_compiles_nothing(store: Path, wordnet: WordNet) -> None:
    before = {p: p.stat().st_mtime_ns for p in (store / "wordnet").rglob("*")}
    load_wordnet(store)
    assert {p: p.stat().st_mtime_ns for p in (store / "wordnet").rglob("*")} == before


@pytest.mark.slow
def test_compilation_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tasks.adapters.wordnet import load_wordnet; "
        "load_wordnet(Path(sys.argv[1]))"
    )
    archives = []
    for seed in ("0", "1"):
        folder = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(
            [sys.executable, "-c", code, str(folder)], cwd=ROOT, env=environment, check=True
        )
        sources = wordnet_sources(wordnet_version(folder))
        archives.append(pack(compiled(folder, "wordnet", sources, not_again)))
    assert archives[0] == archives[1]


def not_again() -> Fields:
    raise AssertionError("compiled again")


def test_branches_of_roots(wordnet: WordNet) -> None:
    taxonomy = wordnet.taxonomy
    names = taxonomy.names.tolist()
    disease = names.index("disease.n.01")
    branch = taxonomy.branches(np.array([disease], dtype=np.int32))
    below = {i for i in range(len(taxonomy)) if disease in taxonomy.ancestors_of(i)}
    assert set(np.flatnonzero(branch).tolist()) == below | {disease}
