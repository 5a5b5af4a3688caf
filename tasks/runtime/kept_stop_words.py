"""spaCy's stop words, kept: a run that reads no new text need not wait for spaCy's import."""

from __future__ import annotations

from tasks.core.starmap import Starmap
from tasks.runtime.cache import BlobCache
from tasks.runtime.code import code_digest


def stop_words(cache: BlobCache, run: Starmap) -> frozenset[str]:
    """Words that say nothing by themselves, in lexical form.

    Args:
        run: asks those who read texts; they have imported spaCy.
    """
    key = f"stop-words:{code_digest()}"
    kept = cache.get(key)
    if kept is None:
        (words,) = run(_list_stop_words, [()])
        kept = "\n".join(words).encode()
        cache.put(key, kept)
    return frozenset(kept.decode().split("\n"))


def _list_stop_words() -> list[str]:
    from tasks.adapters.detection.pipeline import STOPS

    return sorted(STOPS)
