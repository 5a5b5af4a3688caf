"""JSON of all kinds: an object per line, arrays, objects that hold one, nested fields.

A field is named by its path (`request.q`). A list of keys and values, as GA4 writes its
`event_params`, is as good as an object: `event_params.search_term`. Logs of web servers and search
engines in JSON are known by their keys, and read by those who know such logs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, Final

import ijson

from tasks.adapters.logs.columns import KNOWN_NAMES
from tasks.adapters.logs.engine_logs import algolia_search, is_algolia, is_slow_log, slow_search
from tasks.adapters.logs.files import LogStream, attempt, encoding_throughout, open_log
from tasks.adapters.logs.files import numbered_lines as lines_of
from tasks.adapters.logs.lines import line_fault
from tasks.adapters.logs.requests import is_request, search_request
from tasks.adapters.logs.table import Table, choose, rows_of
from tasks.adapters.logs.values import NOT_A_SEARCH, NOT_AN_OBJECT, Cells
from tasks.core.counted import plain_name
from tasks.core.log_options import LogOptions

Object = dict[str, Any]
Objects = Iterator[tuple[int, Object | str]]
"""Number of a line or an element, and the object or the reason why there is none."""
Dialect = Callable[[Object], Object | str]
"""What an object says in this kind of log, or why it says nothing."""

_DECODER: Final = json.JSONDecoder(strict=False)
_DEPTH: Final = 8
_NESTED: Final = frozenset({dict, list})
_SAMPLE: Final = 20
_WRAPPERS: Final = frozenset(
    {"data", "rows", "results", "records", "items", "hits", "hits.hits", "searches", "logs"}
    | {"events", "entries", "queries", "value"}
)
"""What the array is called in an object that is there to hold it."""
_EVENTS: Final = 1000
_GA4_QUERY: Final = "event_params.search_term"
_PAIR_VALUES: Final = ("string_value", "int_value", "float_value", "double_value")


def open_jsonl(stream: LogStream, options: LogOptions) -> Table:
    return _open_objects(stream, options, _objects_of_lines)


def open_json(stream: LogStream, options: LogOptions) -> Table:
    if stream.encoding == "utf-8" and options.encoding == "auto":
        stream.recode(encoding_throughout(stream.name))
    return _open_objects(stream, options, partial(_elements, _place(stream)))


def decode_json(line: str) -> object:
    """The value in a line of JSON, None if it is not JSON."""
    text = line.strip()
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) else None


def is_wrapper(found: object) -> bool:
    """Whether an object is there to hold an array of others."""
    if not isinstance(found, dict):
        return False
    held = [found, *(inner for inner in found.values() if isinstance(inner, dict))]
    arrays = [own.get(name.rpartition(".")[2]) for own in held for name in _WRAPPERS]
    return any(isinstance(array, list) and array for array in arrays)


def _open_objects(
    stream: LogStream, options: LogOptions, objects_of: Callable[[LogStream], Objects]
) -> Table:
    """Read twice, because a key may turn up late: user ids must not be missed for that."""
    with open_log(stream.name, options.encoding) as first:
        first.recode(stream.encoding)
        found = objects_of(first)
        sample = list(islice(found, _SAMPLE))
        dialect = _dialect_of([each for _, each in sample if isinstance(each, dict)], options)
        layouts = _layouts(each for _, each in _said(chain(sample, found), dialect))
    objects = _said(objects_of(stream), dialect)
    if not layouts:
        return Table(None, rows_of(objects, lambda found: ("", "", "")))
    names = tuple(dict.fromkeys(chain.from_iterable(layouts)))
    usual = _usual_columns(names)
    chosen = choose(stream.name, names, options, shown=_usual_names(layouts), usual=usual)
    places = [names[place] if place >= 0 else None for place in chosen.columns.positions]
    count = None if chosen.count is None else partial(value_at, path=names[chosen.count])
    if usual.get("query") == _GA4_QUERY and names[chosen.columns.query] == _GA4_QUERY:
        objects = _searches(objects)
    return Table(chosen.columns, rows_of(objects, _cells_at(places), count))


# Objects


def _objects_of_lines(stream: LogStream) -> Objects:
    """Every line as an object, or the reason why it is none."""
    for number, line in lines_of(stream, stream.first_line):
        fault = line_fault(line)
        found = None if fault else decode_json(line)
        yield number, found if isinstance(found, dict) else fault or NOT_AN_OBJECT


def _elements(place: str, stream: LogStream) -> Objects:
    """Every element of an array, without the rest of it in memory."""
    several = place == ""
    elements = ijson.items(stream, place, use_float=True, multiple_values=several)
    number, end = 0, object()
    while True:
        complaint = (
            f"cannot read {stream.name} as JSON behind element {number}: it is cut off or damaged; "
            "fetch it again, or, if each line is an object of its own, say --format jsonl"
        )
        found = attempt(lambda: next(elements, end), complaint)
        if found is end:
            return
        number += 1
        yield number, found if isinstance(found, dict) else NOT_AN_OBJECT


def _place(stream: LogStream) -> str:
    """Where the elements are, as ijson says it: in an array, in that of an object, side by side.

    Of a file that is no JSON at all nothing is said here: whoever reads it will.
    """
    with open_log(stream.name, stream.encoding) as other:
        events = islice(ijson.parse(other, multiple_values=True), _EVENTS)
        try:
            for path, event, _ in events:
                if event == "start_array" and path in {"", *_WRAPPERS}:
                    return f"{path}.item" if path else "item"
        except Exception:  # raised anew by whoever reads the elements
            pass
    return ""


# Fields


def value_at(found: Object, path: str) -> object:
    """The value of a field, None if there is none."""
    if path in found:
        return _plain_value(found[path])
    value: object = found
    for part in path.split("."):
        if isinstance(value, list):
            value = _pairs(value)
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return _plain_value(value)


def paths_of(found: Object, before: str = "", depth: int = 0) -> Iterator[str]:
    """Names of all fields of an object."""
    for key, value in found.items():
        inner = _pairs(value) if isinstance(value, list) else value
        if isinstance(inner, dict) and inner and depth < _DEPTH:
            yield from paths_of(inner, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}"


def _pairs(found: list[Any]) -> Object | None:
    """A list of {key: …, value: …} as an object."""
    if not all(isinstance(each, dict) and isinstance(each.get("key"), str) for each in found):
        return None
    return {each["key"]: _pair_value(each.get("value")) for each in found}


def _pair_value(value: object) -> object:
    if not isinstance(value, dict):
        return value
    typed = (value.get(name) for name in _PAIR_VALUES)
    return next((each for each in typed if each is not None), None)


def _plain_value(value: object) -> object:
    """A list of one value is that value."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _cells_at(paths: list[str | None]) -> Callable[[Object], Cells]:
    user, query, time = paths
    if all(path is None or "." not in path for path in paths):
        return lambda found: (found.get(user), found.get(query), found.get(time))  # type: ignore
    return lambda found: (
        user and value_at(found, user),
        query and value_at(found, query),
        time and value_at(found, time),
    )


