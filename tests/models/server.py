"""A fake OpenAI-compatible server in a thread of its own: what all fake servers share."""

import asyncio
import threading
import time

from aiohttp import web


class FakeServer:
    """Notes every request, and leaves the answer to `answer`.

    Attributes:
        url: The address up to the version.
        bodies, headers, times: Of each request, in order of arrival.
        most_at_once: The most requests that were open at the same time.
        open: Connections that are open now.
        open_requests: Requests that wait for their answers now.
    """

    def __init__(self, delay_s=0.0):
        self.delay_s = delay_s
        self.bodies, self.headers, self.times = [], [], []
        self.most_at_once = self._at_once = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake-server", daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def open(self):
        return len(self._runner.server.connections)

    @property
    def open_requests(self):
        return self._at_once

    async def answer(self, request, body):
        """The response to one request."""
        raise NotImplementedError

    def routes(self, app):
        """What is answered, at which paths."""
        for path in ("/v1/chat/completions", "/v1/completions"):
            app.router.add_post(path, self._handle)

    def _run(self):
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self):
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=2**26)
        self.routes(app)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await self._runner.cleanup()

    async def _handle(self, request):
        body = await request.json()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.bodies.append(body)
        self.times.append(time.monotonic())
        self.headers.append(dict(request.headers))
        try:
            await asyncio.sleep(self.delay_s)
            return await self.answer(request, body)
        finally:
            self._at_once -= 1


async def cut_off(request, data):
    """Announce more than is sent, and close the connection."""
    response = web.StreamResponse(headers={"Content-Length": str(len(data) + 5)})
    await response.prepare(request)
    await response.write(data)
    request.transport.close()
    return response
