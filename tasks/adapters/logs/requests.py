"""Access logs of web servers: which requests are searches, and what was asked.

A search is a request whose URL has a parameter that usually holds a query (`?q=…`, see
`QUERY_PARAMS`) and something in it. All other requests are counted as "not a search": they are
neither rows nor rejects. An address is not a person; it is a column, `ip`, for those who say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tasks.adapters.logs.files import LogStream, numbered_lines
from tasks.adapters.logs.lines import line_fault
from tasks.adapters.logs.table import Table, choose, rows_of
from tasks.adapters.logs.values import NOT_A_REQUEST, NOT_A_SEARCH
from tasks.core.log_options import LogOptions

QUERY_PARAMS: Final = (
    *("q", "query", "search", "search_query", "searchquery", "search_term", "searchterm"),
    *("searchterms", "search_terms", "keywords", "keyword", "kw", "terms", "term", "phrase"),
    *("lookfor", "wd", "text"),
)
"""Parameters that hold a query, the best first."""
SEARCH_PAGE_PARAMS: Final = ("s", "k", "p")
"""Such as do so on pages that are there to search; elsewhere `p` is a page, and `s` a size."""

_SEARCH_PAGE: Final = re.compile(r"search|find|suche|recherche|buscar|cerca|^/?$", re.IGNORECASE)
_NAMES: Final = ("ip", "auth", "time", "method", "path", "query", "status", "referer", "agent")
_LINE: Final = re.compile(
    r"(?P<ip>\S+) \S+ (?P<auth>\S+) \[(?P<time>[^\]]+)\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>[0-9]{3}|-) (?:[0-9]+|-)'
    r'(?: "(?P<referer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")?.*'
)
_REQUEST: Final = re.compile(r"([A-Z]+) (\S+)(?: HTTP/[0-9.]+)?")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))")
_URL_KEYS: Final = (
    *("request_uri", "uri", "url", "request_url", "original_url", "url.original", "request_path"),
    *("http.url", "cs_uri", "path"),
)
_ARGUMENT_KEYS: Final = ("args", "query_string", "querystring", "url.query", "cs_uri_query")
_SERVER_KEYS: Final = frozenset(
    {"status", "method", "request_method", "remote_addr", "remote_ip", "client_ip", "user_agent"}
    | {"http_user_agent", "verb", "bytes_sent", "body_bytes_sent", "response_code", "status_code"}
)


def open_access_log(stream: LogStream, options: LogOptions) -> Table:
    """Common and combined format; a log in JSON is for those who read JSON."""
    chosen = choose(stream.name, _NAMES, options, shown=_NAMES, usual={"query": "query"})
    records = _records(stream, options.query_param)
    user, query, time = chosen.columns.positions
    return Table(chosen.columns, rows_of(records, itemgetter(user, query, time)))


def is_access_line(line: str) -> bool:
    return _LINE.fullmatch(line) is not None


def _records(stream: LogStream, query_param: str) -> Iterator[tuple[int, tuple[str, ...] | str]]:
    for number, line in numbered_lines(stream, stream.first_line):
        fault = line_fault(line)
        yield number, fault or _record(line.removesuffix("\r"), query_param)


def _record(line: str, query_param: str) -> tuple[str, ...] | str:
    """The columns of a line, and an empty one for those that are not there."""
    found = _LINE.fullmatch(line)
    if found is None:
        return NOT_A_REQUEST
    request = _REQUEST.fullmatch(_unescaped(found["request"]))
    query = search_in(request[2], query_param) if request else ""
    if not request or not query:
        return NOT_A_SEARCH
    method, path = request[1], request[2].partition("?")[0]
    rest = (found["status"], found["referer"] or "", found["agent"] or "", "")
    return found["ip"], found["auth"], found["time"], method, path, query, *rest


def search_in(url: str, query_param: str = "") -> str:
    """What an URL searches for, "" if nothing."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return _search_of(parts.query, parts.path, query_param)


def _search_of(arguments: str, path: str, query_param: str) -> str:
    if "=" not in arguments:
        return ""
    try:
        pairs = parse_qsl(arguments, errors="surrogateescape", max_num_fields=1000)
    except ValueError:
        return ""
    given: dict[str, str] = {}
    for name, value in pairs:
        given.setdefault(name.lower(), value.strip())
    if query_param:
        return given.get(query_param.lower(), "")
    names = QUERY_PARAMS + (SEARCH_PAGE_PARAMS if _SEARCH_PAGE.search(path) else ())
    return next((given[name] for name in names if given.get(name)), "")


def _unescaped(text: str) -> str:
    r"""Apache and nginx write \xC3 for bytes that they do not trust, and \" for a quote."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], text)
    try:
        return raw.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # the log itself is UTF-8, and escapes some bytes all the same
        return raw


# Requests in JSON


def is_request(found: dict[str, Any]) -> bool:
    """Whether an object tells of a request to a web server."""
    has_url = bool(_url_in(found) or _arguments_in(found))
    names = {*found, *_inner(found)}
    return has_url and ("request" in names or bool(names & _SERVER_KEYS))


def search_request(found: dict[str, Any], query_param: str) -> dict[str, Any] | str:
    """The request with what was asked as `query`."""
    url, arguments = _url_in(found), _arguments_in(found)
    query = search_in(url, query_param) or _search_of(arguments, url or "/", query_param)
    if not query:
        return NOT_A_SEARCH
    return {**found, "query": query}


def _url_in(found: dict[str, Any]) -> str:
    line = found.get("request")
    if isinstance(line, str):
        request = _REQUEST.fullmatch(line)
        return request[2] if request else ""
    known = {**found, **_inner(found)}
    urls = (known.get(key) for key in _URL_KEYS)
    return next((url for url in urls if isinstance(url, str) and url), "")


def _arguments_in(found: dict[str, Any]) -> str:
    known = {**found, **_inner(found)}
    given = (known.get(key) for key in _ARGUMENT_KEYS)
    return next((text.lstrip("?") for text in given if isinstance(text, str) and text), "")


def _inner(found: dict[str, Any]) -> dict[str, Any]:
    """Fields of objects within, by their last name and by their path: Caddy's request.uri, ECS."""
    inner: dict[str, Any] = {}
    for key in ("request", "http", "url", "httpRequest"):
        value = found.get(key)
        if isinstance(value, dict):
            inner |= {f"{key}.{name}": each for name, each in value.items()}
            inner |= value
    return inner
