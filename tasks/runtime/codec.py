"""Values as bytes and back: the one codec of whatever is kept or handed to another process.

No pickle: whoever can write to a store could plant one that runs where it is read. What is written
is a tree of plain values beside its arrays (npz); the classes and functions that it names are
looked up among those of `tasks`, and a class must be a dataclass.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import FunctionType
from typing import IO, Any, Final

import numpy as np

OWN: Final = "tasks."
TREE: Final = "tree"
CHECKSUM_BYTES: Final = 16
MAC_BYTES: Final = 16
READ_AT_ONCE: Final = 1 << 20


def pack(value: Any) -> bytes:
    """A value made of plain ones, arrays, dataclasses and functions of `tasks`."""
    buffer = io.BytesIO()
    write_packed(buffer, value)
    return buffer.getvalue()


def write_packed(stream: IO[bytes], value: Any) -> None:
    """The same, written some at a time."""
    arrays: list[np.ndarray[Any, Any]] = []
    tree = json.dumps(_packed(value, arrays), sort_keys=True).encode()
    named = {str(number): array for number, array in enumerate(arrays)}
    np.savez(stream, allow_pickle=False, **{TREE: np.frombuffer(tree, dtype=np.uint8)}, **named)


def unpack(content: bytes | IO[bytes]) -> Any:
    """What was packed; anything that `pack` would not have written is refused."""
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    with np.load(stream, allow_pickle=False) as archive:
        return _unpacked(json.loads(archive[TREE].tobytes()), archive)


def sealed(name: str, content: bytes) -> bytes:
    """The content behind a checksum that covers its name as well."""
    return _checksum(name, content) + content


def unsealed(name: str, whole: bytes) -> bytes | None:
    """What was sealed under this name; None if it is damaged or was sealed under another."""
    checksum, content = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
    return content if checksum == _checksum(name, content) else None


def mac(secret: bytes, name: str, content: bytes | IO[bytes]) -> bytes:
    """A checksum that covers a name as well, and that nobody can make without the secret.

    Of a stream it is that of what is left to read.
    """
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    hashed = hashlib.blake2b(f"{name}\n".encode(), key=secret, digest_size=MAC_BYTES)
    while part := stream.read(READ_AT_ONCE):
        hashed.update(part)
    return hashed.digest()


def signed(secret: bytes, name: str, content: bytes) -> bytes:
    """The content behind its MAC."""
    return mac(secret, name, content) + content


def unsigned(secret: bytes, name: str, whole: bytes) -> bytes | None:
    """What was signed under this name; None if it is damaged, or somebody else's work."""
    own, content = whole[:MAC_BYTES], whole[MAC_BYTES:]
    return content if hmac.compare_digest(own, mac(secret, name, content)) else None


def write_signed(stream: IO[bytes], secret: bytes, name: str, value: Any) -> None:
    """A packed value behind its MAC, which is never in memory as a whole."""
    stream.write(bytes(MAC_BYTES))
    write_packed(stream, value)
    stream.seek(MAC_BYTES)
    own = mac(secret, name, stream)
    stream.seek(0)
    stream.write(own)


def is_signed(stream: IO[bytes], secret: bytes, name: str) -> bool:
    """Whether a stream begins with the MAC of the rest of it, where it stands afterwards."""
    own = stream.read(MAC_BYTES)
    found = mac(secret, name, stream)
    stream.seek(MAC_BYTES)
    return hmac.compare_digest(own, found)


def name_of(item: Any) -> str:
    """A function or class of `tasks` as it is named in packed values."""
    name = f"{item.__module__}:{item.__qualname__}"
    if not name.startswith(OWN) or "<" in name:
        raise TypeError(f"{name} cannot be found by another process")
    return name


def named(name: str) -> Any:
    """The function or dataclass of a name."""
    module, _, own_name = name.partition(":")
    if not module.startswith(OWN) or not own_name.isidentifier():
        raise TypeError("not a name of this program")
    found = getattr(import_module(module), own_name)
    if not isinstance(found, FunctionType) and not is_dataclass(found):
        raise TypeError(f"{name} is no function or dataclass")
    return found


def _checksum(name: str, content: bytes) -> bytes:
    hashed = hashlib.blake2b(name.encode(), digest_size=CHECKSUM_BYTES)
    hashed.update(content)
    return hashed.digest()


def _packed(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return _packed_array(value, arrays)
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_packed(each, arrays) for each in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _packed(each, arrays)] for key, each in value.items()]}
    if isinstance(value, FunctionType):
        return {"function": name_of(value)}
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} cannot be packed")
    content = [_packed(getattr(value, entry.name), arrays) for entry in fields(value)]
    return {"object": name_of(type(value)), "fields": content}


def _packed_array(value: np.ndarray[Any, Any], arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Strings as the bytes of a JSON list: that loads sooner than numpy's padded ones."""
    if value.dtype == np.object_:
        text = json.dumps(value.tolist(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        arrays.append(np.frombuffer(text, dtype=np.uint8))
        return {"strings": len(arrays) - 1}
    arrays.append(value)
    return {"array": len(arrays) - 1}


def _unpacked(tree: Any, arrays: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = ((kind, own) for kind, own in tree.items() if kind != "fields")
    match kind:
        case "array":
            return arrays[str(content)]
        case "strings":
            text = arrays[str(content)].tobytes().decode("utf-8", "surrogatepass")
            return np.array(json.loads(text), dtype=object)
        case "list":
            return [_unpacked(each, arrays) for each in content]
        case "tuple":
            return tuple(_unpacked(each, arrays) for each in content)
        case "dict":
            return {key: _unpacked(each, arrays) for key, each in content}
        case "function":
            return named(content)
        case "object":
            return named(content)(*(_unpacked(each, arrays) for each in tree["fields"]))
    raise TypeError("not written by this program")
