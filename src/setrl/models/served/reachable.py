"""Check in seconds whether anything answers at an address, before many requests wait for it."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from setrl.models.served.endpoint import check_address
from setrl.support.errors import RunError
from setrl.support.secrets import without_secrets

TIMEOUT_S = 2.0  # for each of a name's addresses, usually one or two
PORTS = {"http": 80, "https": 443}


def refuse_unreachable(url: str) -> None:
    """Open one connection to a server and close it again, and raise an error if that fails.

    A server behind a proxy is not checked, since the proxy would answer for it.

    Raises:
        ConfigError: If it is no address.
        RunError: If there is no connection, with the reason.
    """
    check_address(url)
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return
    try:
        socket.create_connection((host, parts.port or PORTS[parts.scheme]), TIMEOUT_S).close()
    except OSError as error:
        raise RunError(
            f"{without_secrets(url)} cannot be reached ({error.strerror or error}): start the "
            "server, or correct the address, and run the same command again"
        ) from None
