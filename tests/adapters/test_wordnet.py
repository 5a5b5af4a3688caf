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

from tasks.adapters.wordnet import SOURCE_FILES, WordNet, load_wordnet, open_reader
from tasks.core.lexicon import lexical_key

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def reader(store: Path, wordnet: WordNet) -> Any:
    return open_reader(store / "wordnet" / wordnet.version)


def closure(synset: Any) -> set[str]:
    """All ancestors by walking up, without the root and without the synset itself."""
    found: set[str] = set()
    waiting = deque([synset])
    while waiting:
        node = waiting.popleft()
        for parent in node.hypernyms() + node.instance_hypernyms():
            if parent.name() not in found:
                found.add(parent.name())
                waiting.append(parent)
    return found - {"entity.n.01", synset.name()}


def test_files_are_wordnet_3_0_without_carriage_returns(store: Path, wordnet: WordNet) -> None:
    folder = store / "wordnet" / wordnet.version / "corpora" / "wordnet"
    assert (folder / "data.noun").stat().st_size == 15_300_280
    assert not any(b"\r" in (folder / name).read_bytes() for name in SOURCE_FILES)
    assert len(wordnet.taxonomy) == 82_115 + 13_767


def test_ancestors_equal_nltk(wordnet: WordNet, reader: Any) -> None:
    """Every 25th noun and verb; the verbs hold WordNet's one cycle."""
    taxonomy = wordnet.taxonomy
    cycle = [i for i, n in enumerate(taxonomy.names) if n in ("restrain.v.01", "inhibit.v.04")]
    for concept in [*range(0, len(taxonomy), 25), *cycle]:
        expected = closure(reader.synset(taxonomy.names[concept]))
        assert set(taxonomy.names[taxonomy.ancestors_of(concept)]) == expected


def test_first_senses_equal_nltk(wordnet: WordNet, reader: Any) -> None:
    for lemma in sorted(reader.all_lemma_names(pos="n"))[::50]:
        if lexical_key(lemma) == lemma:
            first = reader.synsets(lemma, "n", check_exceptions=False)[0].name()
            assert wordnet.taxonomy.names[wordnet.lexicon.senses(lemma, "n")[0]] == first


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
        (archive,) = (folder / "wordnet").glob("*.npz")
        with np.load(archive, allow_pickle=False) as fields:
            archives.append({name: fields[name].tobytes() for name in fields.files})
    assert archives[0] == archives[1]


def test_branches_of_roots(wordnet: WordNet) -> None:
    taxonomy = wordnet.taxonomy
    names = taxonomy.names.tolist()
    disease = names.index("disease.n.01")
    branch = taxonomy.branches(np.array([disease], dtype=np.int32))
    below = {i for i in range(len(taxonomy)) if disease in taxonomy.ancestors_of(i)}
    assert set(np.flatnonzero(branch).tolist()) == below | {disease}
