"""inspect_ai: its logs, .json or .eval (a zip of JSON files).

A sample is one epoch of a problem: id, epoch, input, target, output, scores (scorer → value, or
metric → value, and answer), error. The .eval format may change: if the file is not a zip of
samples/*.json that can be read here, the error names inspect_ai's own command, which writes .json.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from setrl.logs import parquet
from setrl.logs.field_values import text_of
from setrl.logs.importers.importing import LogReader, choose_score, field, number, reading
from setrl.logs.options import LogOptions
from setrl.samples.conversation import message_text, prompt_text
from setrl.samples.types import Group, Sample
from setrl.samples.values import read_answer, read_tokens
from setrl.support.errors import ConfigError, DataError
from setrl.support.files.kinds import ZIP, most_unpacked, refuse_other_kinds
from setrl.support.wording import count, have

# As in inspect_ai's own value_to_float; C and I (correct, incorrect) are words of every log.
LETTERS = {"P": 0.5, "N": 0.0}  # partially correct, no answer
HEADER = "header.json"
ZSTANDARD = 93  # a compression of zip
LEAST_SAMPLE, MOST_RATIO = 20_000_000, 50  # bytes, and times: a sample is in memory as objects
LOCAL_HEADER = struct.Struct("<26xHH")  # of a file in a zip: ends with the sizes of name and extra
ATTACHMENT = "attachment://"
NAME = re.compile(r"\d{4}-\d\d-\d\dT[\d+-]+_(.+)_[A-Za-z0-9]{22}")  # time, task, id of the run
OPENING = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')  # of a log in .json


def _read_groups(path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    place, failed = -1, 0
    for place, sample in enumerate(_read_samples(path, notes)):
        where = f"{path}, sample {place}"
        with reading(where):
            failed += sample.get("error") is not None and bool(sample.get("scores"))
            yield _group_of_sample(sample, options, where)
    if place < 0:
        raise DataError(f"{path}: has no samples")
    if failed:
        samples = f"{count(failed, 'sample')} ended with an error and {have(failed)} a score"
        notes.append(f"{path.name}: {samples}, which counts (score_on_error)")


def _read_samples(path: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the samples of a log; of a zip, one is in memory at a time."""
    try:
        yield from (_samples_in_zip if path.suffix == ".eval" else _samples_in_json)(path, notes)
    except NotImplementedError as error:  # compressed in a way that is not known here
        raise DataError(
            f"{path}: {error}; or write it as .json with `inspect log convert`"
        ) from None
    except DataError:
        raise
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply to be read") from None
    except (ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        refuse_other_kinds(path, but=ZIP)
        raise DataError(f"{path}: is not a log of inspect_ai: {error}") from None


def _samples_in_json(path: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    log = json.loads(path.read_bytes())
    _note_status(path, log.get("status", "success"), notes)
    yield from log.get("samples") or ()


def _samples_in_zip(path: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        _refuse_bomb(path, archive)
        names = sorted(archive.namelist())
        # The header is written when the evaluation ends.
        header = (
            json.loads(_read_member(archive, HEADER)) if HEADER in names else {"status": "started"}
        )
        _note_status(path, header.get("status", "success"), notes)
        for name in names:
            if name.startswith("samples/") and name.endswith(".json"):
                yield json.loads(_read_member(archive, name))


def _refuse_bomb(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse an archive that would unpack to more than memory; no file unpacks beyond its header.

    Raises:
        DataError: Naming the file in the archive.
    """
    left = most_unpacked(path.stat().st_size)
    for entry in archive.infolist():
        left -= entry.file_size
        if left < 0 or entry.file_size > max(LEAST_SAMPLE, MOST_RATIO * entry.compress_size):
            raise DataError(
                f"{path}: {entry.filename} unpacks to {entry.file_size:,} bytes from "
                f"{entry.compress_size:,}, which no sample does: unpack the log yourself, or write "
                "it as .json with `inspect log convert`, if it is right"
            )


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of an archive; newer logs use Zstandard, which zipfile does not know.

    Raises:
        NotImplementedError: If the compression is unknown.
    """
    about = archive.getinfo(name)
    if about.compress_type != ZSTANDARD:
        return archive.read(name)
    with open(str(archive.filename), "rb") as file:
        file.seek(about.header_offset)
        sizes = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        file.seek(sum(sizes), 1)
        data = file.read(about.compress_size)
    try:
        return parquet.decompressed(data, about.file_size)
    except ConfigError as error:
        raise NotImplementedError(str(error)) from None


def _note_status(path: Path, status: str, notes: list[str]) -> None:
    """Note a status other than success: cancelled, error or started."""
    if status != "success":
        notes.append(f"{path.name}: the status of the log is {status}: samples may be missing")


def _group_of_sample(sample: dict[str, Any], options: LogOptions, where: str) -> Group:
    attached = sample.get("attachments") or {}
    # With score_on_error, a failed sample has scores, too.
    scores = _scores_by_name(sample.get("scores") or {})
    is_scored = bool(scores) and not options.verify
    score = scores[choose_score([*scores], options.fields.reward, where)] if is_scored else None
    target = field(sample, "target", where)
    text = _completion_text(sample)
    text = None if text is None else _resolve_attachment(text, attached)
    answer = read_answer(score.answer) if score else None
    read_sample = Sample(
        text,
        reward=_read_reward(score.value, where) if score else None,
        # Some scorers read no answer, and log the whole text in its place.
        answer=None if answer is not None and answer.strip() == (text or "").strip() else answer,
        tokens=read_tokens(((sample.get("output") or {}).get("usage") or {}).get("output_tokens")),
    )
    prompt = _resolve_attachment(prompt_text(field(sample, "input", where)), attached)
    gold = text_of(target[0] if isinstance(target, list) and target else target)
    return Group(str(field(sample, "id", where)), prompt, (read_sample,), gold)


class _Score(NamedTuple):
    value: Any
    answer: Any


def _scores_by_name(logged: dict[str, Any]) -> dict[str, _Score]:
    """Return the scores by name; of a scorer with several values each is scorer.metric."""
    scores: dict[str, _Score] = {}
    for scorer, score in logged.items():
        value, answer = score.get("value"), score.get("answer")
        if isinstance(value, dict):
            scores |= {
                f"{scorer}.{metric}": _Score(metric_value, answer)
                for metric, metric_value in value.items()
            }
        else:
            scores[scorer] = _Score(value, answer)
    return scores


def _completion_text(sample: dict[str, Any]) -> str | None:
    """Return what the model wrote; None if the log does not say it."""
    output = sample.get("output") or {}
    if choices := output.get("choices") or []:
        return message_text(choices[0]["message"])
    written = output.get("completion")
    return None if written is None else str(written)


def _read_reward(value: Any, where: str) -> float | None:
    return number(LETTERS.get(value, value) if isinstance(value, str) else value, where)


def _resolve_attachment(text: str, attached: dict[str, str]) -> str:
    """Return the text itself: long texts are stored elsewhere in the log, under their hash."""
    if text.startswith(ATTACHMENT):
        return attached.get(text.removeprefix(ATTACHMENT), text)
    return text


def _is_inspect_log(path: Path, start: bytes) -> bool:
    return path.suffix == ".eval" or OPENING.match(start) is not None


def _task_of_file(path: Path) -> str:
    return match[1] if (match := NAME.fullmatch(path.stem)) else path.stem


READER = LogReader(
    ("*.json", "*.eval"),
    _read_groups,
    opens=_is_inspect_log,
    known=r".*\.eval",
    source=_task_of_file,
)
