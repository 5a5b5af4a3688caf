"""What each class of records publishes: all that is true of every one of them.

A level is told if all queries of a class have it. Of each item the finest such level is told; what
lies above it then adds nothing. So a concept stands in a row only where all people of the row hold
it or something below it: nobody's own word stands for others. The same goes for time: the finest
span that all records of the class lie in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import (
    Ragged,
    distinct,
    group_by,
    joined_ragged,
    parts_of,
    people_per_label,
    ragged_from_keys,
    ragged_keys,
    take_ragged,
)
from tasks.core.members import members_of
from tasks.core.records import (
    NO_TIME,
    TIME_NONE,
    Flags,
    Floats,
    Ints,
    Longs,
    Narrow,
    RecordTable,
    Release,
    cut_times,
    too_few_unless_published,
)
from tasks.core.rows.levels import ItemLevels, LevelsOf

RECORDS_AT_A_TIME = 1 << 18
"""What grows with the items of queries is in memory for the classes of so many records together."""
_NOTHING_TOLD: Ragged = (np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
DECIMALS = 9
"""Places are compared after rounding, so that ties go to the lower term."""


class Told(NamedTuple):
    """What is told of the items of each query of each class, side by side.

    Attributes:
        classes: class of each entry, ascending.
        queries: which pair of class and form it is of.
        items: the item, in the levels.
        nodes: the level that is told of it.
        bits: what that level tells.
    """

    classes: Longs
    queries: Longs
    items: Longs
    nodes: Longs
    bits: Floats


def release_of(
    table: RecordTable,
    class_of: Narrow,
    levels: LevelsOf,
    *,
    k: int,
    precision: int,
    senses: bool,
) -> Release:
    """The release of these classes, some after others.

    Args:
        class_of: class 0, 1, … of each record, or -1, a column.
        levels: of the table's forms, with fillers.
        precision: of the finest time that may be told.
        senses: whether an attribute that is told as typed is told as its concept, too.
    """
    members = members_of(class_of, int(class_of.max(initial=-1)) + 1)
    earliest, latest = np.full(len(members), np.iinfo(np.int64).max), np.full(len(members), NO_TIME)
    terms, concepts = [_NOTHING_TOLD], [_NOTHING_TOLD]
    for own, records, labels in members.parts(RECORDS_AT_A_TIME):
        count = own.stop - own.start
        said, meant = _told_by_records(table, records, labels, count, levels, k=k, senses=senses)
        terms.append(said)
        concepts.append(meant)
        np.minimum.at(earliest[own], labels, table.times[records])
        np.maximum.at(latest[own], labels, table.times[records])
    del members
    term_offsets, all_terms = joined_ragged(terms)
    concept_offsets, all_concepts = joined_ragged(concepts)
    times, precisions = _times(earliest, latest, precision)
    classes = class_of.astype(np.int32, copy=False)
    return Release(
        class_of=classes,
        term_offsets=term_offsets,
        terms=all_terms,
        concept_offsets=concept_offsets,
        concepts=all_concepts,
        times=times,
        precisions=precisions,
        clusters=cluster_numbers((concept_offsets, all_concepts)),
        reasons=too_few_unless_published(classes),
    )


def _told_by_records(
    table: RecordTable,
    records: Ints,
    labels: Longs,
    count: int,
    levels: LevelsOf,
    *,
    k: int,
    senses: bool,
) -> tuple[Ragged, Ragged]:
    """Terms and concepts of so many classes, given the class of some records."""
    known, form_of = np.unique(table.form_of[records], return_inverse=True)
    own = levels.of(known.astype(np.int64))
    first, query_of = group_by(labels, form_of)
    told = told_of(labels[first], form_of[first], own, count)
    names = _names(table, told, own, records, query_of, k=k)
    return (
        _ordered(told, names, own, query_of, count),
        concepts_told(told, own, count, senses=senses),
    )


def told_of(classes: Longs, forms: Longs, levels: ItemLevels, count: int) -> Told:
    """The finest level of each item that all queries of its class have.

    If a query has it only above what is told more finely of it, it is not told: *flu* and
    *respiratory disease* would say two things of whoever asked for *flu* alone.

    Args:
        classes, forms: the different pairs of class and form, ascending by class.
    """
    offsets, items = take_ragged(levels.item_offsets, forms)
    item_query = np.repeat(np.arange(len(forms)), np.diff(offsets))
    level_offsets, places = take_ragged(levels.level_offsets, items)
    entry = np.repeat(np.arange(len(items)), np.diff(level_offsets))
    query, nodes = item_query[entry], levels.nodes[places]
    sizes = np.bincount(classes, minlength=count)
    found = np.flatnonzero(_held_by_all(classes[query], query, nodes, sizes))
    # Levels of an item stand finest first.
    finest = found[np.diff(entry[found], prepend=-1) > 0]
    query, nodes, own = query[finest], nodes[finest], entry[finest]
    said = _held_by_all(classes[query], query, nodes, sizes)
    query, nodes, own = query[said], nodes[said], items[own[said]]
    return Told(classes[query], query, own, nodes, levels.bits[places[finest[said]]])


def _held_by_all(classes: Longs, queries: Longs, nodes: Longs, sizes: Longs) -> Flags:
    """Whether all queries of its class hold each node."""
    width = int(nodes.max(initial=0)) + 1
    held = distinct(queries * width + nodes)
    _, first = np.unique(queries, return_index=True)
    class_of_query = np.zeros(int(queries.max(initial=-1)) + 1, dtype=np.int64)
    class_of_query[queries[first]] = classes[first]
    keys = class_of_query[held // width] * width + held % width
    order = np.sort(keys)
    own = classes * width + nodes
    counts = np.searchsorted(order, own, side="right") - np.searchsorted(order, own)
    return np.asarray(counts == sizes[classes])


def _names(
    table: RecordTable, told: Told, levels: ItemLevels, records: Ints, query_of: Longs, *, k: int
) -> Longs:
    """The term that says each entry: a word, or a concept as -1 - concept.

    A concept is called by the word that most people of the class typed for it, if k of them did.
    A word for something below it does not count: *flu* is no name of what people who asked for
    *flu* and for *cold* have in common.
    """
    terms = np.where(told.nodes < levels.words, told.nodes, levels.words - told.nodes - 1)
    general = np.flatnonzero(told.nodes >= levels.words)
    first, concept_of = group_by(told.classes[general], told.nodes[general])
    meant = levels.item_concepts[told.items[general]] == told.nodes[general] - levels.words
    own, own_concept_of = general[meant], concept_of[meant]
    words = levels.item_words[told.items[own]]
    word_first, word_of = group_by(own_concept_of, words)
    typed_by = _people(table, told.queries[own], word_of, records, query_of, len(word_first))
    own_concept, own_word = own_concept_of[word_first], words[word_first]
    best = np.lexsort((own_word, -typed_by, own_concept))
    best = best[np.diff(own_concept[best], prepend=-1) > 0]
    best = best[typed_by[best] >= k]
    name = terms[general[first]]
    name[own_concept[best]] = own_word[best]
    terms[general] = name[concept_of]
    return terms


def _people(
    table: RecordTable,
    queries: Longs,
    groups: Longs,
    records: Ints,
    query_of: Longs,
    count: int,
) -> Longs:
    """People behind each group of queries."""
    by_query = np.argsort(query_of, kind="stable")
    bounds = np.searchsorted(query_of[by_query], np.arange(int(query_of.max(initial=-1)) + 2))
    offsets, places = take_ragged(bounds, queries)
    users = table.users[records[by_query[places]]]
    return people_per_label(np.repeat(groups, np.diff(offsets)), users, count)


def concepts_told(told: Told, levels: ItemLevels, count: int, *, senses: bool) -> Ragged:
    """The concepts of each class, ascending."""
    general = told.nodes >= levels.words
    keys = [ragged_keys(told.classes[general], told.nodes[general] - levels.words)]
    if senses:
        keys.append(_agreed_senses(told, levels, np.flatnonzero(~general)))
    return ragged_from_keys(distinct(np.concatenate(keys)), count)


def _agreed_senses(told: Told, levels: ItemLevels, typed: Longs) -> Longs:
    """The concepts of words told as typed where all queries of a class mean the same by them.

    A concept that is too vague is no level of its item, and is not told here either.
    """
    items = told.items[typed]
    concepts = np.where(_tells_its_sense(levels, items), levels.item_concepts[items], -1)
    _, word_of = group_by(told.classes[typed], told.nodes[typed])
    lowest = np.full(len(typed), np.iinfo(np.int32).max, dtype=np.int32)
    highest = np.full(len(typed), -1, dtype=np.int32)
    np.minimum.at(lowest, word_of, concepts)
    np.maximum.at(highest, word_of, concepts)
    agreed = (lowest == highest)[word_of] & (concepts >= 0)
    return ragged_keys(told.classes[typed[agreed]], concepts[agreed])


def _tells_its_sense(levels: ItemLevels, items: Longs) -> Flags:
    """Whether the concept of each item is one of its levels."""
    # A concept that is no level of anybody's may lie above all nodes.
    own = levels.words + int(levels.item_concepts.max(initial=-1))
    width = max(own, int(levels.nodes.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(levels.item_words)), np.diff(levels.level_offsets))
    senses = items * width + levels.words + levels.item_concepts[items]
    return np.isin(senses, owner * width + levels.nodes)


def _ordered(told: Told, terms: Longs, levels: ItemLevels, query_of: Longs, count: int) -> Ragged:
    """The terms of each class in the mean order in which its records say them."""
    weights = np.bincount(query_of)[told.queries] if len(told.queries) else told.queries
    first, term_of = group_by(told.classes, terms)
    totals = np.bincount(term_of, weights * levels.item_places[told.items], minlength=len(first))
    means: Floats = totals / np.maximum(np.bincount(term_of, weights, minlength=len(first)), 1)
    classes, own = told.classes[first], terms[first]
    order = np.lexsort((own, np.round(means, DECIMALS), classes))
    return ragged_from_keys(ragged_keys(classes[order], own[order]), count)


def _times(earliest: Longs, latest: Longs, finest: int) -> tuple[Longs, Ints]:
    """The finest span that the first and the last time of each class lie in, and how fine it is."""
    count = len(latest)
    told, precisions = np.full(count, NO_TIME), np.full(count, TIME_NONE, dtype=np.int32)
    timed = np.flatnonzero((earliest != NO_TIME) & (latest != NO_TIME))
    for precision in range(TIME_NONE + 1, finest + 1):
        start, end = (cut_times(own[timed], precision) for own in (earliest, latest))
        same = timed[start == end]
        told[same], precisions[same] = start[start == end], precision
    return told, precisions


def cluster_numbers(concepts: Ragged, published: Sequence[Ints] = ()) -> Ints:
    """A number for each different set of concepts, in order; -1 for none.

    Args:
        published: sets that have a number already: their place here.
    """
    numbers = {own.tobytes(): number for number, own in reversed(list(enumerate(published)))}
    numbers[b""] = -1
    offsets, values = concepts
    following, found = count(len(published)), np.empty(len(offsets) - 1, dtype=np.int32)
    for rows in parts_of(len(found)):
        bounds = offsets[rows.start : rows.stop + 1].tolist()
        for row, (start, end) in enumerate(pairwise(bounds), rows.start):
            own = values[start:end].tobytes()
            if own not in numbers:
                numbers[own] = next(following)
            found[row] = numbers[own]
    return found


def in_edition(release: Release, published: Sequence[Ints]) -> Release:
    """The release in the cluster numbers of an edition: sets published before keep theirs.

    Args:
        published: the concepts of the edition's clusters, by number.
    """
    concepts = release.concept_offsets, release.concepts
    return replace(release, clusters=cluster_numbers(concepts, published))
