"""What is written in any kind of log is read back, whatever program wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.adapters.logs.formats import FORMATS
from tasks.adapters.logs.reader import read_logs
from tasks.core.log_options import LogOptions
from tasks.core.records import QueryLog
from tests.adapters.logs.kinds import KINDS, Kind, plain_log
from tests.adapters.logs.logwriters import Row, assert_holds, outcome

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def write(folder: Path, kind: Kind, rows: list[Row]) -> Path:
    path = folder / kind.file
    path.write_bytes(kind.write(rows))
    return path


@every_kind
def test_the_same_log_in_every_kind(tmp_path: Path, kind: Kind) -> None:
    rows = plain_log()
    path = write(tmp_path, kind, rows)
    assert_holds(read_logs([path], LogOptions(columns=kind.columns)), rows)


@every_kind
@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_raises_nothing_of_its_own(
    tmp_path: Path, kind: Kind, place: int, byte: int, cut: bool
) -> None:
    content = bytearray(kind.write(plain_log()))
    content[place % len(content)] = byte
    path = tmp_path / kind.file
    path.write_bytes(content[: place % len(content)] if cut else content)
    found = outcome(path, columns=kind.columns)
    assert isinstance(found, QueryLog) or found.__context__ is None


pieces = [
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\n", b" ", b"source[", b"took[1]"),
    *(
        b"params={",
        b"path=/select ",
        b"q=",
        b"&",
        b"%",
        b"[01/Mar/2006:07:17:12 +0000]",
        b"GET /?q=",
    ),
    *(b"1.2.3.4 - - ", b'"query"', b'"match"', b"PK\x03\x04", b"PAR1", b"\xff\xfe", b"\0", b"\xe9"),
]


@pytest.mark.parametrize("format", ["auto", *FORMATS])
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.lists(st.sampled_from(pieces), max_size=40).map(b"".join) | st.binary())
def test_garbage_in_every_format(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    found = outcome(path, format=format, person="row")
    assert isinstance(found, QueryLog) or found.__context__ is None


@every_kind
@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_odd_characters_in_every_kind(tmp_path: Path, kind: Kind, data: st.DataObject) -> None:
    characters = st.characters(
        exclude_categories=["Cs", "Cc"],
        exclude_characters=kind.cannot + "\ufffe\uffff",
        codec=kind.encoding,
    )
    odd = st.sampled_from([*set("\"'&=+%;,|[]{}\\#?/<> \u00e9\u00fc") - {*kind.cannot}])
    queries = st.text(characters | odd, min_size=1, max_size=20).map(str.strip)
    drawn = data.draw(st.lists(queries.filter(lambda text: text not in ("", "-")), max_size=6))
    known = plain_log()
    asked = [(user, query, time) for (user, _, time), query in zip(known, drawn, strict=False)]
    rows = [*known[:30], *asked]
    path = write(tmp_path, kind, rows)
    assert_holds(read_logs([path], LogOptions(columns=kind.columns)), rows)
