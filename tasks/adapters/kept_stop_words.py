"""spaCy's stop words, kept: a run that reads no new text need not wait for spaCy's import."""

from __future__ import annotations

from tasks.adapters.cache import BlobCache
from tasks.adapters.code import code_digest


def stop_words(cache: BlobCache) -> frozenset[str]:
    """Words that say nothing by themselves, in lexical form."""
    key = f"stop-words:{code_digest()}"
    kept = cache.get(key)
    if kept is None:
        from tasks.adapters.language import STOPS

        kept = "\n".join(sorted(STOPS)).encode()
        cache.put(key, kept)
    return frozenset(kept.decode().split("\n"))
