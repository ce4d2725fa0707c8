"""A proxy between client and server that loses replies: the server has done what it was asked."""

from collections import Counter

import aiohttp
from aiohttp import web

from tests.models.server import FakeServer

PER_CONNECTION = {"transfer-encoding", "connection", "content-length", "keep-alive"}


class Proxy(FakeServer):
    """Passes requests on and their replies back, but for some.

    Attributes:
        losses: (last part of a path, which of its requests) → "cut", the connection is closed
            without a reply, as the client package's own attempts find it; or "gone", a gateway
            answers 404 in its place, after which the client package does not ask again.
        lost: Those that were lost.
        counts: Requests by the last part of their paths.
    """

    def __init__(self, upstream):
        super().__init__()
        self.upstream, self.losses, self.lost, self.counts = upstream, {}, [], Counter()

    @property
    def address(self):
        return self.url.removesuffix("/v1")

    def lose(self, losses):
        """Lose these replies from now on."""
        self.losses, self.lost, self.counts = losses, [], Counter()

    def routes(self, app):
        app.router.add_route("*", "/{path:.*}", self._pass_on)

    async def _pass_on(self, request):
        name = request.path.rsplit("/", 1)[-1]
        self.counts[name] += 1
        place = name, self.counts[name]
        kind = self.losses.get(place)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in PER_CONNECTION}
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method,
                f"{self.upstream}{request.path_qs}",
                headers=headers,
                data=await request.read(),
                timeout=aiohttp.ClientTimeout(total=None),
            ) as reply,
        ):
            content = await reply.read()
            kept = {k: v for k, v in reply.headers.items() if k.lower() not in PER_CONNECTION}
        if kind is not None:
            self.lost.append(place)
        if kind == "cut":
            request.transport.close()
        if kind == "gone":
            return web.json_response({"detail": "lost by the proxy"}, status=404)
        return web.Response(status=reply.status, body=content, headers=kept)
