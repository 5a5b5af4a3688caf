"""The reviewed list of brands, works and characters, which are neither people nor concepts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tasks.core.detection.lexicon import lexical_key

PHRASES: Final = Path(__file__).parent / "data" / "phrases.txt"


def read_phrases() -> list[str]:
    """Expressions whose words say nothing one by one, as lexical keys."""
    lines = PHRASES.read_text(encoding="utf-8").splitlines()
    entries = (entry for line in lines if not line.startswith("#") for entry in line.split(","))
    return [key for entry in entries if (key := lexical_key(entry))]
