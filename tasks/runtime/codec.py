"""Values as bytes and back: the one codec of whatever is kept or handed to another process.

No pickle: whoever can write to a store could plant one that runs where it is read. What is written
is a tree of plain values beside its arrays (npz); the classes and functions that it names are
looked up among those of `tasks`, and a class must be a dataclass. What is large is written and read
some at a time; a large array comes back as a column.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
from dataclasses import fields, is_dataclass
from importlib import import_module
from math import prod
from types import FunctionType
from typing import IO, Any, Final, cast
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.lib.npyio import NpzFile

from tasks.core.columns import column, rest

OWN: Final = "tasks."
TREE: Final = "tree"
CHECKSUM_BYTES: Final = 16
MAC_BYTES: Final = 16
READ_AT_ONCE: Final = 1 << 20


class Packed:
    """A value made of plain ones, arrays, dataclasses and functions of `tasks`, as it is written.

    Attributes:
        size: bytes of its arrays.
    """

    def __init__(self, value: Any) -> None:
        self._arrays: list[np.ndarray[Any, Any]] = []
        tree = json.dumps(_packed(value, self._arrays), sort_keys=True)
        self._tree = np.frombuffer(tree.encode(), dtype=np.uint8)
        self.size = sum(array.nbytes for array in self._arrays)

    def write(self, stream: IO[bytes]) -> None:
        """Write it, some at a time."""
        named = {str(number): array for number, array in enumerate(self._arrays)}
        np.savez(stream, allow_pickle=False, **{TREE: self._tree}, **named)

    def sealed(self, name: str) -> bytes:
        """All of it behind a checksum that covers a name as well."""
        buffer = io.BytesIO()
        self.write_sealed(buffer, name)
        return buffer.getvalue()

    def write_sealed(self, stream: IO[bytes], name: str) -> None:
        """The same behind a checksum, without having it in memory as a whole."""
        stream.write(bytes(CHECKSUM_BYTES))
        self.write(stream)
        stream.seek(CHECKSUM_BYTES)
        own = _checksum(name, stream)
        stream.seek(0)
        stream.write(own)


def pack(value: Any) -> bytes:
    """What is written of a value."""
    buffer = io.BytesIO()
    Packed(value).write(buffer)
    return buffer.getvalue()


def unpack(content: bytes | IO[bytes]) -> Any:
    """What was packed; anything that `pack` would not have written is refused."""
    with np.load(_stream(content), allow_pickle=False) as archive:
        return _unpacked(json.loads(archive[TREE].tobytes()), archive)


def sealed(name: str, content: bytes) -> bytes:
    """The content behind a checksum that covers its name as well."""
    return _checksum(name, content) + content


def unsealed(name: str, whole: bytes) -> bytes | None:
    """What was sealed under this name; None if it is damaged or was sealed under another."""
    checksum, content = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
    return content if checksum == _checksum(name, content) else None


def is_sealed(stream: IO[bytes], name: str) -> bool:
    """Whether a stream begins with the checksum of the rest of it, where it stands afterwards."""
    own = stream.read(CHECKSUM_BYTES)
    found = _checksum(name, stream)
    stream.seek(CHECKSUM_BYTES)
    return own == found


def mac(secret: bytes, name: str, content: bytes | IO[bytes]) -> bytes:
    """A checksum that covers a name as well, and that nobody can make without the secret.

    Of a stream it is that of what is left to read.
    """
    hashed = hashlib.blake2b(f"{name}\n".encode(), key=secret, digest_size=MAC_BYTES)
    return _digest(hashed, content)


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
    Packed(value).write(stream)
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


def _checksum(name: str, content: bytes | IO[bytes]) -> bytes:
    return _digest(hashlib.blake2b(name.encode(), digest_size=CHECKSUM_BYTES), content)


def _digest(hashed: hashlib.blake2b, content: bytes | IO[bytes]) -> bytes:
    stream = _stream(content)
    while part := stream.read(READ_AT_ONCE):
        hashed.update(part)
    return hashed.digest()


def _stream(content: bytes | IO[bytes]) -> IO[bytes]:
    return io.BytesIO(content) if isinstance(content, bytes) else content


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


def _array(archive: NpzFile, number: int) -> np.ndarray[Any, Any]:
    """A large array as a column, read some at a time; any other as numpy reads it."""
    files, name = cast("ZipFile", archive.zip), f"{number}.npy"
    size = files.getinfo(name).file_size
    if size <= READ_AT_ONCE:
        return np.asarray(archive[str(number)])
    with files.open(name) as member:
        if npy.read_magic(member) != (1, 0):
            raise ValueError("not written by this program")
        shape, by_columns, kind = npy.read_array_header_1_0(member)
        if kind.hasobject or by_columns or prod(shape) * kind.itemsize != size - member.tell():
            raise ValueError("not written by this program")
        found = column(shape, kind)
        held, done = found.reshape(-1).view(np.uint8), 0
        while part := member.read(READ_AT_ONCE):
            held[done : done + len(part)] = np.frombuffer(part, dtype=np.uint8)
            done += len(part)
            rest()
    return found


def _unpacked(tree: Any, arrays: NpzFile) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = ((kind, own) for kind, own in tree.items() if kind != "fields")
    match kind:
        case "array":
            return _array(arrays, content)
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
