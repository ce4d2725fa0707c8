"""A server of the explorer for one reader, until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from setrl.show.lab.view.app import application
from setrl.show.lab.view.catalogue import Catalogue
from setrl.show.lab.view.logs import ONLY_STEP
from setrl.support.errors import ConfigError

USUAL_PORT = 8710
PATIENCE = 0.4  # seconds that an answer waits for an index, before it holds what is there
SILENCE = 15.0  # seconds in which a connection must ask something
TRIED = 20  # ports from the usual one on, if none is asked for


def serve(
    catalogue: Catalogue, host: str, port: int | None, show: bool, tell: Callable[[str], None]
) -> None:
    """Open the page, and answer until Ctrl-C.

    Args:
        catalogue: What is shown.
        host: The address that is listened on.
        port: The port; by default the first free one from 8710 on.
        show: Open the page in the browser.
        tell: Called with the address once it can be opened.

    Raises:
        ConfigError: If the folder holds nothing, or the address cannot be used.
    """
    refuse_empty(catalogue)
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    listening = bound(host, port)
    shown_host = f"[{host}]" if ":" in host else host
    address = f"http://{shown_host}:{listening.getsockname()[1]}/"
    address += f"?token={token}" if token else ""
    tell(address)
    if show:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    server = uvicorn.Server(
        _server_config(application(catalogue, token, lambda: server.should_exit, PATIENCE))
    )
    run(server, listening)


class Impatient(H11Protocol):
    """A connection that is closed if it asks nothing, or does not end its question."""

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(SILENCE, self._close_silent, None)

    def _close_silent(self, last: RequestResponseCycle | None) -> None:
        """Close the connection if no question has come after the last one, which is answered."""
        if self.transport.is_closing():
            return
        is_answered = self.cycle is None or self.cycle.response_complete
        if is_answered and self.cycle is last:
            self.transport.close()
        else:
            self.loop.call_later(SILENCE, self._close_silent, self.cycle)


def _server_config(app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=Impatient,
        log_config=None,  # a new one closes the handlers of other libraries, and absl's their files
        log_level="warning",
        access_log=False,  # the address holds the token
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=3,
    )


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Answer until Ctrl-C, which ends the server without an error."""
    try:
        asyncio.run(server.serve(sockets=[listening]))
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()


def refuse_empty(catalogue: Catalogue) -> None:
    """Refuse a folder in which there is nothing to see.

    Raises:
        ConfigError: Naming it, and what it could hold.
        DataError: If it is a file that holds no samples.
    """
    root: Path = catalogue.root
    if not root.exists():
        raise ConfigError(f"{root}: no such folder")
    contents = catalogue.look()
    if root.is_file():  # it was meant to be samples: what is wrong with it is said at once
        for entry in contents.entries.values():
            for index in entry.logs.values():
                next(index.log.first_groups(ONLY_STEP), None)
    if not contents.entries:
        why = f" ({contents.notes[0]})" if contents.notes else ""
        raise ConfigError(
            f"{root} holds no run of setrl, no completions of TRL, no log of verl, "
            f"tinker-cookbook, lm-eval, lighteval or Inspect, and no evaluation file{why}"
        )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens on a port, or on the first free one.

    Raises:
        ConfigError: If the port is in use, or the address is not one of this machine.
    """
    if port is not None and not 0 <= port < 65_536:
        raise ConfigError(f"--port must be from 0 to 65535, got {port}")
    ports = [port] if port is not None else range(USUAL_PORT, USUAL_PORT + TRIED)
    for candidate in ports:
        try:
            return _listening_socket(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                why = error.strerror or str(error)
                raise ConfigError(f"cannot listen on {host}:{candidate}: {why}") from None
    if port is None:
        raise ConfigError(f"the ports {USUAL_PORT} to {USUAL_PORT + TRIED - 1} are in use: "
                          "choose another with --port")  # fmt: skip
    raise ConfigError(f"port {port} is in use: choose another with --port, or 0 for any free one")


def _listening_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(128)
    except OSError:
        opened.close()
        raise
    return opened
