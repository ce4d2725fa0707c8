"""An OpenAI-compatible server in a thread, which misbehaves as it is told."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import contextmanager

from aiohttp import web


class SampleServer:
    """Answers "<first line of the prompt> #<seed of the choice>".

    `mischief` lists what is done to the requests, in turn.

    A mischief is a status ("429", "500", "400", "404"), "drop" (close without an answer), "cut"
    (close in the middle of the body), "prose", "empty" (no choices), "fewer" (one choice),
    "greedy" (one text), or "ok"; after the last one all is well. With `forever` the list starts
    anew.
    """

    def __init__(self, mischief=(), forever=False, retry_after=None, delay=0.0):
        self.mischief, self.forever = list(mischief), forever
        self.retry_after, self.delay = retry_after, delay
        self.requests, self.keys = [], []
        self.given = Counter()  # (prompt, seed) → how often the sample was sent whole
        self.at_once = self.most_at_once = 0

    def _next(self):
        number = len(self.requests) - 1
        if self.forever and self.mischief:
            return self.mischief[number % len(self.mischief)]
        return self.mischief[number] if number < len(self.mischief) else "ok"

    async def _answer(self, request):
        body = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization"))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.delay)
            return await self._misbehave(request, body, self._next())
        finally:
            self.at_once -= 1

    async def _misbehave(self, request, body, what):
        if what.isdigit():
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return web.Response(status=int(what), text=f"no: {what}", headers=headers)
        if what == "drop":
            request.transport.close()
            return web.Response()
        if what == "cut":
            response = web.StreamResponse(headers={"Content-Length": "100000"})
            await response.prepare(request)
            await response.write(b'{"choices": [{"text": "half a ')
            request.transport.close()
            return response
        if what == "prose":
            return web.Response(text="I am sorry, I cannot do that.")
        return web.json_response(self._choices(request, body, what))

    def _choices(self, request, body, what):
        chat = request.path.endswith("/chat/completions")
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        count = {"empty": 0, "fewer": 1}.get(what, body["n"])
        seeds = [body["seed"] + i for i in range(count)]
        self.given.update((prompt, seed) for seed in seeds)
        first_line = prompt.partition("\n")[0]
        texts = [f"{first_line} #{0 if what == 'greedy' else seed}" for seed in seeds]
        return {
            "choices": [
                {"finish_reason": "stop", **({"message": {"content": t}} if chat else {"text": t})}
                for t in texts
            ]
        }


@contextmanager
def serving(*arguments, **options):
    """A running server; `url` is its base address."""
    server, loop, ready = SampleServer(*arguments, **options), asyncio.new_event_loop(), []
    started = threading.Event()

    async def start():
        app = web.Application()
        app.router.add_post("/v1/completions", server._answer)
        app.router.add_post("/v1/chat/completions", server._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ready.append((runner, site._server.sockets[0].getsockname()[1]))
        started.set()

    def run():
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(ready[0][0].cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(10)
    server.url = f"http://127.0.0.1:{ready[0][1]}/v1"
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
