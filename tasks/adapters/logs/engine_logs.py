"""Logs of search engines: Solr's requests, slow logs of Elasticsearch and OpenSearch, Algolia's.

A query is what somebody typed: of a query in a search engine's own language that is the text in its
full-text clauses. What holds no such text (everything, a filter, an update) is not a search.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final
from urllib.parse import parse_qsl

from tasks.adapters.logs.files import LogStream, numbered_lines
from tasks.adapters.logs.lines import line_fault
from tasks.adapters.logs.table import Table, choose, rows_of
from tasks.adapters.logs.values import NOT_A_SEARCH
from tasks.core.log_options import LogOptions

DSL_UNCLEAR: Final = "query in the search engine's language not understood"
_DECODER: Final = json.JSONDecoder(strict=False)

# Solr

_SOLR: Final = re.compile(
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.,]+Z?)?.*?\bpath=(?P<path>\S+) "
    r"params=\{(?P<params>.*)\}(?: (?:hits|status|QTime)=.*)?"
)
_LOCAL_PARAMS: Final = re.compile(r"\{!(?P<own>(?:[^}'\"]|'[^']*'|\"[^\"]*\")*)\}")
_REFERENCE: Final = re.compile(r"\bv=(?:\$(?P<name>\w+)|'(?P<text>[^']*)'|\"(?P<other>[^\"]*)\")")
_FIELD: Final = re.compile(r"(?<![\w\\])[+\-!]?[A-Za-z_][\w.]*:(?=\S)")
_ALL: Final = re.compile(r"\s*\(?\*(?::\*)?\)?\s*")


def open_solr(stream: LogStream, options: LogOptions) -> Table:
    """The log of a Solr node; every parameter of a request can be a column."""
    names = ("time", "path", "query", *_asked_for(options))
    chosen = choose(stream.name, names, options, shown=names[:3], usual={"query": "query"})
    user, query, time = chosen.columns.positions
    records = _solr_records(stream, names)
    return Table(chosen.columns, rows_of(records, itemgetter(user, query, time)))


def is_solr_line(line: str) -> bool:
    return "params={" in line and _SOLR.fullmatch(line) is not None


def _asked_for(options: LogOptions) -> list[str]:
    """Parameters that the user named as columns."""
    known = {"time", "path", "query"}
    return [name for name in dict.fromkeys(options.columns.values()) if name not in known]


def _solr_records(
    stream: LogStream, names: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...] | str]]:
    for number, line in numbered_lines(stream, stream.first_line):
        fault = line_fault(line)
        found = None if fault or "params={" not in line else _SOLR.fullmatch(line.rstrip("\r"))
        if found is None:
            yield number, NOT_A_SEARCH  # a node tells of many other things
        else:
            yield number, _solr_record(found, names)


def _solr_record(found: re.Match[str], names: tuple[str, ...]) -> tuple[str, ...] | str:
    given = dict(reversed(parse_qsl(found["params"], errors="surrogateescape")))
    # What one node asks another is part of a search that is in the log already.
    if given.get("isShard") == "true" or given.get("distrib") == "false":
        return NOT_A_SEARCH
    query = solr_text(given.get("q", ""), given)
    if not query:
        return NOT_A_SEARCH
    known = {**given, "time": found["time"] or "", "path": found["path"], "query": query}
    return *(known.get(name, "") for name in names), ""


def solr_text(query: str, given: dict[str, str]) -> str:
    """What was typed: without local parameters and names of fields; "" if that is everything."""
    local = _LOCAL_PARAMS.match(query)
    if local is not None:
        query = query[local.end() :]
        reference = _REFERENCE.search(local["own"])
        if reference is not None and not query.strip():
            named = given.get(reference["name"] or "", "")
            query = reference["text"] or reference["other"] or named
    if _ALL.fullmatch(query):
        return ""
    return _FIELD.sub("", query).strip() if ":" in query else query.strip()


# Elasticsearch and OpenSearch

_SLOW_NAMES: Final = ("time", "query", "x_opaque_id", "index")
_SOURCE: Final = "source["
_OPAQUE: Final = re.compile(r"\bid\[(?P<id>[^\]]*)\]")
_INDEX: Final = re.compile(r"\] *\[(?P<index>[^\]\[]+)\]\[[0-9]+\] *took\[")
_SOURCE_KEYS: Final = ("elasticsearch.slowlog.source", "source")
_FIELD_CLAUSES: Final = frozenset(
    {"match", "match_phrase", "match_phrase_prefix", "match_bool_prefix", "common"}
)
_TEXT_CLAUSES: Final = frozenset(
    {"multi_match", "query_string", "simple_query_string", "combined_fields"}
)
_TERM_CLAUSES: Final = frozenset({"term", "prefix", "wildcard", "fuzzy"})
_FILTERS: Final = frozenset({"filter", "must_not", "post_filter", "aggs", "aggregations"})


def open_slow_log(stream: LogStream, options: LogOptions) -> Table:
    """Slow logs as text; those in JSON are for those who read JSON."""
    usual = {"query": "query"}
    chosen = choose(stream.name, _SLOW_NAMES, options, shown=_SLOW_NAMES, usual=usual)
    user, query, time = chosen.columns.positions
    return Table(chosen.columns, rows_of(_slow_records(stream), itemgetter(user, query, time)))


def is_slow_line(line: str) -> bool:
    return "took[" in line and _SOURCE in line and line.startswith("[")


def _slow_records(stream: LogStream) -> Iterator[tuple[int, tuple[str, ...] | str]]:
    for number, line in numbered_lines(stream, stream.first_line):
        yield number, NOT_A_SEARCH if not is_slow_line(line) else _slow_record(line)


def _slow_record(line: str) -> tuple[str, ...] | str:
    start = line.index(_SOURCE) + len(_SOURCE)
    try:
        source, end = _DECODER.raw_decode(line, start)
    except (ValueError, RecursionError):
        return DSL_UNCLEAR
    query = text_in(source)
    if not query:
        return NOT_A_SEARCH
    time, opaque = line[1:].partition("]")[0], _OPAQUE.search(line, end)
    index = _INDEX.search(line)
    return time, query, opaque["id"] if opaque else "", index["index"] if index else "", ""


def is_slow_log(found: dict[str, Any]) -> bool:
    """Whether an object is an entry of a slow log."""
    kind = str(found.get("type", "")) + str(found.get("event.dataset", ""))
    return _SOURCE_KEYS[0] in found or ("source" in found and "slowlog" in kind)


def slow_search(found: dict[str, Any]) -> dict[str, Any] | str:
    """An entry with the text of its query."""
    source = next((found[key] for key in _SOURCE_KEYS if key in found), None)
    if isinstance(source, str):
        try:
            source = _DECODER.decode(source)
        except (ValueError, RecursionError):
            return DSL_UNCLEAR
    query = text_in(source)
    kept = {key: value for key, value in found.items() if key not in _SOURCE_KEYS}
    opaque = found.get("elasticsearch.slowlog.id", found.get("id", ""))
    return {**kept, "query": query, "x_opaque_id": opaque} if query else NOT_A_SEARCH


def text_in(source: object) -> str:
    """The text that a query in the DSL looks for, "" if it looks for none.

    Texts of full-text clauses, each once, in their order. Only where there is none, those of terms,
    which are mostly filters; what is said to be one is never taken.
    """
    texts = dict.fromkeys(text for is_term, text in _texts(source) if not is_term)
    terms = dict.fromkeys(text for is_term, text in _texts(source) if is_term)
    return " ".join(texts or terms)


def _texts(found: object, depth: int = 0) -> Iterator[tuple[bool, str]]:
    """Each text, and whether it is a term."""
    if isinstance(found, list):
        for each in found:
            yield from _texts(each, depth + 1)
    elif isinstance(found, dict) and depth < 100:
        for key, value in found.items():
            if key in _TEXT_CLAUSES and isinstance(value, dict):
                yield from ((False, text) for text in _typed(value.get("query")))
            elif key in _FIELD_CLAUSES or key in _TERM_CLAUSES:
                yield from ((key in _TERM_CLAUSES, text) for text in _of_fields(value))
            elif key not in _FILTERS:
                yield from _texts(value, depth + 1)


def _of_fields(clause: object) -> Iterator[str]:
    """{field: text}, or {field: {query: text}}, or {field: {value: text}}."""
    for value in clause.values() if isinstance(clause, dict) else ():
        if isinstance(value, dict):
            value = value.get("query", value.get("value"))
        yield from _typed(value)


def _typed(value: object) -> Iterator[str]:
    text = value.strip().strip("*").strip() if isinstance(value, str) else ""
    if text:
        yield text


# Algolia


def is_algolia(found: dict[str, Any]) -> bool:
    """Whether an object is an entry of Algolia's log of API calls."""
    return "query_body" in found and "answer_code" in found


def algolia_search(found: dict[str, Any]) -> dict[str, Any] | str:
    """A call with the text of its query, and the token it was sent with."""
    try:
        body = _DECODER.decode(found["query_body"]) if found.get("query_body") else {}
    except (ValueError, TypeError, RecursionError):
        return DSL_UNCLEAR
    requests = body.get("requests", [body]) if isinstance(body, dict) else []
    given = [_algolia_params(each) for each in requests if isinstance(each, dict)]
    query = next((own["query"] for own in given if own.get("query")), "")
    token = next((own["userToken"] for own in given if own.get("userToken")), "")
    kept = {key: value for key, value in found.items() if key != "query_body"}
    return {**kept, "query": query, "userToken": token} if query else NOT_A_SEARCH


def _algolia_params(request: dict[str, Any]) -> dict[str, str]:
    params = request.get("params")
    given = dict(parse_qsl(params)) if isinstance(params, str) else {}
    own = {key: value for key, value in request.items() if isinstance(value, str)}
    return {**given, **own}
