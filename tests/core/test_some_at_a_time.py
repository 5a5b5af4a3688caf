"""Large logs are worked through some forms or classes after others: what is found is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.clustering.problem import clusters_of_labels
from tasks.core.detection.topics import TopicMap
from tasks.core.diversity import sensitive_sets, uniform_groups
from tasks.core.measures.counts import unchanged
from tasks.core.measures.information import information_kept, truth_of
from tasks.core.records import SURPLUS, TIME_DAY, TIME_MONTH, Longs
from tasks.core.redaction.by_record import redact_by_terms, without_rare_words
from tasks.core.redaction.class_sizes import limit_shares
from tasks.core.redaction.reasons import withheld_reasons
from tasks.core.redaction.scrubbing import Span, scrub
from tasks.core.rows.levels import LogLevels
from tasks.core.rows.told import release_of
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import SetCosts
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
        patched.setattr("tasks.core.columns.ROWS_AT_A_TIME", records)
        by_and_by, kept = found(log, class_of, topics)
    assert by_and_by == expected
    assert kept == pytest.approx(information)


def no_names(text: str) -> list[Span]:
    """What hides *best* beside another word."""
    return [Named(text.find("best"), text.find("best") + 4)] if " best" in text else []


class Named:
    """A span of a name."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


def redacted(log: Log, class_of: Longs, multiple: int) -> list[Any]:
    """All that is done to a release of these classes before it is published."""
    taxonomy, table = log
    levels = LogLevels(table, taxonomy, vaguest=VAGUEST)
    strict = release_of(table, class_of, levels, k=2, precision=TIME_DAY, senses=True)
    limited = limit_shares(
        strict, strict.class_of, table.users, most=0.5, multiple=multiple, reason=SURPLUS
    )
    terms = redact_by_terms(table, limited, k=2, finest=TIME_DAY, attributes=multiple == 1)
    scrubbed = scrub(terms, table, no_names, taxonomy.words)
    common = without_rare_words(scrubbed, table, no_names, taxonomy.words, k=3)
    sets = table.set_of_form[table.form_of]
    costs = SetCosts.of(table.sets, measure_concepts(taxonomy, np.unique(table.sets.concepts)))
    clusters = clusters_of_labels(table, class_of, costs)
    return [
        uniform_groups(strict.class_of, table.users, sets, least=2).tolist(),
        [getattr(clusters, name).tolist() for name in ("labels", "suppressed", "centroids")],
        *(
            getattr(release, name).tolist()
            for release in (strict, limited, terms, scrubbed, common)
            for name in (*FIELDS, "precisions", "reasons")
        ),
    ]


@settings(max_examples=80)
@given(hard_logs(least=1, most=30), st.integers(1, 6), st.integers(1, 6), st.data())
def test_redaction_is_the_same_however_many_rows_are_seen_at_a_time(
    log: Log, forms: int, rows: int, data: st.DataObject
) -> None:
    classes = st.lists(st.integers(-1, 4), min_size=len(log[1]), max_size=len(log[1]))
    class_of = np.array(data.draw(classes), dtype=np.int64)
    multiple = data.draw(st.sampled_from([1, 2]))
    expected = redacted(log, class_of, multiple)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.records.FORMS_AT_A_TIME", forms)
        patched.setattr("tasks.core.columns.ROWS_AT_A_TIME", rows)
        patched.setattr("tasks.core.arrays.PART", rows)
        assert redacted(log, class_of, multiple) == expected
