"""An OpenAI-compatible server of samples, which misbehaves in a given order."""

from collections import Counter

from aiohttp import web

from tests.models.server import FakeServer, cut_off


class SampleServer(FakeServer):
    """Answers "<first line of the prompt> #<seed of the choice>".

    `mischief` lists what is done to the requests, in turn.

    A mischief is a status ("429", "500", "400", "404"), "drop" (close without an answer), "cut"
    (close in the middle of the body), "prose", "empty" (no choices), "fewer" (one choice),
    "greedy" (one text), or "ok"; after the last one all is well. With `forever` the list starts
    again.
    """

    def __init__(self, mischief=(), forever=False, retry_after=None, delay=0.0, end="stop"):
        super().__init__(delay)
        self.mischief, self.forever = list(mischief), forever
        self.retry_after, self.end = retry_after, end
        self.given = Counter()  # (prompt, seed) → how often the sample was sent whole

    def _next(self):
        number = len(self.bodies) - 1
        if self.forever and self.mischief:
            return self.mischief[number % len(self.mischief)]
        return self.mischief[number] if number < len(self.mischief) else "ok"

    async def answer(self, request, body):
        what = self._next()
        if what.isdigit():
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return web.Response(status=int(what), text=f"no: {what}", headers=headers)
        if what == "drop":
            request.transport.close()
            return web.Response()
        if what == "cut":
            return await cut_off(request, b'{"choices": [{"text": "half a ')
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
        texts = [f"#{0 if what == 'greedy' else seed} {first_line}" for seed in seeds]
        return {
            "choices": [
                {
                    "finish_reason": self.end,
                    **({"message": {"content": t}} if chat else {"text": t}),
                }
                for t in texts
            ]
        }


class ReasoningServer(SampleServer):
    """A server that takes the whole text for thoughts, in the requests that are chosen."""

    def is_reasoning(self, _body):
        return True

    def _choices(self, request, body, what):
        found = super()._choices(request, body, what)
        for choice in found["choices"] if self.is_reasoning(body) else ():
            text = choice["message"]["content"]
            choice["message"] = {"content": None, "reasoning_content": text}
        return found
