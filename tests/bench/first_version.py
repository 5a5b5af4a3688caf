"""What version 0.1 releases of a log, run as it was, in a checkout and a process of its own.

What it published is kept by the content of the log: it will not change any more.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.core.records import Ints, QueryLog, RecordTable, Release
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.method import without_times
from tests.bench.watched import ROOT

COMMIT: Final = "a77d9ff"
LONGEST: Final = 6
"""Words that are one item of a query, at most."""
DRIVER: Final = """\
import json, sys

from tasks.knowledge import wordnet
from tasks.settings import Settings
from tasks.workbench import Workbench

log, scope, k, store = sys.argv[1:]
bench = Workbench(Settings(logs=(log,), scope=scope, k=int(k), store=store, workers=1))
read, table, release = (bench.result(phase) for phase in ("read", "analyse", "redact"))
taxonomy = wordnet(bench.settings.store).taxonomy


def cut(offsets, values, row):
    return values[offsets[row] : offsets[row + 1]].tolist()


def said(term):
    return str(table.words[term] if term >= 0 else taxonomy.words[-1 - term])


def row_of(number):
    terms = cut(release.term_offsets, release.terms, number)
    concepts = cut(release.concept_offsets, release.concepts, number)
    return {
        "query": " ".join(map(said, terms)),
        "concepts": [str(taxonomy.names[concept]) for concept in concepts],
        "cluster": int(release.clusters[number]),
        "precision": int(release.precisions[number]),
        "fillers_only": not concepts and all(t >= 0 and bool(table.fillers[t]) for t in terms),
    }


def is_true(record):
    form, concepts = table.form_of[record], release.class_of[record]
    own = {c for c in cut(table.forms.item_offsets, table.forms.item_concepts, form) if c >= 0}
    above = {a for c in own for a in taxonomy.ancestors_of(c).tolist()}
    told = cut(release.concept_offsets, release.concepts, concepts)
    return [int(c in own or c in above) for c in told]


published = [record for record in range(len(table)) if release.class_of[record] >= 0]
truths = [is_true(record) for record in published]
print(json.dumps({
    "rows": [row_of(number) for number in range(release.class_count)],
    "row_of": {int(read.rows[table.log_rows[r]]): int(release.class_of[r]) for r in published},
    "concepts_true": sum(map(sum, truths)) / max(1, sum(map(len, truths))),
    "rows_true": sum(all(own) for own in truths) / max(1, len(truths)),
}))
"""


@dataclass
class FirstVersion:
    """Version 0.1, unpacked into a folder, with a store and what it has released before."""

    folder: Path

    def released(self, log: Path, scope: str, k: int) -> dict[str, Any]:
        """Its rows, the row of each line of the log, and how much of it is true as it read them."""
        content = hashlib.sha256(log.read_bytes() + DRIVER.encode()).hexdigest()
        kept = self.folder / f"{content[:32]}-{scope}-{k}.json.gz"
        if not kept.exists():
            kept.write_bytes(gzip.compress(self._run(log, scope, k), mtime=0))
        found: dict[str, Any] = json.loads(gzip.decompress(kept.read_bytes()))
        return found

    def _run(self, log: Path, scope: str, k: int) -> bytes:
        said = (str(log.resolve()), scope, str(k), str(self.folder.resolve() / "store"))
        command = (sys.executable, "-c", DRIVER, *said)
        return subprocess.run(command, cwd=self._checkout, capture_output=True, check=True).stdout

    @cached_property
    def _checkout(self) -> Path:
        folder = self.folder / COMMIT
        if not folder.exists():
            archive = ("git", "archive", "--format=tar", COMMIT)
            packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as content:
                content.extractall(folder, filter="data")
        return folder


def first_release(
    found: dict[str, Any], log: QueryLog, table: RecordTable, taxonomy: Taxonomy
) -> Release:
    """The same over our records: what its queries say in our words, and its concepts.

    Rows of filler words alone say nothing and are taken as withheld.
    """
    words = {word: place for place, word in enumerate(table.words.tolist())}
    names = {name: place for place, name in enumerate(taxonomy.names.tolist())}
    rows = found["rows"]
    terms = [[words[said] for said in phrases(row["query"]) if said in words] for row in rows]
    concepts = [sorted(names[name] for name in row["concepts"]) for row in rows]
    clusters = [row["cluster"] for row in rows]
    release = without_times(_classes(found, log, table), terms, concepts, clusters)
    precisions = [row["precision"] for row in rows]
    return replace(release, precisions=np.array(precisions, dtype=np.int32))


def phrases(query: str) -> list[str]:
    """All words, and words in a row, of a query, each once: ours may be cut in other places."""
    words = query.split()
    spans = ((start, start + size) for size in range(1, LONGEST + 1) for start in range(len(words)))
    return list(dict.fromkeys(" ".join(words[start:end]) for start, end in spans))


def _classes(found: dict[str, Any], log: QueryLog, table: RecordTable) -> Ints:
    speaking = {number for number, row in enumerate(found["rows"]) if not row["fillers_only"]}
    lines = log.rows[table.log_rows].tolist()
    rows = (found["row_of"].get(str(line), -1) for line in lines)
    return np.array([row if row in speaking else -1 for row in rows], dtype=np.int32)
