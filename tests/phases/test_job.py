"""What a release is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tasks.phases.job import files_of
from tasks.settings import Settings


def test_the_order_of_files_is_that_of_their_names(tmp_path: Path) -> None:
    for name in "ba":
        (tmp_path / name).write_text(name)
    settings = Settings(logs=(str(tmp_path / "b"), str(tmp_path / "a")), store=str(tmp_path))
    first, second = files_of(settings)
    assert [Path(file.name).name for file in (first, second)] == ["a", "b"]
    assert replace(first, digest=second.digest) != first
