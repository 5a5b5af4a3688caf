"""What the records of a pool publish, in the edition's cluster numbers; the others wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from tasks.core.append.assignment import Assignment, clusters_in_use
from tasks.core.records import TIME_HOUR, RecordTable, Release
from tasks.core.redaction.by_record import redact_by_terms
from tasks.core.redaction.published import place_attributes
from tasks.core.redaction.strict import redact_strictly
from tasks.core.taxonomy import Taxonomy

KAnonymous = Literal["strict", "terms"]

REDACTIONS: Final = {"strict": redact_strictly, "terms": redact_by_terms}


def redact_pool(
    table: RecordTable,
    assignment: Assignment,
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    guarantee: KAnonymous,
    k: int,
    finest: int = TIME_HOUR,
) -> Release:
    """Redact by the records of the pool alone, so that the release holds by itself."""
    clusters, numbers = clusters_in_use(assignment)
    rows = [assignment.rows[number] for number in numbers.tolist()]
    published = place_attributes(table, clusters, rows, taxonomy, inclusive=inclusive)
    release = REDACTIONS[guarantee](table, clusters, published, k=k, finest=finest)
    return replace(release, clusters=np.append(numbers, np.int32(-1))[release.clusters])
