"""Digests of values: the names under which results are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.core.records import Ints, Longs

Keys = NDArray[np.bytes_]
DIGEST_LENGTH = 32
KEY_BYTES = 16
KEYS_AT_A_TIME = 1 << 16


def digest(*parts: Any) -> str:
    """A short name for some values; equal if and only if all of them are (dicts in any order).

    Values are strings, numbers, None, bytes, arrays, and lists, tuples or dicts of those.
    """
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(_encoded(part))
    return hashed.hexdigest()[:DIGEST_LENGTH]


def _encoded(part: Any) -> bytes:
    """Kind, length and content, so that no two lists of values read the same."""
    if isinstance(part, np.ndarray):
        head, body = f"{part.dtype.str}{part.shape}", np.ascontiguousarray(part).tobytes()
    elif isinstance(part, bytes):
        head, body = "bytes", part
    else:
        head, body = "json", json.dumps(part, sort_keys=True).encode()
    return f"{head}:{len(body)}:".encode() + body


def row_keys(offsets: Longs, values: Ints, secret: bytes) -> Keys:
    """A name for the content of each row of a ragged array, the same in every log."""
    content, width = values.tobytes(), values.itemsize
    return byte_keys(
        (content[a * width : b * width] for a, b in pairwise(offsets.tolist())), secret
    )


def byte_keys(contents: Iterable[bytes], secret: bytes) -> Keys:
    """Keyed hashes, by which nobody without the secret can try out what was hashed."""
    hashed = hashlib.blake2b(key=secret, digest_size=KEY_BYTES)

    def key(content: bytes) -> bytes:
        own = hashed.copy()
        own.update(content)
        return own.digest()

    keys, remaining = bytearray(), map(key, contents)
    while some := b"".join(islice(remaining, KEYS_AT_A_TIME)):
        keys += some
    return np.frombuffer(keys, dtype=f"S{KEY_BYTES}")
