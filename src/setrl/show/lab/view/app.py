"""The application: each address is a question about what a folder holds, its answer is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.resources import files as package_files
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from setrl.evaluate.looks import CONTROL_OVER_STEPS, EXPLORED_OVER_STEPS, OVER_STEPS, looks
from setrl.logs.run import Seed
from setrl.show.lab.view import metrics
from setrl.show.lab.view.catalogue import Catalogue, Entry, Found
from setrl.show.lab.view.elsewhere import Other, base_of, other_of, same_problem
from setrl.show.lab.view.group_page import group_page
from setrl.show.lab.view.guard import Guard
from setrl.show.lab.view.index import FileIndex, LogIndex, Search
from setrl.show.lab.view.table import ROWS_SHOWN, PageTable
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, explain

REPORT = "report.html"
OF_BOTH = {key: title for key, (title, _) in OVER_STEPS.items()}
TITLES = CONTROL_OVER_STEPS | EXPLORED_OVER_STEPS | OF_BOTH

BUNDLE = {"view.js": "text/javascript", "view.css": "text/css"}
TEXT_PART = 200_000  # letters of a sample that one answer holds
SOON = 0.05  # seconds that a click waits for the groups before and after a group
RAW_SHOWN, RAW_ITEMS = 2_000, 100  # letters of a field of a log, and items of a list in it

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>setrl view</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/view.css">
</head>
<body>
<div id="page"><noscript>This page needs JavaScript.</noscript></div>
<script src="/static/view.js"></script>
</body>
</html>
"""

Answer = Callable[[Request], dict[str, Any]]


