"""What names a compilation of public data, and that it is made once for one name."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tasks.adapters.public_data import Fields, Sources, compiled, package_folder, words_in_use
from tasks.errors import InputError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "list.txt"
    path.write_text("flu")
    return path


def test_the_key_changes_with_code_files_and_versions(file: Path) -> None:
    own = Sources((__name__,), (file,), ("1",))
    keys = {own.key, own._replace(code=()).key, own._replace(versions=("2",)).key}
    file.write_text("cold")
    assert len({*keys, own.key}) == 4


def test_the_key_changes_with_the_date_of_a_file(file: Path) -> None:
    sources = Sources((__name__,), (file,))
    before = sources.key
    assert sources.key == before
    os.utime(file, ns=(0, 0))
    assert sources.key != before


def test_fields_are_compiled_once_for_their_sources(tmp_path: Path) -> None:
    made: list[str] = []

    def compile_fields() -> Fields:
        made.append("")
        return {"words": np.array(["flu", "cold"], dtype=object), "counts": np.arange(len(made))}

    for version in ("1", "1", "2"):
        fields = compiled(
            tmp_path, "words", Sources((__name__,), versions=(version,)), compile_fields
        )
        assert fields["words"].tolist() == ["flu", "cold"]
        assert len(fields["counts"]) == int(version)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(InputError, match="package no_such_package is missing"):
        package_folder("no_such_package")


def test_words_in_use_begin_with_the_most_frequent() -> None:
    assert words_in_use()[:2] == ["the", "of"]
