"""`python -m deployments.server`: Prefect's server, for the pages and programs of this machine.

Prefect asks for the credential, but answers any Host and lets pages of any origin try. A page from
elsewhere that a browser of this machine shows would reach it on loopback: by its own name (then
Origin says so) or under a name that it has bent to 127.0.0.1 (then Host does). Both are refused
before Prefect sees them, with or without a credential.

Beside Prefect's pages it shows the reports of what the deployments have published, to which the
runs' artifacts link. They are public, and may do nothing in a browser but be read.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import uvicorn
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import FileResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from deployments.config import HOST, HOSTS, ROOT, Config, read_config
from deployments.deployed import read_deployments
from tasks.errors import UsageError

CLOSED: Final = ("/docs", "/redoc", "/openapi.json")
"""Prefect's pages about its API: open to all, and run a stranger's script beside the page that
keeps the credential. With it, /api/docs says the same."""
LEAST_LOG_LEVEL: Final = logging.INFO
"""Below it uvicorn tells what comes over a websocket, and the credential does."""
EVENT_ORDER: Final = timedelta(seconds=10)
"""So long an event waits for the one before it. A run that was scheduled has no first one, and for
15 minutes, Prefect's own time, nobody would be told that it failed."""
PASSIVE: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""What a report may do in a browser: be read."""


class Reports:
    """Answers for reports in some folders; drafts are in hidden ones."""

    def __init__(self, app: ASGIApp, folders: Sequence[Path]) -> None:
        self._app = app
        self._folders = [folder.resolve() for folder in folders]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._app
        if scope["type"] == "http" and scope["path"].startswith("/reports/"):
            path = Path(scope["path"].removeprefix("/reports")).resolve()
            if self._is_published(path):
                answer = FileResponse(path, headers={"Content-Security-Policy": PASSIVE})
            else:
                answer = PlainTextResponse("not here", status_code=404)
        await answer(scope, receive, send)

    def _is_published(self, path: Path) -> bool:
        homes = [folder for folder in self._folders if path.is_relative_to(folder)]
        hidden = any(
            part.startswith(".") for home in homes for part in path.relative_to(home).parts
        )
        return bool(homes) and not hidden and path.name == "report.html" and path.is_file()


class OwnPagesOnly:
    """Refuses what a page of another origin sends, and closes pages."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._app
        if scope["type"] in ("http", "websocket"):
            if not set(Headers(scope=scope).getlist("origin")) <= set(self._origins):
                answer = PlainTextResponse("this page may not ask here", status_code=403)
            elif any(scope["path"] == page or _is_below(scope, page) for page in CLOSED):
                answer = PlainTextResponse("not here", status_code=404)
        await answer(scope, receive, send)


def _is_below(scope: Scope, page: str) -> bool:
    return bool(scope["path"].startswith(f"{page}/"))


def guarded(app: ASGIApp, config: Config) -> ASGIApp:
    """The same for requests to loopback, and from its own pages or no page at all."""
    return TrustedHostMiddleware(OwnPagesOnly(app, config.origins), HOSTS, www_redirect=False)


def published_in(config: Config) -> list[Path]:
    """The folders in which the deployments publish; none if their file was broken since `up`."""
    try:
        deployed = read_deployments(config.deployments).values()
        return [ROOT / each.settings.out for each in deployed]
    except UsageError:
        return []


def listen(port: int) -> socket.socket:
    """Take the port at once: whoever had it while Prefect is imported would be told the
    credential by the worker."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((HOST, port))
    return listening


def main() -> None:
    config = read_config()
    listening = listen(int(config.settings["LOGVEIL_PORT"]))
    # It takes seconds.
    from prefect.server.api.server import create_app
    from prefect.server.events.ordering import memory
    from prefect.settings import get_current_settings

    memory.PRECEDING_EVENT_LOOKBACK = EVENT_ORDER  # type: ignore[attr-defined]
    told = get_current_settings().server
    level = max(LEAST_LOG_LEVEL, logging.getLevelNamesMapping()[told.logging_level])
    serving = uvicorn.Config(
        guarded(Reports(create_app(final=True), published_in(config)), config),
        log_level=level,
        timeout_keep_alive=told.api.keepalive_timeout,
        ws_ping_interval=told.api.websocket_ping_interval,
        ws_ping_timeout=told.api.websocket_ping_timeout,
    )
    uvicorn.Server(serving).run(sockets=[listening])


if __name__ == "__main__":
    main()
