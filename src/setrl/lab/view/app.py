"""The application: each address is a question about what a folder holds, its answer is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from setrl import files
from setrl.errors import ConfigError, DataError, explain
from setrl.evaluation.outcomes import outcome_table, read_outcome
from setrl.lab.view import metrics
from setrl.lab.view.catalogue import FILMS, Catalogue, Entry, Found, Seed
from setrl.lab.view.configs import differences
from setrl.lab.view.credit import group_page
from setrl.lab.view.evaluation import Evaluations
from setrl.lab.view.guard import Guard
from setrl.lab.view.rollouts import ROW, FileIndex, Index

BUNDLE = {"view.js": "text/javascript", "view.css": "text/css"}
ROWS_SHOWN = 100
TEXT_PART = 200_000  # letters of a sample that one answer holds
SORTS = (*(name for name in ROW.names or () if name != "place"), "prompt")

SHOWN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all": lambda rows: np.ones(len(rows), dtype=bool),
    "surprising": lambda rows: rows["surprise"] > 0,
    "wrong_up": lambda rows: rows["wrong_up"] > 0,
    "mixed": lambda rows: (rows["correct"] > 0) & (rows["correct"] < rows["samples"]),
    "alive": lambda rows: rows["dead"] == 0,
    "dead": lambda rows: rows["dead"] == 1,
}
"""What a table of groups can be narrowed to."""

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
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.evaluations = Evaluations()
        self._found: Found | None = None

    def runs(self, request: Request) -> dict[str, Any]:
        """Everything that the folder holds, looked for again."""
        found = self._found = self.catalogue.look()
        return {
            "folder": self.catalogue.root.name or str(self.catalogue.root),
            "runs": [_described(entry) for entry in found.entries.values()],
            "audits": [{"id": key, "where": place} for key, (place, _) in found.audits.items()],
            "notes": list(found.notes),
        }

    def groups(self, request: Request) -> dict[str, Any]:
        """Return a table of the groups of a step, or of all steps, sorted and filtered."""
        index, step = self._index(request), request.query_params.get("step", "all")
        found = index.of_all() if step == "all" else index.of_step(_whole(step))
        chosen = _filtered(found, request)
        chosen = _sorted(found, chosen, request)
        start = max(0, _whole(request.query_params.get("from", "0")))
        return {
            "total": len(found.rows),
            "chosen": len(chosen),
            "from": start,
            "rows": [_row(found, place) for place in chosen[start : start + ROWS_SHOWN]],
        }

    def group(self, request: Request) -> dict[str, Any]:
        """One group: its samples and why each got its credit."""
        step, place = _whole(request.query_params["step"]), _whole(request.query_params["place"])
        size = request.query_params.get("set_size")
        index = self._index(request)
        found = index.log.group(step, place)
        rows = index.of_step(step).rows["place"]
        number = int(np.searchsorted(rows, place))
        return {
            **group_page(found, None if size is None else _whole(size)),
            "place": place,
            "number": number,
            "before": int(rows[number - 1]) if number > 0 else None,
            "after": int(rows[number + 1]) if number + 1 < len(rows) else None,
        }

    def text(self, request: Request) -> dict[str, Any]:
        """Return a part of a long sample."""
        asked = {name: _whole(request.query_params[name]) for name in ("step", "place", "sample")}
        start = max(0, _whole(request.query_params.get("from", "0")))
        group = self._index(request).log.group(asked["step"], asked["place"])
        text = group.samples[max(0, asked["sample"])].text
        return {"text": text[start : start + TEXT_PART], "from": start, "length": len(text)}

    def evaluation(self, request: Request) -> dict[str, Any]:
        """pass@k of all arms on a split, with bands and paired differences."""
        entry, query = self.entry(request), request.query_params
        return self.evaluations.page(entry, query.get("split"), query.get("against"))

    def outcomes(self, request: Request) -> dict[str, Any]:
        """Return what the arms of a control run achieved."""
        found = self.entry(request).outcomes
        if not found:
            raise LookupError("outcomes")
        return outcome_table(
            {arm: {seed: read_outcome(path) for seed, path in seeds.items()}
             for arm, seeds in found.items()}
        )  # fmt: skip

    def audit(self, request: Request) -> dict[str, Any]:
        """Return what an audit of a judge found."""
        return files.read_json(self._known().audits[request.query_params["id"]][1])

    def configs(self, request: Request) -> dict[str, Any]:
        """How the configs of two runs differ."""
        entries = self._known().entries
        first, second = (entries[request.query_params[name]] for name in ("first", "second"))
        missing = [entry.name for entry in (first, second) if not entry.config]
        if missing:
            raise DataError(f"{' and '.join(missing)} has no config.yaml")
        return {"names": [first.where, second.where], **differences(first.config, second.config)}

    def entry(self, request: Request) -> Entry:
        """Return the run that a request names."""
        return self._known().entries[request.query_params["run"]]

    def seed(self, request: Request) -> Seed:
        """Return the training run that a request names."""
        query = request.query_params
        return self.entry(request).training_run(query["arm"], _whole(query.get("seed", "0")))

    def film(self, name: str) -> Path:
        """Return a film or picture of a control run."""
        of_entries = (entry.films for entry in self._known().entries.values())
        return next(films[name] for films in of_entries if name in films)

    def _index(self, request: Request) -> Index:
        index = self.seed(request).index
        if index is None:
            raise DataError("this training run has logged no groups")
        return index

    def _known(self) -> Found:
        if self._found is None:
            self._found = self.catalogue.look()
        return self._found


def application(
    catalogue: Catalogue, token: str | None = None, is_ending: Callable[[], bool] = lambda: False
) -> Guard:
    """Return the explorer of a folder, for any ASGI server.

    Args:
        catalogue: The folder.
        token: What a reader must know, where others can reach the server.
        is_ending: Whether the server wants to end; streams then end, too.
    """
    ask = Questions(catalogue)
    answers: dict[str, Answer] = {
        name: getattr(ask, name)
        for name in (
            "runs",
            "groups",
            "group",
            "text",
            "evaluation",
            "outcomes",
            "audit",
            "configs",
        )
    }
    routes = [Route("/", _page), Route("/static/{name}", _static)]
    routes += [Route(f"/api/{name}", _json(answer)) for name, answer in answers.items()]
    routes += [
        Route("/api/metrics", _stream(ask, is_ending)),
        Route("/film/{name}", _film(ask)),
    ]
    return Guard(Starlette(routes=routes), token)


def _page(request: Request) -> Response:
    return HTMLResponse(PAGE)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in BUNDLE:
        return _problem(404, "there is no such file")
    content = package_files("setrl.lab").joinpath("bundle", name).read_bytes()
    return Response(content, media_type=BUNDLE[name])


def _json(answer: Answer) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        try:
            return _as_json(200, answer(request))
        except LookupError:
            return _problem(404, "there is no such run, step, group or split (any more)")
        except ConfigError as error:
            return _problem(400, explain(error))
        except (DataError, OSError) as error:
            return _problem(422, explain(error))

    return respond


def _stream(ask: Questions, is_ending: Callable[[], bool]) -> Callable[[Request], Any]:
    async def respond(request: Request) -> Response:
        try:
            path = (await run_in_threadpool(ask.seed, request)).metrics
            cursor = _whole(request.headers.get("last-event-id", "0"))
        except (LookupError, ConfigError):
            return _problem(404, "there is no such training run")
        if path is None:
            return _problem(422, "this log holds no metrics")
        follow = request.query_params.get("follow", "1") == "1"

        async def is_gone() -> bool:
            return is_ending() or await request.is_disconnected()

        found = metrics.events(path, cursor, follow, is_gone)
        return StreamingResponse(found, media_type="text/event-stream")

    return respond


def _film(ask: Questions) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        try:
            path = ask.film(request.path_params["name"])
        except StopIteration:
            return _problem(404, "there is no such film")
        return FileResponse(path, media_type=FILMS[path.suffix])

    return respond


def _as_json(status: int, content: dict[str, Any]) -> Response:
    """JSON in ASCII: samples may hold what UTF-8 cannot, such as half of a surrogate pair."""
    return Response(json.dumps(files.plain_json(content)), status, media_type="application/json")


def _problem(status: int, sentence: str) -> Response:
    return _as_json(status, {"error": sentence})


def _whole(text: str) -> int:
    """Return a whole number of the query.

    Raises:
        ConfigError: If it is not a whole number.
    """
    if not re.fullmatch(r"-?[0-9]{1,14}", text):
        raise ConfigError(f"a whole number was expected, got {text[:40]!r}")
    return int(text)


def _described(entry: Entry) -> dict[str, Any]:
    about = {key: entry.about.get(key) for key in ("status", "created", "error", "command")}
    return {
        "id": entry.id,
        "name": entry.name,
        "where": entry.where,
        "kind": entry.kind,
        **about,
        "arms": [_arm(entry, arm) for arm in entry.arms],
        "splits": list(entry.evaluations),
        "has_config": bool(entry.config),
        "has_outcomes": bool(entry.outcomes),
        "films": [{"id": key, "name": path.name} for key, path in entry.films.items()],
    }


def _arm(entry: Entry, arm: str) -> dict[str, Any]:
    """Return an arm: its settings, and each seed's steps with logged groups."""
    settings = (entry.config.get("arms") or {}).get(arm) or {}
    size = settings.get("set_size") if isinstance(settings, dict) else None
    return {
        "name": arm,
        "set_size": size if isinstance(size, int) else None,
        "seeds": [
            {
                "seed": seed,
                "has_metrics": run.metrics is not None,
                "steps": list(run.index.log.files) if run.index is not None else [],
            }
            for seed, run in entry.arms[arm].items()
        ],
    }


