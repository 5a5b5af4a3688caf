"""The files of a comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks.evaluation.pages.canvas import as_files
from tasks.evaluation.pages.figures import FIGURES
from tasks.evaluation.pages.page import render_page


def write_comparison(out: Path, found: dict[str, Any]) -> None:
    """Write numbers, figures and the page; the page comes last, so that it is complete."""
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "comparison.json", json.dumps(found, indent=2, ensure_ascii=False).encode())
    pictures = {}
    for figure in FIGURES:
        drawn = as_files(figure.draw, found)
        _write(out / f"{figure.name}.png", drawn.png)
        _write(out / f"{figure.name}.svg", drawn.svg)
        pictures[figure.name] = drawn.svg.decode()
    _write(out / "comparison.html", render_page(found, pictures).encode())


def _write(path: Path, content: bytes) -> None:
    aside = path.with_name(f".{path.name}.part")
    aside.write_bytes(content)
    aside.replace(path)
