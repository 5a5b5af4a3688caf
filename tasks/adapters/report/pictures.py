"""The report's figures as pictures that stand alone, for pages that are not ours."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from tasks.adapters.report.figures import Figure, figures
from tasks.adapters.report.style import DRAWING, LIGHT

NAMESPACE = "http://www.w3.org/2000/svg"
ACROSS = 600
"""Pixels, unless the page around it says otherwise."""
# A picture cannot know whether the page around it is dark: it brings its own paper.
STYLE = f"svg {{ {LIGHT} --card: var(--paper); background: var(--paper); }} {DRAWING}"


def standalone_pictures(measures: dict[str, Any]) -> list[tuple[Figure, str]]:
    """Each figure that has something to show, with its picture as a data address."""
    return [(figure, _address(figure.drawn)) for figure in figures(measures) if figure.drawn]


def _address(drawn: str) -> str:
    alone = drawn.replace("<svg ", f'<svg xmlns="{NAMESPACE}" width="{ACROSS}" ', 1)
    styled = alone.replace("<title", f"<style>{STYLE}</style><title", 1)
    return f"data:image/svg+xml;base64,{b64encode(styled.encode()).decode()}"
