"""Generated logs for tests, cut into files."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from functools import lru_cache
from pathlib import Path

from flows import sample


@lru_cache(maxsize=4)
def generated_lines(queries: int, users: int, seed: int) -> tuple[str, tuple[str, ...]]:
    """The header and the rows of a generated log."""
    stream = io.StringIO()
    with redirect_stdout(stream):
        sample.main(["--queries", str(queries), "--users", str(users), "--seed", str(seed)])
    header, *rows = stream.getvalue().splitlines(keepends=True)
    return header, tuple(rows)


def write_parts(folder: Path, count: int, *, queries: int, users: int, seed: int) -> list[Path]:
    """A generated log in so many files of about equal size."""
    header, rows = generated_lines(queries, users, seed)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"part{number:02d}.tsv" for number in range(count)]
    for number, path in enumerate(paths):
        start, end = len(rows) * number // count, len(rows) * (number + 1) // count
        path.write_text(header + "".join(rows[start:end]), encoding="utf-8")
    return paths
