"""Which code computes: part of the name of everything that is kept."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tasks.core.digests import digest

PACKAGE: Final = Path(__file__).parent.parent
LIBRARIES: Final = (
    *("drug-named-entity-recognition", "faker", "names", "nicknames", "nltk", "numpy"),
    *("phonenumbers", "presidio-analyzer", "scipy", "spacy", "symspellpy", "wn"),
)
DATA: Final = (".py", ".toml", ".tsv", ".txt")


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Changes with any file of this package and with the libraries that decide results.

    Coarse on purpose: which function a result depends on is hard to say, and a result of older
    code that is taken for one of today's would be wrong for good.
    """
    files = sorted(path for path in PACKAGE.rglob("*") if path.suffix in DATA)
    contents = [(str(path.relative_to(PACKAGE)), digest(path.read_bytes())) for path in files]
    return digest(contents, [(name, version(name)) for name in LIBRARIES])
