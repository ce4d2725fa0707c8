"""Who may read the pages: the browser of this machine, or whoever has the token.

A page of another site can make a browser call this server, also by a name of its own that it points
at this machine (DNS rebinding). The Host header then holds that name, and is refused.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
COOKIE = "setrl_view"

# Charts set styles on their own elements, so styles inside the page are allowed; scripts are not.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Passes on requests that may be answered, and puts headers on every answer.

    Args:
        app: The application.
        token: What a request must know; None where only this machine can reach the server.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refusal = self._why_refused(scope)
        answer = self.app if refusal is None else PlainTextResponse(refusal, 403)
        is_new = refusal is None and self.token is not None and self._has_token_in_query(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if is_new:
                    cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                    headers.append("set-cookie", cookie)
            await send(message)

        await answer(scope, receive, send_with_headers)

    def _why_refused(self, scope: Scope) -> str | None:
        """Why a request is refused; None if it may be answered."""
        headers = Headers(scope=scope)
        if self.token is None:
            name = headers.get("host", "").rpartition(":")
            host = name[0] if name[0] and name[2].isdigit() else headers.get("host", "")
            if host.lower() not in LOOPBACK:
                return "This server answers to localhost alone."
            return None
        if self._has_token_in_query(scope) or self._is_token(
            _token_of_cookie(headers.get("cookie", ""))
        ):
            return None
        return "Open the address that `setrl view` printed: it holds a token."

    def _has_token_in_query(self, scope: Scope) -> bool:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        return any(self._is_token(value) for value in query.get("token", []))

    def _is_token(self, value: str) -> bool:
        token = self.token or ""
        return bool(token) and secrets.compare_digest(value.encode(), token.encode())


def _token_of_cookie(header: str) -> str:
    try:
        cookie = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""
