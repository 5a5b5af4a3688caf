"""Where the files of installed packages lie."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tasks.core.errors import InputError


def package_folder(package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise InputError(f"package {package} is missing: install this project's dependencies")
    return Path(found.origin).parent
