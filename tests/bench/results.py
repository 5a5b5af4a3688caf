"""What a benchmark has found so far, kept on disk after every run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.bench.watched import MEGABYTE, ROOT

LIBRARIES: Final = ("numpy", "scipy", "nltk", "spacy", "prefect", "presidio-analyzer", "diskcache")


@dataclass
class Results:
    """The JSON document; a benchmark of hours that is interrupted has kept what it has."""

    path: Path
    content: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def renewed(cls, path: Path) -> Results:
        """Nothing but the notes that somebody has written on earlier figures."""
        earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return cls(path, {"notes": earlier["notes"]} if earlier.get("notes") else {})

    def put(self, name: str, value: Any) -> None:
        self.content[name] = value
        self._save()

    def add(self, name: str, value: Any) -> None:
        self.content.setdefault(name, []).append(value)
        self._save()

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_suffix(".part")
        text = json.dumps(self.content, indent=1, ensure_ascii=False) + "\n"
        aside.write_text(text, encoding="utf-8")
        aside.replace(self.path)


def machine_facts() -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MEGABYTE,
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _commit() -> str:
    """The commit that is measured; a plus says that there are changes beside it."""
    command = ("git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+")
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
