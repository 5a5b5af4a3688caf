"""The internal edition of figures and reports, which lies in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks.adapters.private_folders import private_folder_of


def internal_measures(store: Path, out: Path) -> dict[str, Any]:
    """The exact measures of the release in a folder."""
    loaded: dict[str, Any] = json.loads(
        (private_folder_of(store, out) / "measures.json").read_text()
    )
    return loaded


def internal_report(store: Path, out: Path) -> str:
    """The report made from them."""
    return (private_folder_of(store, out) / "report.html").read_text()
