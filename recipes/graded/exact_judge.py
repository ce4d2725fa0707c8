"""A judge server that cannot be wrong: it reads the two levels of strategies of `polynomial`.

    python recipes/graded/exact_judge.py --port 8123 --tokenizer FOLDER/tokenizer.json

It takes the requests of `setrl.judges.LMJudge` and counts their tokens with a tokenizer of yours,
so that the second level of a judge can be trained with and its price measured without a model.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Hashable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from far_points import family  # it stands beside this file
from tokenizers import Tokenizer

from setrl.judges.replies import FAMILIES, STRATEGIES
from setrl.tasks.domains.polynomial import POINT

SAMPLE = re.compile(r"^<(sample \d+ \w+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def reply_to(request: str) -> str:
    """Return the answer to a request: two lists if it asks for families, else one."""
    points = [POINT.fullmatch(text) for _, text in SAMPLE.findall(request)]
    strategies = [found and f"x={found[1]}" for found in points]
    answer = {STRATEGIES: numbered(strategies)}
    if f'"{FAMILIES}"' in request:
        answer[FAMILIES] = numbered([name and family(name) for name in strategies])
    return json.dumps(answer, separators=(",", ":"))


def numbered(names: Sequence[Hashable | None]) -> list[int]:
    """Count names from 1 by first appearance; 0 is None.

    >>> numbered(["b", None, "a", "b"])
    [1, 0, 2, 1]
    """
    known: dict[Hashable | None, int] = {None: 0}
    return [known.setdefault(name, len(known)) for name in names]


class Handler(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions."""

    protocol_version = "HTTP/1.1"
    tokenizer: Tokenizer

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = reply_to(body["messages"][-1]["content"])
        prompt = "".join(message["content"] for message in body["messages"])
        choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        usage = {"prompt_tokens": self.size(prompt), "completion_tokens": self.size(reply)}
        self.send({"choices": [{"index": 0, **choice}], "usage": usage})

    def do_GET(self) -> None:
        """Say that the server is there."""
        self.send({"object": "list", "data": [{"id": "exact", "object": "model"}]})

    def size(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self.tokenizer.encode(text).ids)

    def send(self, answer: dict[str, Any]) -> None:
        """Send an answer as JSON."""
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Write no line for each request."""


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--tokenizer", required=True, help="a file tokenizer.json")
    options = parser.parse_args()
    Handler.tokenizer = Tokenizer.from_file(options.tokenizer)
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
