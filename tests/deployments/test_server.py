"""Whom the server lets in before Prefect is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.responses import PlainTextResponse

from deployments.config import Config
from deployments.server import Reports, guarded

OWN = "http://127.0.0.1:4200"


Ask = Callable[..., httpx.Response]


@pytest.fixture
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Sends a request to the server, in whose place an application says "in" to everything."""
    config = Config(tmp_path_factory.mktemp("state"), {"LOGVEIL_PORT": "4200"})
    transport = httpx.ASGITransport(guarded(PlainTextResponse("in"), config))

    def asked(path: str, *headers: tuple[str, str]) -> httpx.Response:
        return anyio.run(_asked, transport, path, headers)

    return asked


async def _asked(
    transport: httpx.ASGITransport, path: str, headers: Sequence[tuple[str, str]]
) -> httpx.Response:
    async with httpx.AsyncClient(transport=transport, base_url=OWN) as client:
        return await client.post(path, headers=list(headers))


@pytest.mark.parametrize("host", ["127.0.0.1:4200", "127.0.0.1", "localhost:4200", "LOCALHOST"])
@pytest.mark.parametrize("origin", [None, OWN, "http://localhost:4200"])
def test_its_own(ask: Ask, host: str, origin: str | None) -> None:
    headers = [("Host", host), *([("Origin", origin)] if origin else [])]
    assert ask("/api/flow_runs/filter", *headers).text == "in"


@pytest.mark.parametrize("host", ["evil.example", "", "127.0.0.2", "127.0.0.1@evil.example", "["])
def test_a_foreign_host(ask: Ask, host: str) -> None:
    assert ask("/", ("Host", host)).status_code == 400


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", f"{OWN}0", "https://127.0.0.1:4200"]
)
def test_a_foreign_origin(ask: Ask, origin: str) -> None:
    assert ask("/", ("Origin", origin)).status_code == 403
    assert ask("/", ("Origin", OWN), ("Origin", origin)).status_code == 403


@pytest.mark.parametrize("path", ["/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json"])
def test_pages_that_are_closed(ask: Ask, path: str) -> None:
    assert ask(path).status_code == 404
    assert ask(f"/api{path}").text == "in"


def test_reports_are_shown_and_nothing_else(tmp_path: Path) -> None:
    out, other = tmp_path / "published", tmp_path / "store"
    for path in (out / "edition-0001/release-0001", out / "edition-0001/.logveil-7", other):
        path.mkdir(parents=True)
        (path / "report.html").write_text("<p>the report")
    (out / "measures.json").write_text("{}")
    (out / "edition-0001" / "link").symlink_to(other)
    transport = httpx.ASGITransport(Reports(PlainTextResponse("prefect"), [out]))

    def asked(path: Path | str) -> httpx.Response:
        return anyio.run(_asked, transport, f"/reports{path}", ())

    shown = asked(out / "edition-0001/release-0001/report.html")
    assert (shown.status_code, shown.text) == (200, "<p>the report")
    assert "sandbox" in shown.headers["Content-Security-Policy"]
    for hidden in (
        out / "edition-0001/.logveil-7/report.html",
        out / "edition-0001/link/report.html",
        f"{out}/../store/report.html",
        f"{out}/%2e%2e/store/report.html",
        other / "report.html",
        out / "measures.json",
        out / "report.html",
    ):
        assert asked(hidden).status_code == 404, hidden
    assert anyio.run(_asked, transport, "/runs", ()).text == "prefect"
