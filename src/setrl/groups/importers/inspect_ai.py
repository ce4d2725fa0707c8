"""inspect_ai: its logs, .json or .eval (a zip of JSON files).

A sample is one epoch of a problem: id, epoch, input, target, output, scores (scorer → value,
answer), error. The .eval format is not a frozen one: where it cannot be read as a zip of
samples/*.json, inspect_ai itself reads it, if it is installed.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setrl.errors import DataError
from setrl.files.kinds import ZIP, refuse_other_kinds
from setrl.grading.conversation import message_text, prompt_text
from setrl.groups.fields import choose_score, field, label, number, reading
from setrl.groups.importers.importing import LogReader
from setrl.groups.options import LogOptions
from setrl.groups.types import Group, Sample

# Equal to inspect_ai's own value_to_float: correct, partially correct, incorrect, no answer.
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
HEADER = "header.json"
ATTACHMENT = "attachment://"
OPENING = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')  # of a log in .json


def _groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    status, logged = _logged(path)
    if status != "success":
        notes.append(f"{path.name}: the status of the log is {status}: samples may be missing")
    for place, sample in enumerate(logged):
        where = f"{path}, sample {place}"
        with reading(where):
            yield _sample(sample, options, where)


def _logged(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """Return the status of a log ("success", "cancelled", "error", "started"), and its samples."""
    try:
        if path.suffix == ".eval":
            status, samples = _zipped(path)
        else:
            log = json.loads(path.read_bytes())
            status, samples = log.get("status", "success"), log.get("samples")
    except NotImplementedError:  # compressed in a way that zipfile does not know
        status, samples = _by_inspect(path)
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply to be read") from None
    except (ValueError, AttributeError, zipfile.BadZipFile) as error:
        refuse_other_kinds(path, but=ZIP)
        raise DataError(f"{path}: is not a log of inspect_ai: {error}") from None
    if not samples:
        raise DataError(f"{path}: has no samples")
    return str(status), list(samples)


def _zipped(path: Path) -> tuple[str, list[dict[str, Any]]]:
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist())
        # The header is written when the evaluation ends.
        header = json.loads(archive.read(HEADER)) if HEADER in names else {"status": "started"}
        samples = [
            json.loads(archive.read(name))
            for name in names
            if name.startswith("samples/") and name.endswith(".json")
        ]
    return header.get("status", "success"), samples


def _by_inspect(path: Path) -> tuple[str, list[dict[str, Any]]]:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise DataError(f"{path}: only inspect_ai reads this one: pip install inspect-ai, or "
                        "write it as .json with `inspect log convert`") from None  # fmt: skip
    log = read_eval_log(str(path), resolve_attachments=True)
    return log.status, [sample.model_dump() for sample in log.samples or []]


def _sample(sample: dict[str, Any], options: LogOptions, where: str) -> Group:
    attached = sample.get("attachments") or {}
    scores = sample.get("scores") or {}
    failed = sample.get("error") is not None or not scores
    scorer = None
    if not failed and not options.verify:
        scorer = choose_score(list(scores), options.fields.reward, where)
    target = field(sample, "target", where)
    one = Sample(
        _resolved(_completion(sample), attached),
        reward=_value(scores[scorer].get("value"), where) if scorer else None,
        answer=label(scores[scorer].get("answer")) if scorer else None,
    )
    prompt = _resolved(prompt_text(field(sample, "input", where)), attached)
    gold = label(target[0] if isinstance(target, list) and target else target)
    return Group(str(field(sample, "id", where)), prompt, (one,), gold)


def _completion(sample: dict[str, Any]) -> str:
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    return message_text(choices[0]["message"]) if choices else str(output.get("completion") or "")


def _value(value: Any, where: str) -> float | None:
    if isinstance(value, str):
        if value in LETTERS:
            return LETTERS[value]
        try:
            return float(value)
        except ValueError:
            raise DataError(f"{where}: a score must be a number or one of {', '.join(LETTERS)}, "
                            f"got {value!r}") from None  # fmt: skip
    return number(value, where)


def _resolved(text: str, attached: dict[str, str]) -> str:
    """Return the text itself: long texts are stored elsewhere in the log, under their hash."""
    if text.startswith(ATTACHMENT):
        return attached.get(text.removeprefix(ATTACHMENT), text)
    return text


def _opens(path: Path, start: bytes) -> bool:
    return path.suffix == ".eval" or OPENING.match(start) is not None


READER = LogReader(("*.json", "*.eval"), _groups, opens=_opens, known=r".*\.eval")
