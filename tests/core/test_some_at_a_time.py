"""Large logs are worked through some forms or classes after others: what is found is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap
from tasks.core.diversity import sensitive_sets
from tasks.core.measures.counts import unchanged
from tasks.core.measures.information import information_kept, truth_of
from tasks.core.records import TIME_DAY, TIME_MONTH, Longs
from tasks.core.redaction.reasons import withheld_reasons
from tasks.core.rows.levels import LogLevels
from tasks.core.rows.told import release_of
from tests.core.rows.materials import VAGUEST, Log, hard_logs

FIELDS = ("class_of", "term_offsets", "terms", "concept_offsets", "concepts", "times", "clusters")


def found(log: Log, class_of: Longs, topics: TopicMap) -> tuple[dict[str, Any], dict[str, float]]:
    """All that is found some at a time of a release of these classes, and its information."""
    taxonomy, table = log
    levels = LogLevels(table, taxonomy, vaguest=VAGUEST)
    release = release_of(table, class_of, levels, k=2, precision=TIME_DAY, senses=True)
    kept = information_kept(table, release, taxonomy, topics, finest=TIME_MONTH)
    exact = {
        **{name: getattr(release, name).tolist() for name in FIELDS},
        "reasons": withheld_reasons(table, release.published, taxonomy, k=2).tolist(),
        "unchanged": unchanged(table, release).tolist(),
        "truth": truth_of(table, release, taxonomy),
        "sensitive": sensitive_sets(table, np.arange(len(taxonomy)) % 2 == 0).tolist(),
    }
    parts = {"all": kept.kept_percent, "word": kept.words_percent, "own": kept.concepts_percent}
    return exact, {**parts, **kept.by_topic}


@settings(max_examples=80)
@given(hard_logs(least=1, most=30), st.integers(1, 6), st.integers(1, 6), st.data())
def test_the_same_is_found_however_many_are_seen_at_a_time(
    log: Log, forms: int, records: int, data: st.DataObject
) -> None:
    taxonomy, table = log
    topics = TopicMap(("one", "two"), np.arange(len(taxonomy), dtype=np.uint32) % 3)
    classes = st.lists(st.integers(-1, 4), min_size=len(table), max_size=len(table))
    class_of = np.array(data.draw(classes), dtype=np.int64)
    expected, information = found(log, class_of, topics)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.records.FORMS_AT_A_TIME", forms)
        patched.setattr("tasks.core.rows.told.RECORDS_AT_A_TIME", records)
        by_and_by, kept = found(log, class_of, topics)
    assert by_and_by == expected
    assert kept == pytest.approx(information)
