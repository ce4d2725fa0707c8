"""What a comparison takes, as a table for people."""

from __future__ import annotations

from setrl.lm.preflight.costs import Costs
from setrl.wording import in_bytes as _bytes
from setrl.wording import table


def costs_text(found: Costs) -> str:
    """The table, and below it what it rests on."""
    blocks = [_head(found), _counts(found), _places(found), _time(found), _money(found)]
    assumed = "\n".join(["this rests on", *(f"- {sentence}" for sentence in found.assumed)])
    return "\n\n".join([block for block in blocks if block] + [assumed])


def _head(found: Costs) -> str:
    config, size = found.config, found.size
    trained = "" if size.trained == size.weights else f", {_short(size.trained)} of them trained"
    arms, seeds = len(config.arms), len(config.seeds)
    model = config.model or "a model made from scratch"
    return (
        f"{config.name}: {arms} arm{'s' * (arms > 1)} × {seeds} seed{'s' * (seeds > 1)}, "
        f"{model} with {_short(size.weights)} weights{trained}"
    )


def _counts(found: Costs) -> str:
    runs, judged = found.runs, found.judged
    rows: list[tuple[str, float, bool]] = [
        ("prompts", found.prompts, True),
        ("samples", found.samples, True),
        ("tokens sampled", found.sampled, True),
        ("tokens trained on, prompts among them", found.trained, True),
        ("samples of evaluations", found.evaluated_samples, False),
        ("tokens of evaluations", found.evaluated, False),
        ("judge: requests", judged.requests, False),
        ("judge: tokens read", judged.read, False),
        ("judge: tokens written", judged.written, False),
    ]
    cells = [["", "a training run", "all"]]
    for name, whole, is_divided in rows:
        if whole:
            cells.append([name, f"{whole / runs:,.0f}" if is_divided else "", f"{whole:,.0f}"])
    return table(cells)


def _places(found: Costs) -> str:
    disk, memory, gpus = found.disk, found.memory, found.assumptions.gpus
    cells = [["disk", _bytes(disk.here)]]
    for name, value in vars(disk).items():
        if value and name != "on_server":
            cells.append([f"  {name}", _bytes(value)])
    if disk.on_server:
        cells.append(["disk of the server, which keeps all", _bytes(disk.on_server)])
    if found.open_batches:
        cells.append(["  batches of a run that wait for it, at most", _bytes(found.open_batches)])
    where = "server" if found.config.engine else "process"
    cells.append([f"memory of a {where}, at least", _bytes(memory.least)])
    parts = {name: value for name, value in vars(memory).items() if value and name != "cache"}
    cells += [[f"  {name}", _bytes(value)] for name, value in parts.items()]
    if gpus > 1:
        divided = memory.least - memory.held + memory.held / gpus
        cells.append([f"  with weights to moments divided by {gpus}", _bytes(divided)])
    cells.append(["cache of all samples of a batch at once", _bytes(memory.cache)])
    return table(cells)


def _time(found: Costs) -> str:
    work = found.work
    cells = [["on the assumed GPUs", "PFLOP", "hours"]]
    for name in ("sampling", "training", "evaluation"):
        flops, seconds = getattr(work, name), getattr(work, f"{name}_s")
        if flops:
            cells.append([name, _petaflop(flops), _hours(seconds)])
    cells.append(["one after the other", "", _hours(work.wall_s)])
    cells.append(["GPU hours", "", f"{found.gpu_hours:,.3g}"])
    if work.judge_s is not None:
        cells.append(
            [
                "judge: GPU hours in addition",
                f"{(work.judge or 0) / 1e15:,.0f}",
                _hours(work.judge_s),
            ]
        )
    text = table(cells)
    if work.sampling_s == work.least_sampling_s:
        text += (
            "\nsampling waits for the longest sample of each batch, whose every token reads all "
            "weights: more GPUs make it no faster"
        )
    if found.measured_s is not None:
        one, whole = found.measured_s
        text += f"\nmeasured speeds: a training run takes {_clock(one)}, all {_clock(whole)}"
    return text


def _money(found: Costs) -> str:
    parts = {"judge": found.judged.cost, "engine": found.engine_cost, "GPUs": found.gpu_cost}
    rows = [[name, f"{value:,.2f}"] for name, value in parts.items() if value]
    return table([["cost, in the currency of the prices", ""], *rows]) if rows else ""


def _short(number: float) -> str:
    for name, size in (("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{number / size:,.2f} {name}"
    return f"{number:,.0f}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.3g}"


def _clock(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _petaflop(flops: float) -> str:
    return f"{flops / 1e15:,.0f}" if flops >= 1e16 else f"{flops / 1e15:.2g}"
