"""What the records of a pool publish, in the edition's cluster numbers; the others wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from tasks.core.append.settle import Settlement
from tasks.core.records import Clusters, Ints, RecordTable, Release
from tasks.core.redaction.by_record import redact_by_terms
from tasks.core.redaction.published import place_attributes
from tasks.core.redaction.strict import redact_strictly
from tasks.core.taxonomy import Taxonomy

KAnonymous = Literal["strict", "terms"]
REDACTIONS: Final = {"strict": redact_strictly, "terms": redact_by_terms}


def redact_pool(
    table: RecordTable,
    settlement: Settlement,
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    guarantee: KAnonymous,
    k: int,
) -> Release:
    """Redact by the records of the pool alone, so that the release holds by itself."""
    clusters, numbers = clusters_in_use(settlement)
    rows = [settlement.rows[number] for number in numbers.tolist()]
    published = place_attributes(table, clusters, rows, taxonomy, inclusive=inclusive)
    release = REDACTIONS[guarantee](table, clusters, published, k=k)
    return replace(release, clusters=np.append(numbers, np.int32(-1))[release.clusters])


def clusters_in_use(settlement: Settlement) -> tuple[Clusters, Ints]:
    """The clusters of this release numbered 0, 1, …, as redaction and measures want them.

    Returns:
        The clusters, waiting records withheld, and the edition's number of each.
    """
    held = settlement.labels >= 0
    numbers, places = np.unique(settlement.labels[held], return_inverse=True)
    labels = np.full(len(held), -1, dtype=np.int32)
    labels[held] = places
    withheld = settlement.waiting.copy()
    return Clusters(labels, withheld, np.full(len(numbers), -1, dtype=np.int32)), numbers
