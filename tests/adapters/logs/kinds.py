"""The same rows in every kind of log that is read, as the programs that write them would."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import openpyxl

from tests.adapters.logs.logwriters import PACKERS, Row, as_aol, as_jsonl, as_parquet, as_tsv

Writer = Callable[[Iterable[Row]], bytes]


@dataclass(frozen=True)
class Kind:
    """A kind of log.

    Attributes:
        columns: what the user has to say of its columns.
        cannot: characters that a query in such a log cannot have, or that mean something else.
    """

    file: str
    write: Writer
    columns: dict[str, str] = field(default_factory=dict)
    cannot: str = ""
    encoding: str = "utf-8"


def delimited(delimiter: str, encoding: str = "utf-8", mark: bytes = b"", **style: Any) -> Writer:
    def write(rows: Iterable[Row]) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, **style)
        writer.writerows([("user", "query", "time"), *rows])
        return mark + text.getvalue().encode(encoding)

    return write


def moment_of(time: str) -> datetime | None:
    return datetime.fromisoformat(time).replace(tzinfo=UTC) if time else None


def json_lines(objects: Iterable[Any]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects).encode()


def as_nested(rows: Iterable[Row]) -> bytes:
    return json_lines(
        {"who": {"key": user}, "request": {"q": query, "lang": "en"}, "at": {"t": time}}
        for user, query, time in rows
    )


def as_array(rows: Iterable[Row]) -> bytes:
    objects = [dict(zip(("user", "query", "time"), row, strict=True)) for row in rows]
    return json.dumps(objects, indent=2, ensure_ascii=False).encode()


def as_wrapped(rows: Iterable[Row]) -> bytes:
    """As Elasticsearch answers."""
    hits = [
        {"_id": str(n), "_source": {"user_query": query, "client_id": user, "timestamp": time}}
        for n, (user, query, time) in enumerate(rows)
    ]
    return json.dumps({"took": 3, "hits": {"total": len(hits), "hits": hits}}).encode()


def as_ga4(rows: Iterable[Row]) -> bytes:
    def event(name: str, user: str, time: str, key: str, text: str) -> dict[str, Any]:
        moment = moment_of(time)
        values = {"string_value": text, "int_value": None, "double_value": None}
        return {
            "event_name": name,
            "event_date": time[:10].replace("-", ""),
            "event_timestamp": str(int(moment.timestamp() * 10**6)) if moment else None,
            "user_pseudo_id": "1.2",
            "user_id": user,
            "event_params": [
                {"key": "ga_session_id", "value": {"int_value": "7"}},
                {"key": key, "value": values},
            ],
        }

    events = []
    for user, query, time in rows:
        events.append(event("view_search_results", user, time, "search_term", query))
        events.append(event("page_view", user, time, "page_title", "Home"))
    return json_lines(events)


def as_ubi(rows: Iterable[Row]) -> bytes:
    return json_lines(
        {"query_id": str(n), "user_query": query, "client_id": user, "timestamp": time}
        for n, (user, query, time) in enumerate(rows)
    )


def as_algolia(rows: Iterable[Row]) -> bytes:
    """The log of API calls: a search, and a call that is none."""
    entries = []
    for user, query, time in rows:
        params = urlencode({"query": query, "userToken": user, "hitsPerPage": "20"})
        body = json.dumps({"requests": [{"indexName": "shop", "params": params}]})
        call = {"timestamp": time, "method": "POST", "answer_code": "200", "ip": "1.2.3.4"}
        entries.append({**call, "query_body": body, "url": "/1/indexes/*/queries"})
        entries.append({**call, "query_body": "", "url": "/1/keys"})
    return json.dumps({"logs": entries}).encode()


def request_of(query: str) -> str:
    return f"/search?{urlencode({'page': '1', 'q': query})}"


def as_access(rows: Iterable[Row], combined: bool = True) -> bytes:
    more = ' "https://example.com/" "Mozilla/5.0 (X11)"' if combined else ""
    lines = []
    for user, query, time in rows:
        moment = moment_of(time)
        at = moment.strftime("%d/%b/%Y:%H:%M:%S +0000") if moment else ""
        for url in (request_of(query), "/style.css?v=3", "/?page=2"):
            lines.append(f'10.0.0.1 - {user} [{at}] "GET {url} HTTP/1.1" 200 512{more}\n')
    return "".join(lines).encode()


def as_nginx_json(rows: Iterable[Row]) -> bytes:
    return json_lines(
        {
            "time_iso8601": time.replace(" ", "T") + "+00:00" if time else "",
            "remote_addr": "10.0.0.1",
            "remote_user": user,
            "request": f"GET {url} HTTP/1.1",
            "status": 200,
        }
        for user, query, time in rows
        for url in (request_of(query), "/logo.png")
    )


def as_caddy(rows: Iterable[Row]) -> bytes:
    entries = []
    for user, query, time in rows:
        moment = moment_of(time)
        for uri in (request_of(query), "/about"):
            request = {"remote_ip": "10.0.0.1", "method": "GET", "uri": uri}
            entries.append(
                {
                    "ts": moment.timestamp() + 0.25 if moment else None,
                    "request": request,
                    "login": user,
                    "status": 200,
                }
            )
    return json_lines(entries)


def as_solr(rows: Iterable[Row]) -> bytes:
    lines = ["2006-03-01 00:00:00.000 INFO  (main) [   ] o.e.j.s.Server jetty started\n"]
    for user, query, time in rows:
        given = {"q": query, "wt": "json", "visitor": user}
        for params in (
            urlencode(given),
            urlencode({**given, "distrib": "false", "isShard": "true"}),
            urlencode({"q": "*:*", "visitor": user}),
        ):
            at = f"{time}.123" if time else ""
            lines.append(
                f"{at} INFO  (qtp1-22) [c:shop s:shard1 r:core_node2 x:shop_1] o.a.s.c.S.Request "
                f"[shop_1]  webapp=/solr path=/select params={{{params}}} hits=3 status=0 QTime=5\n"
            )
    return "".join(lines).encode()


def dsl(query: str) -> str:
    must = [{"multi_match": {"query": query, "fields": ["title^2", "body"]}}]
    must.append({"match": {"title": {"query": query, "operator": "OR"}}})  # type: ignore[dict-item]
    own = {"must": must, "filter": [{"term": {"shop": {"value": "example"}}}]}
    return json.dumps({"size": 10, "query": {"bool": own}}, ensure_ascii=False)


ALL = '{"query":{"match_all":{}}}'


def as_slow_log(rows: Iterable[Row]) -> bytes:
    lines = []
    for user, query, time in rows:
        at = time.replace(" ", "T") + ",786"
        for source in (dsl(query), ALL):
            lines.append(
                f"[{at}][WARN ][i.s.s.query              ] [node-0] [shop][0] took[1.2ms], "
                "took_millis[1], total_hits[3 hits], types[], stats[], "
                f"search_type[QUERY_THEN_FETCH], total_shards[1], source[{source}], id[{user}], \n"
            )
    return "".join(lines).encode()


def as_slow_json(rows: Iterable[Row]) -> bytes:
    return json_lines(
        {
            "type": "index_search_slowlog",
            "timestamp": time.replace(" ", "T") + ",786+00:00" if time else "",
            "level": "WARN",
            "component": "i.s.s.query",
            "message": "[shop][0]",
            "took_millis": "1",
            "source": source,
            "id": user,
        }
        for user, query, time in rows
        for source in (dsl(query), ALL)
    )


def as_slow_ecs(rows: Iterable[Row]) -> bytes:
    return json_lines(
        {
            "@timestamp": time.replace(" ", "T") + ".786Z" if time else "",
            "event.dataset": "elasticsearch.index_search_slowlog",
            "elasticsearch.slowlog.id": user,
            "elasticsearch.slowlog.source": dsl(query),
        }
        for user, query, time in rows
    )


def as_workbook(rows: Iterable[Row], sheets: int = 1) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number in range(sheets):
        sheet = book.create_sheet(f"Log {number + 1}")
        sheet.append(["user", "query", "time"])
        for place, (user, query, time) in enumerate(rows, start=2):
            moment = moment_of(time)
            sheet.cell(place, 1, int(user) if user.isascii() and user.isdigit() else user)
            sheet.cell(place, 2).value = query
            sheet.cell(place, 2).data_type = "s"  # a text even if it looks like a formula
            sheet.cell(place, 3, moment.replace(tzinfo=None) if moment else None)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def zipped(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, own in files.items():
            archive.writestr(name, own)
    return content.getvalue()


def with_dates(form: str) -> Writer:
    def write(rows: Iterable[Row]) -> bytes:
        dated = []
        for user, query, time in rows:
            moment = moment_of(time)
            dated.append((user, query, moment.strftime(form) if moment else ""))
        return delimited(";")(dated)

    return write


def with_numbers(parts: int) -> Writer:
    def write(rows: Iterable[Row]) -> bytes:
        numbered = []
        for user, query, time in rows:
            moment = moment_of(time)
            numbered.append((user, query, str(int(moment.timestamp()) * parts) if moment else ""))
        return delimited(",")(numbered)

    return write


LINES = "\t\n\r"
"""What a query cannot hold where nothing is quoted; the standard library's CSV and AOL."""