def _layouts(objects: Iterable[Object | str]) -> Counter[tuple[str, ...]]:
    """How many objects of a file have which fields."""
    return Counter(_layout(found) for found in objects if not isinstance(found, str))


def _layout(found: Object) -> tuple[str, ...]:
    is_flat = _NESTED.isdisjoint(map(type, found.values()))
    return tuple(found if is_flat else paths_of(found))


def _usual_names(layouts: Counter[tuple[str, ...]]) -> list[str]:
    """Fields of at least half of the objects; a rarer one may be data, and is never shown."""
    counts: Counter[str] = Counter()
    for keys, objects in layouts.items():
        counts.update(dict.fromkeys(keys, objects))
    return [key for key, objects in counts.items() if 2 * objects >= layouts.total()]


# Kinds of logs


def _usual_columns(names: tuple[str, ...]) -> dict[str, str]:
    """Columns that are known only by what stands beside them."""
    if "event_name" in names and _GA4_QUERY in names:
        usual = {"query": _GA4_QUERY, "time": "event_timestamp"}
        return {role: name for role, name in usual.items() if name in names}
    return {}


def _searches(objects: Objects) -> Objects:
    """Of GA4's events those that are searches."""
    for number, found in objects:
        is_event = not isinstance(found, str) and value_at(found, _GA4_QUERY) is None
        yield number, NOT_A_SEARCH if is_event else found


def _dialect_of(sample: list[Object], options: LogOptions) -> Dialect:
    objects = [found.get("_source", found) for found in sample]
    objects = [found for found in objects if isinstance(found, dict)]
    if options.format == "slowlog" or _most(objects, is_slow_log):
        return slow_search
    if _most(objects, is_algolia):
        return algolia_search
    wanted = options.format == "access" or options.query_param
    if wanted or ("query" not in options.columns and _most(objects, _is_access_log)):
        return partial(search_request, query_param=options.query_param)
    # Where there is nothing to unwrap, rows take one step less.
    return _as_it_stands if objects == sample else lambda found: found


def _as_it_stands(found: Object) -> Object:
    return found


def _is_access_log(found: Object) -> bool:
    """Whether an object is a request, and nothing in it is called a query."""
    names = {plain_name(path) for path in paths_of(found)}
    # A query string is what stands behind the ? of an URL.
    return is_request(found) and not names & ({*KNOWN_NAMES["query"]} - {"querystring"})


def _most(objects: list[Object], test: Callable[[Object], bool]) -> bool:
    return 2 * sum(map(test, objects)) > len(objects)


def _said(objects: Objects, dialect: Dialect) -> Objects:
    """What each object says; search engines put it into `_source` when they are asked for it."""
    if dialect is _as_it_stands:
        yield from objects
        return
    for number, found in objects:
        if isinstance(found, str):
            yield number, found
        else:
            inner = found.get("_source")
            yield number, dialect(inner if isinstance(inner, dict) else found)
