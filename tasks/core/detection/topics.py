"""Sensitive topics: branches of the taxonomy that the law names (paper §3.1, Definition 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tasks.core.records import Flags, Ints, freeze
from tasks.core.taxonomy import Taxonomy
from tasks.errors import UsageError

Masks = NDArray[np.uint32]
"""Of every concept the topics it belongs to, one bit each."""

MOST_TOPICS = 31


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic as the user wrote it down.

    Of the branches of `roots` every concept is sensitive, of those of `named` only what has a
    name of its own: *paris*, but not *city*.
    """

    name: str
    law: str
    roots: tuple[str, ...]
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TopicMap:
    """Which topics each concept belongs to.

    Attributes:
        names: the topics, in the order of the file.
        masks: bit t of masks[c] is set if concept c lies on a branch of topic t, shape (n,).
    """

    names: tuple[str, ...]
    masks: Masks = field(repr=False)

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def sensitive(self) -> Flags:
        """Concepts on the branch of any topic, shape (n,)."""
        return self.masks > 0

    def first_topics(self, concepts: Ints) -> Ints:
        """The first topic of each concept in the file's order, or -1, shape of `concepts`."""
        masks = self.masks[concepts]
        lowest_bit = np.bitwise_and(masks, np.uint32(0) - masks)
        logs = np.log2(np.where(lowest_bit > 0, lowest_bit, 1)).astype(np.int32)
        return np.where(masks > 0, logs, -1).astype(np.int32)


def map_topics(topics: tuple[Topic, ...], taxonomy: Taxonomy) -> TopicMap:
    """Mark the branches of every topic; all roots that WordNet lacks are named in one error."""
    concepts = {name: concept for concept, name in enumerate(taxonomy.names.tolist())}
    faults = [
        f"topic {topic.name!r}: WordNet has no concept {root!r}"
        for topic in topics
        for root in (*topic.roots, *topic.named)
        if root not in concepts
    ]
    if len(topics) > MOST_TOPICS:
        faults.append(f"{len(topics)} topics, at most {MOST_TOPICS} are possible")
    if faults:
        raise UsageError(*faults, "roots look like 'disease.n.01'")
    masks = np.zeros(len(taxonomy), dtype=np.uint32)
    for bit, topic in enumerate(topics):
        roots, named = (
            taxonomy.branches(np.array([concepts[root] for root in own], dtype=np.int32))
            for own in (topic.roots, topic.named)
        )
        masks[roots | (named & taxonomy.instances)] |= np.uint32(1 << bit)
    return TopicMap(tuple(topic.name for topic in topics), masks)