LIKE_UTF8 = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
"""Signs that after some letters of cp1252 make what UTF-8 would write for another letter."""

KINDS: dict[str, Kind] = {
    "aol": Kind("log.txt", as_aol, cannot=LINES),
    "aol, header of 3": Kind(
        "log.txt", lambda rows: as_aol(rows, "AnonID\tQuery\tQueryTime\n", ""), cannot=LINES
    ),
    "aol, header of 4": Kind(
        "log.txt",
        lambda rows: as_aol(rows, "AnonID\tQuery\tQueryTime\tItemRank\n", "\t1"),
        cannot=LINES,
    ),
    "tsv": Kind("log.tsv", as_tsv, cannot=LINES),
    "csv": Kind("log.csv", delimited(",")),
    "csv with ;": Kind("log.csv", delimited(";")),
    "csv with |": Kind("log.csv", delimited("|")),
    "csv with tabs": Kind("log.txt", delimited("\t", quoting=csv.QUOTE_ALL)),
    "csv with a mark": Kind("log.csv", delimited(",", mark=b"\xef\xbb\xbf")),
    "csv in utf-16": Kind("log.csv", delimited("\t", "utf-16", quoting=csv.QUOTE_ALL)),
    "csv in utf-16-le": Kind("log.csv", delimited(",", "utf-16-le")),
    "csv in utf-16-be": Kind("log.csv", delimited(";", "utf-16-be")),
    "csv in cp1252": Kind("log.csv", delimited(";", "cp1252"), {}, LIKE_UTF8, "cp1252"),
    "csv, day first": Kind("log.csv", with_dates("%d/%m/%Y %H:%M:%S")),
    "csv, month first": Kind("log.csv", with_dates("%m/%d/%Y %I:%M:%S %p")),
    "csv, milliseconds": Kind("log.csv", with_numbers(1000)),
    "csv, microseconds": Kind("log.csv", with_numbers(10**6)),
    "jsonl": Kind("log.jsonl", as_jsonl),
    "jsonl, nested": Kind(
        "log.jsonl", as_nested, {"user": "who.key", "query": "request.q", "time": "at.t"}
    ),
    "json": Kind("log.json", as_array),
    "json of a search engine": Kind("log.json", as_wrapped, {"user": "client_id"}),
    "ga4": Kind("log.json", as_ga4, {"user": "user_id"}),
    "ubi": Kind("log.jsonl", as_ubi, {"user": "client_id"}),
    "algolia": Kind("log.json", as_algolia, {"user": "userToken"}),
    "access, common": Kind("access.log", lambda rows: as_access(rows, False), {"user": "auth"}),
    "access, combined": Kind("access.log", as_access, {"user": "auth"}),
    "access, json": Kind("access.log", as_nginx_json, {"user": "remote_user"}),
    "access, nested json": Kind("access.log", as_caddy, {"user": "login"}),
    "solr": Kind("solr.log", as_solr, {"user": "visitor"}, cannot=":{}*\\"),
    "slow log": Kind("slow.log", as_slow_log, {"user": "x_opaque_id"}, cannot="*"),
    "slow log in json": Kind("slow.json", as_slow_json, {"user": "x_opaque_id"}, cannot="*"),
    "slow log of ecs": Kind("slow.json", as_slow_ecs, {"user": "x_opaque_id"}, cannot="*"),
    "parquet": Kind("log.parquet", as_parquet),
    "xlsx": Kind("log.xlsx", as_workbook, cannot="\r"),
    "zip": Kind("log.zip", lambda rows: zipped(**{"log.csv": delimited(",")(rows)})),
    "gzip": Kind("log.csv.gz", lambda rows: PACKERS[".gz"](delimited(",")(rows))),
    "zstd": Kind("log.json.zst", lambda rows: PACKERS[".zst"](as_array(rows))),
}

QUERIES = [
    *("flu shot", "hiv test", "cheap hotels", "lung cancer", "new york", "credit card debt"),
    *("pregnancy test", "lawyer", "depression", "diabetes diet", "catholic church", "arthritis"),
]


def plain_log() -> list[Row]:
    """Sixty queries of twelve people, every query by five of them, at times that fit no doubt."""
    return [
        (
            str(100 + (number * 5 + place) % 12),
            query,
            f"2006-03-{13 + (number + place) % 15:02} {8 + place:02}:{number:02}:07",
        )
        for number, query in enumerate(QUERIES)
        for place in range(5)
    ]
