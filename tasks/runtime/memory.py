"""What a store remembers from run to run; the phases are given this instead of paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

from tasks.adapters.detection.topics import DEFAULT_TOPICS, topics_content
from tasks.adapters.wordnet import wordnet_version
from tasks.core.choices import Scope
from tasks.core.digests import digest
from tasks.core.errors import InputError
from tasks.runtime.cache import BlobCache
from tasks.runtime.code import code_digest
from tasks.runtime.private_files import store_secret
from tasks.settings import Settings

GIGABYTE = 10**9


@dataclass(frozen=True, slots=True)
class Memory:
    """The cache and the secret of a store."""

    cache: BlobCache
    secret: bytes = field(repr=False)


class Reader(Protocol):
    """The settings that decide how a text is read."""

    @property
    def store(self) -> str: ...
    @property
    def topics(self) -> str | None: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def spacy_model(self) -> str | None: ...


def open_memory(settings: Settings) -> Memory:
    store = Path(settings.store)
    secret = store_secret(store)
    return Memory(BlobCache(store, int(settings.store_limit * GIGABYTE)), secret)


def way_of_reading(settings: Reader) -> str:
    """A digest of all that decides how a text is read."""
    topics = topics_content(Path(settings.topics) if settings.topics else DEFAULT_TOPICS)
    model = settings.spacy_model and (settings.spacy_model, _model_version(settings.spacy_model))
    return digest(*_knowledge(settings.store), topics, settings.scope, model)


def way_of_comparing(settings: Settings) -> str:
    """A digest of all that decides the distance of two concepts."""
    return digest(*_knowledge(settings.store), settings.ancestors)


def _knowledge(store: str) -> tuple[str, str]:
    try:
        return code_digest(), wordnet_version(Path(store))
    except OSError as fault:
        raise InputError(f"cannot use --store {store}: {fault.strerror}") from None


def _model_version(model: str) -> str:
    """Of a package its version, of a folder the content of its files."""
    try:
        return version(model)
    except PackageNotFoundError:
        files = sorted(path for path in Path(model).rglob("*") if path.is_file())
        return digest([(str(path), digest(path.read_bytes())) for path in files])
