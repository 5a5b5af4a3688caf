"""Strict redaction in shards, by this process or by several: the same release in the same order.

Shards hold numbers alone. What has no cluster is redacted here, after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tasks.core.records import Clusters, Longs, RecordTable, Release
from tasks.core.redaction.parts import (
    Part,
    RedactedPart,
    join,
    left_by_parts,
    lineage_of,
    part_of,
    redact_part,
    redact_without_cluster,
)
from tasks.core.starmap import Starmap
from tasks.runtime.errors import contained
from tasks.runtime.knowledge import Knowledge
from tasks.runtime.progress import Progress, counted

FEWEST_SHARDS: Final = 4
"""With fewer, other processes take longer to get ready than they save."""


def redact_in_shards(
    table: RecordTable,
    clusters: Clusters,
    shards: Sequence[Longs],
    known: Knowledge,
    run: Starmap,
    progress: Progress,
    *,
    k: int,
    inclusive: bool,
) -> Release:
    """What each record publishes; `shards` are the records of each, as `cut` gives them."""
    taxonomy = known.taxonomy
    lineage = lineage_of(table, clusters.labels, taxonomy, inclusive=inclusive)
    parts = (part_of(table, clusters.labels, own, lineage, taxonomy) for own in shards)
    results = run(redact_shard, ((known, part, k) for part in parts))
    progress(0, len(table))
    redacted = list(counted(results, len(table), progress))
    left = left_by_parts(clusters, redacted)
    alone = redact_without_cluster(table, left, taxonomy, k=k)
    progress(len(table), len(table))
    return join(table, (left, alone), shards, redacted)


@contained
def redact_shard(known: Knowledge, part: Part, k: int) -> RedactedPart:
    """Redact a shard; runs in a worker."""
    return redact_part(part, known.taxonomy, k=k)
