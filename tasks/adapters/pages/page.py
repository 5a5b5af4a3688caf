"""Pages from templates: self-contained files that open from disk, in one style.

Nothing on them comes from elsewhere, no script runs, and every text is escaped unless it is a
picture of ours.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.adapters.pages.numbers import count, percent
from tasks.adapters.pages.svg import standing_alone

SHARED: Final = Path(__file__).parent / "templates"
NOTHING_DRAWN: Final = Markup("")


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, or nothing if there is nothing to show, with what one reads off it."""

    name: str
    title: str
    says: str
    drawn: Markup = NOTHING_DRAWN


def render(templates: Path, name: str, **values: object) -> str:
    """A page from a template of this folder, which may extend and include the shared ones."""
    return _environment(templates).get_template(name).render(values)


def picture_file(drawn: Markup, width: float) -> str:
    """A picture as an SVG file of its own.

    A picture cannot know whether the page around it is dark: it is light, and brings its paper.
    """
    return standing_alone(drawn, render(SHARED, "standalone.css"), width)


def picture_address(drawn: Markup, width: float) -> str:
    """A picture as a data address, for pages that are not ours."""
    content = b64encode(picture_file(drawn, width).encode()).decode()
    return f"data:image/svg+xml;base64,{content}"


@lru_cache
def _environment(templates: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([templates, SHARED]),
        autoescape=lambda name: not (name or "").endswith(".md"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(count=count, percent=percent)
    return environment