class Questions:
    """What can be asked of a folder.

    Args:
        catalogue: The folder.
        patience: Seconds that an answer waits for an index; None waits until it is finished.
    """

    def __init__(self, catalogue: Catalogue, patience: float | None = None) -> None:
        self.catalogue = catalogue
        self.patience = patience
        self._contents: Found | None = None
        self._search: Search | None = None

    def runs(self, request: Request) -> dict[str, Any]:
        """Everything that the folder holds, looked for again."""
        contents = self._contents = self.catalogue.look()
        return {
            "folder": self.catalogue.root.name or str(self.catalogue.root),
            "runs": [_describe_entry(entry) for entry in contents.entries.values()],
            "notes": list(contents.notes),
        }

    def groups(self, request: Request) -> dict[str, Any]:
        """Return a table of the groups of a step, or of all steps, sorted and filtered."""
        query = request.query_params
        index, step = self._index_of_log(request), query.get("step", "all")
        groups, progress = index.of_all(self.patience) if step == "all" else (
            index.of_step(_read_whole_number(step)), None)  # fmt: skip
        beside = self._compared_log(request)
        compared = None if beside is None else beside.index.of_all(self.patience)[0]
        text = query.get("text", "")
        searched, hits = self._search_samples(request, index, groups, text)
        table = PageTable.of(groups, compared)
        chosen = table.chosen(query.get("show") or "all", text, hits)
        chosen = table.ordered(chosen, query.get("sort", "step"), query.get("desc") == "1")
        start = max(0, _read_whole_number(query.get("from", "0")))
        return {
            "total": len(groups.rows),
            "chosen": len(chosen),
            "from": start,
            "rows": [table.row(number) for number in chosen[start : start + ROWS_SHOWN]],
            "by_task": table.by_task(),
            "progress": None if progress is None else asdict(progress),
            "searched": searched,
            "beside": None if beside is None else beside.key,
            "notes": index.notes(),
            "error": index.error,
            "by_step": index.log.by_step,
        }

    def group(self, request: Request) -> dict[str, Any]:
        """One group: its samples and why each got its credit."""
        step, place = (
            _read_whole_number(request.query_params["step"]),
            _read_whole_number(request.query_params["place"]),
        )
        size = request.query_params.get("set_size")
        index = self._index_of_log(request)
        group = index.log.group(step, place)
        rows = index.of_step(step, self.patience and SOON).rows["place"]
        number = int(np.searchsorted(rows, place)) if index.log.by_step else place
        k, method = (
            None if size is None else _read_whole_number(size),
            request.query_params.get("method"),
        )
        return {
            **group_page(group, k, method, index.log.origin(step, place)),
            "place": place,
            "number": number,
            "before": int(rows[number - 1]) if 0 < number <= len(rows) else None,
            "after": int(rows[number + 1]) if number + 1 < len(rows) else None,
            "by_step": index.log.by_step,
        }

    def text(self, request: Request) -> dict[str, Any]:
        """Return a part of a long sample."""
        start = max(0, _read_whole_number(request.query_params.get("from", "0")))
        index, step, place, sample = self._read_sample_place(request)
        text = index.log.group(step, place).texts[sample]
        return {"text": text[start : start + TEXT_PART], "from": start, "length": len(text)}

    def raw(self, request: Request) -> dict[str, Any]:
        """Return a sample as the log has it."""
        index, step, place, sample = self._read_sample_place(request)
        return {"fields": _shorten_texts(index.log.raw(step, place, sample))}

    def elsewhere(self, request: Request) -> dict[str, Any]:
        """Return where the same problem was sampled: other arms, seeds, steps and runs."""
        index, step, place, _ = self._read_sample_place(request)
        group = index.log.group(step, place)
        here = (index, step, place)
        split, patience = request.query_params.get("split", ""), self.patience and SOON
        return same_problem(self.known(), split, group, here, patience)

    def _read_sample_place(self, request: Request) -> tuple[LogIndex, int, int, int]:
        query = request.query_params
        step, place, sample = (
            _read_whole_number(query.get(name, "0")) for name in ("step", "place", "sample")
        )
        return self._index_of_log(request), step, place, max(0, sample)

    def _compared_log(self, request: Request) -> Other | None:
        """Return what a table is compared with: what the request names, else the base."""
        key = request.query_params.get("beside")
        if key == "none":
            return None
        if key:
            return other_of(self.known(), key)
        return base_of(self.entry(request), request.query_params.get("split", ""),
                       request.query_params["arm"])  # fmt: skip

    def _search_samples(
        self, request: Request, index: LogIndex, groups: FileIndex, text: str
    ) -> tuple[float | None, set[tuple[int, int]]]:
        """Return the share of groups whose samples are searched, and where the text occurs."""
        if not text or request.query_params.get("deep") != "1":
            return None, set()
        if self._search is None or not self._search.is_for(index, groups, text):
            self._search = Search(index, groups, text)
        return self._search.wait(self.patience), self._search.hits

    def entry(self, request: Request) -> Entry:
        """Return the run that a request names."""
        return self.known().entries[request.query_params["run"]]

    def seed(self, request: Request) -> Seed:
        """Return the training run that a request names."""
        query = request.query_params
        arm = self.entry(request).run.arms[query["arm"]]
        return arm.seeds[_read_whole_number(query.get("seed", "0"))]

    def _index_of_log(self, request: Request) -> LogIndex:
        query = request.query_params
        logs = self.entry(request).logs
        log = query.get("split", ""), query["arm"], _read_whole_number(query.get("seed", "0"))
        if log not in logs and not log[0] and self.seed(request):
            raise DataError("this training run has logged no groups")
        return logs[log]

    def known(self) -> Found:
        """Return what the folder held when it was last looked at."""
        if self._contents is None:
            self._contents = self.catalogue.look()
        return self._contents


def application(
    catalogue: Catalogue,
    token: str | None = None,
    is_ending: Callable[[], bool] = lambda: False,
    patience: float | None = None,
) -> Guard:
    """Return the explorer of a folder, for any ASGI server.

    Args:
        catalogue: The folder.
        token: What a reader must know, where others can reach the server.
        is_ending: Whether the server wants to end; streams then end, too.
        patience: Seconds that an answer waits for an index; None waits until it is finished.
    """
    ask = Questions(catalogue, patience)
    names = ("runs", "groups", "group", "text", "raw", "elsewhere")
    answers: dict[str, Answer] = {name: getattr(ask, name) for name in names}
    routes = [
        Route("/", _serve_page),
        Route("/static/{name}", _serve_static),
        Route("/report", _serve_report(ask)),
    ]
    routes += [Route(f"/api/{name}", _answer_as_json(answer)) for name, answer in answers.items()]
    routes += [Route("/api/metrics", _stream_metrics(ask, is_ending))]
    return Guard(Starlette(routes=routes), token)


def _serve_page(request: Request) -> Response:
    return HTMLResponse(PAGE)


def _serve_report(ask: Questions) -> Callable[[Request], Response]:
    """Return what shows the report of a run, as `setrl report` wrote it."""

    def show(request: Request) -> Response:
        entry = ask.known().entries.get(request.query_params.get("run", ""))
        path = None if entry is None else entry.run.path / REPORT
        if path is None or not path.is_file():
            return _problem_response(404, "there is no such report")
        return HTMLResponse(path.read_text(encoding="utf-8"))

    return show


