"""Which folders the program uses: the store, its cache, and whether two of them are apart.

What cannot be made again (ledger, secret, provenance) lies in the user's state folder, what can be
in the user's cache folder, which others may empty; all of it in one if the user names a store.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import platformdirs


def default_store() -> str:
    """In the user's state folder: what cannot be made again must not lie in a cache folder."""
    return os.path.join(platformdirs.user_state_dir("logveil", appauthor=False), "store")


def cache_folder(store: str | Path) -> Path:
    """Where a store has what it can make again: in itself, or in the user's cache folder.

    The latter if it was not the user who said where the store is.
    """
    default, given = os.path.abspath(default_store()), os.path.abspath(store)
    if os.path.commonpath([default, given]) != default:
        return Path(store)
    cache = platformdirs.user_cache_dir("logveil", appauthor=False)
    return Path(cache, os.path.relpath(given, default))


def overlap(one: str | Path, other: str | Path) -> bool:
    """Whether two folders are the same or one lies in the other, wherever links lead."""
    paths = [os.path.realpath(one), os.path.realpath(other)]
    return os.path.commonpath(paths) in paths


def private_folder(store: str) -> str:
    """The folder of this machine for what a store does not share: all of it, unless it is an URL.

    Of a store at an URL only what parts exchange lies there. The ledger, the secret and the
    provenance are in a folder of the user's that is found by the URL, and so is the cache.
    """
    if "://" not in store:
        return store
    return str(Path(default_store()) / "stores" / hashlib.sha256(store.encode()).hexdigest()[:32])
