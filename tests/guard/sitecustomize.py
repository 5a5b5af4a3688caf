"""Loaded by Python at start-up from PYTHONPATH: notes and forbids every way to the outside.

Any address but loopback is refused, and written to the file named by LOGVEIL_NETWORK_NOTES, so
that an attempt is noticed even where its error is swallowed, in this process or a child's.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any

LOCAL_NAMES = {None, "", "localhost", "0.0.0.0", "::"}


def _is_local(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if host in LOCAL_NAMES or host == socket.gethostname():
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def _check(host: Any) -> None:
    if not _is_local(host):
        with open(os.environ["LOGVEIL_NETWORK_NOTES"], "a", encoding="utf-8") as notes:
            notes.write(f"{os.getpid()}: {host}\n")
        raise OSError(f"no network in this test: {host}")


_connect, _connect_ex = socket.socket.connect, socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo


def _guarded_connect(self: socket.socket, address: Any) -> None:
    if isinstance(address, tuple):
        _check(address[0])
    _connect(self, address)


def _guarded_connect_ex(self: socket.socket, address: Any) -> int:
    if isinstance(address, tuple):
        _check(address[0])
    return _connect_ex(self, address)


def _guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    _check(host)
    return _getaddrinfo(host, *args, **kwargs)


if "LOGVEIL_NETWORK_NOTES" in os.environ:
    socket.socket.connect = _guarded_connect  # type: ignore[method-assign,assignment]
    socket.socket.connect_ex = _guarded_connect_ex  # type: ignore[method-assign,assignment]
    socket.getaddrinfo = _guarded_getaddrinfo