def _serve_static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in BUNDLE:
        return _problem_response(404, "there is no such file")
    content = package_files("setrl.show.lab").joinpath("bundle", name).read_bytes()
    return Response(content, media_type=BUNDLE[name])


def _answer_as_json(answer: Answer) -> Callable[[Request], Response]:
    """Return what answers a question, or says in a sentence what is wrong with it."""

    def respond(request: Request) -> Response:
        try:
            return _json_response(200, answer(request))
        except LookupError:
            return _problem_response(404, "there is no such run, step, group or split (any more)")
        except ConfigError as error:
            return _problem_response(400, explain(error))
        except (DataError, OSError) as error:
            return _problem_response(422, explain(error))
        except RecursionError:
            return _problem_response(422, "this is nested too deeply to be shown")

    return respond


def _shorten_texts(value: Any) -> Any:
    """Return a value of a log whose long texts are cut."""
    if isinstance(value, dict):
        return {str(key): _shorten_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorten_texts(item) for item in value[:RAW_ITEMS]]
    return (
        value if not isinstance(value, str) or len(value) <= RAW_SHOWN else f"{value[:RAW_SHOWN]} …"
    )


def _stream_metrics(ask: Questions, is_ending: Callable[[], bool]) -> Callable[[Request], Any]:
    async def respond(request: Request) -> Response:
        try:
            path = (await run_in_threadpool(ask.seed, request)).metrics_file
            cursor = _read_whole_number(request.headers.get("last-event-id", "0"))
        except (LookupError, ConfigError):
            return _problem_response(404, "there is no such training run")
        if not path.exists():
            return _problem_response(422, "this log holds no metrics")
        follow = request.query_params.get("follow", "1") == "1"

        async def is_gone() -> bool:
            return is_ending() or await request.is_disconnected()

        events = metrics.events(path, cursor, follow, is_gone)
        return StreamingResponse(events, media_type="text/event-stream")

    return respond


def _json_response(status: int, content: dict[str, Any]) -> Response:
    """JSON in ASCII: samples may hold what UTF-8 cannot, such as half of a surrogate pair."""
    return Response(json.dumps(files.plain_json(content)), status, media_type="application/json")


def _problem_response(status: int, sentence: str) -> Response:
    return _json_response(status, {"error": sentence})


def _read_whole_number(text: str) -> int:
    """Return a whole number of the query.

    Raises:
        ConfigError: If it is not a whole number.
    """
    if not re.fullmatch(r"-?[0-9]{1,14}", text):
        raise ConfigError(f"a whole number was expected, got {text[:40]!r}")
    return int(text)


def _describe_entry(entry: Entry) -> dict[str, Any]:
    run = entry.run
    about = {key: run.record.get(key) for key in ("status", "created", "error", "command")}
    return {
        "id": entry.id,
        "name": run.name,
        "where": entry.where,
        "kind": run.kind,
        **about,
        "has_report": (run.path / REPORT).is_file(),
        "titles": TITLES,
        "arms": _describe_arms(entry, {key: entry.logs.get(("", *key)) for key in entry.trained}),
        "looks": {arm: look.on_page() for arm, look in looks(entry.arms).items()},
        "samples": [
            {"split": split, "arms": _describe_arms(entry, entry.of_split(split))}
            for split in entry.splits
        ],
    }


def _describe_arms(
    entry: Entry, logs: Mapping[tuple[str, int], LogIndex | None]
) -> list[dict[str, Any]]:  # fmt: skip
    """Return arms with their settings, and of each seed the steps whose samples are logged."""
    arms: dict[str, dict[str, Any]] = {}
    for (arm, seed), index in logs.items():
        about: dict[str, Any] = {"name": arm, "set_size": _set_size_of_arm(entry, arm), "seeds": []}
        steps = [] if index is None else list(index.log.files)
        has_metrics = (arm, seed) in entry.with_metrics
        seed_row = {"seed": seed, "has_metrics": has_metrics, "steps": steps}
        arms.setdefault(arm, about)["seeds"].append(seed_row)
    return list(arms.values())


def _set_size_of_arm(entry: Entry, arm: str) -> int | None:
    settings = (entry.run.config.get("arms") or {}).get(arm) or {}
    size = settings.get("set_size") if isinstance(settings, dict) else None
    return size if isinstance(size, int) else None