def _filtered(found: FileIndex, request: Request) -> np.ndarray:
    """Return the numbers of the groups that a request asks for."""
    query = request.query_params
    show = query.get("show") or "all"
    if show not in SHOWN:
        raise ConfigError(f"groups can be {', '.join(SHOWN)}, not {show[:40]!r}")
    keep = SHOWN[show](found.rows)
    if text := query.get("text", "").lower():
        keep &= np.array([text in prompt.lower() for prompt in found.prompts], dtype=bool)
    return np.flatnonzero(keep)


def _sorted(found: FileIndex, chosen: np.ndarray, request: Request) -> np.ndarray:
    """Numbers of groups in the order that a request asks for; unknown values come last."""
    by = request.query_params.get("sort", "step")
    if by not in SORTS:
        raise ConfigError(f"groups can be sorted by {', '.join(SORTS)}, not by {by[:40]!r}")
    descending = request.query_params.get("desc") == "1"
    if by == "prompt":
        return np.array(
            sorted(chosen, key=lambda i: found.prompts[i], reverse=descending), dtype=np.int64
        )
    values = found.rows[by][chosen].astype(np.float64)
    return chosen[np.argsort(-values if descending else values, kind="stable")]


def _row(found: FileIndex, number: int) -> dict[str, Any]:
    row = found.rows[number]
    return {**{name: row[name].item() for name in ROW.names or ()}, "prompt": found.prompts[number]}
