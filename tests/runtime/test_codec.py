"""Values as bytes: what was packed comes out, and nothing that was planted is called."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from tasks.adapters.detection.text_reader import TextReader
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.similarity.costs import SetCosts
from tasks.runtime.codec import Packed, is_sealed, name_of, named, pack, sealed, unpack, unsealed
from tasks.runtime.remote import SharedFiles
from tests.helpers.many_blocks import problem_of_many_blocks


def same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    if isinstance(left, Problem | SetCosts):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    return type(left) is type(right) and bool(left == right)


@pytest.mark.parametrize(
    "value",
    [
        None,
        (1, "text", 2.5, True, [None, ("a",)], {"user": "1"}),
        between_sets,
        TextReader("store", None, "all", None),
        np.array([b"\x00key"], dtype="S16"),
        np.array(["flu", "", "né\udc80\x00"], dtype=object),
    ],
    ids=["none", "plain", "function", "dataclass", "array", "strings"],
)
def test_what_was_packed_comes_out(value: Any) -> None:
    assert same(unpack(pack(value)), value)


def test_a_problem_comes_out_and_has_one_name() -> None:
    problem = problem_of_many_blocks()
    content = pack((problem, between_sets))
    assert same(unpack(content)[0], problem)
    assert pack((problem, between_sets)) == content


@pytest.mark.parametrize("value", [lambda: None, object(), SharedFiles, Path("/"), b"", {1}])
def test_what_another_process_could_not_read_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        pack(value)


@pytest.mark.parametrize(
    "tree",
    [
        b'{"function": "shutil:rmtree"}',
        b'{"function": "tasks.runtime.remote:RemoteExecutor"}',
        b'{"function": "tasks.runtime.remote:work.__globals__"}',
        b'{"object": "subprocess:Popen", "fields": ["true"]}',
        b'{"pickle": "gASVBAAAAAAAAAAu"}',
    ],
)
def test_what_was_planted_is_not_called(tree: bytes) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.frombuffer(tree, dtype=np.uint8))
    with pytest.raises(TypeError):
        unpack(buffer.getvalue())


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As large values are read."""
    monkeypatch.setattr("tasks.runtime.codec.READ_AT_ONCE", 100)


@pytest.mark.usefixtures("few_at_once")
@pytest.mark.parametrize(
    "array",
    [
        np.arange(1000, dtype=np.int32),
        np.arange(1000, dtype=np.float64).reshape(10, 100),
        np.arange(1000) % 2 == 0,
        np.array([b"\x00key", b""] * 50, dtype="S16"),
        np.arange(1000)[::2],
    ],
    ids=["numbers", "rows", "flags", "bytes", "every other"],
)
def test_a_large_array_comes_out_part_by_part(
    array: np.ndarray[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def noted(shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
        made.append(shape)
        return np.empty(shape, kind)

    monkeypatch.setattr("tasks.runtime.codec.column", noted)
    assert same(unpack(pack(array)), array)
    assert made == [array.shape]


@pytest.mark.usefixtures("few_at_once")
def test_a_large_array_must_be_as_long_as_it_says() -> None:
    """Room for it is made by what its head says."""
    content = pack(np.arange(1000, dtype=np.int32))
    for says in (b"(1001,)", b"(9999,)", b"(999, )"):
        forged = io.BytesIO()
        with ZipFile(io.BytesIO(content)) as own, ZipFile(forged, "w") as archive:
            for name in own.namelist():
                archive.writestr(name, own.read(name).replace(b"(1000,)", says))
        with pytest.raises(ValueError, match="not written by this program"):
            unpack(forged.getvalue())


@pytest.mark.usefixtures("few_at_once")
def test_a_large_array_of_objects_is_not_read() -> None:
    buffer, arrays = io.BytesIO(), {"0": np.arange(1000)}
    tree = np.frombuffer(b'{"array": 0}', dtype=np.uint8)
    np.savez(buffer, allow_pickle=False, tree=tree, **arrays)
    forged = io.BytesIO()
    with ZipFile(io.BytesIO(buffer.getvalue())) as own, ZipFile(forged, "w") as archive:
        for name in own.namelist():
            archive.writestr(name, own.read(name).replace(b"'<i8'", b"'|O' "))
    with pytest.raises(ValueError, match="not written by this program"):
        unpack(forged.getvalue())


@pytest.mark.usefixtures("few_at_once")
def test_what_is_sealed_some_at_a_time_is_the_same() -> None:
    """What is read as a whole and what is read from a stream may be written either way."""
    rows = np.arange(1000)
    stream = io.BytesIO()
    Packed(rows).write_sealed(stream, "name")
    for whole in (stream.getvalue(), sealed("name", pack(rows))):
        content, own = unsealed("name", whole), io.BytesIO(whole)
        assert content is not None
        assert same(unpack(content), rows)
        assert is_sealed(own, "name")
        assert same(unpack(own), rows)
    for name, damage in (("name", 0), ("other", 0), ("name", 1)):
        damaged = bytearray(stream.getvalue())
        damaged[500] ^= damage
        assert is_sealed(io.BytesIO(damaged), name) is (name == "name" and not damage)


def test_a_pickle_is_not_read() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.array([{"planted": 1}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack(buffer.getvalue())


def test_a_pickle_among_the_arrays_is_not_read() -> None:
    buffer, tree = io.BytesIO(), np.frombuffer(b'{"array": 0}', dtype=np.uint8)
    planted: dict[str, Any] = {"0": np.array([{"planted": 1}], dtype=object)}
    np.savez(buffer, tree=tree, **planted)
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack(buffer.getvalue())


def test_names_are_those_of_this_program() -> None:
    assert named(name_of(between_sets)) is between_sets
    assert named(name_of(TextReader)) is TextReader
    for foreign in (Path, np.zeros, test_a_pickle_is_not_read):
        with pytest.raises(TypeError):
            name_of(foreign)


def test_a_checksum_covers_content_and_name() -> None:
    whole = sealed("name", b"content")
    assert unsealed("name", whole) == b"content"
    assert unsealed("other", whole) is None
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        assert unsealed("name", bytes(damaged)) is None
    for length in range(len(whole)):
        assert unsealed("name", whole[:length]) is None
    assert unsealed("name", sealed("name", b"")) == b""
