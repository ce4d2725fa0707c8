"""What the samples of a log were drawn with: settings that its rows name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from setrl.logs.field_values import plain_name, text_of
from setrl.samples.values import written_number

NAMES = {  # setting → the names of its fields in plain letters
    "temperature": ("temperature", "temp", "samplingtemperature"),
    "top_p": ("topp",),
    "top_k": ("topk",),
    "max_tokens": ("maxtokens", "maxnewtokens", "maxcompletiontokens", "maxcompletionlength",
                   "maxoutputtokens", "tokenlimit"),
    "model": ("model", "modelname", "modelid", "modelpath",
              "provider", "providerid"),
    "revision": ("revision", "modelrevision"),
    "system prompt": ("systemprompt", "system", "systemmessage"),
    "benchmark": ("benchmark", "benchmarkname"),
    "dataset": ("dataset", "datasetname"),
    "task": ("task", "taskname"),
    "subset": ("subset", "subsetname"),
    "prompt template": ("promptidx",),
    "split": ("split",),
}  # fmt: skip
OF_A_TASK = (
    "benchmark",
    "dataset",
    "task",
    "subset",
    "prompt template",
    "split",
)  # the coarser ones first
OF_A_FILE = ("temperature", "top_p", "top_k", "max_tokens", "model", "revision", "system prompt")
SHOWN = 40  # letters of a value in a sentence

Settings = Mapping[str, Counter[str]]  # setting → value → how many rows have it


def setting_of(path: str) -> str | None:
    """Return the setting that a field's name stands for.

    >>> setting_of("config.max_new_tokens"), setting_of("provider.id"), setting_of("score")
    ('max_tokens', 'model', None)
    """
    last_two = "".join(path.split(".")[-2:])
    written = {plain_name(path), plain_name(last_two)}
    return next(
        (setting for setting, names in NAMES.items() if not written.isdisjoint(names)), None
    )


def count_settings(settings: dict[str, Counter[str]], values: Iterable[tuple[str, Any]]) -> None:
    """Count the values of settings; what is not text or a number is left out."""
    counts = Counter(pair for pair in values if isinstance(pair[1], str | int | float))
    for (setting, value), times in counts.items():
        number = written_number(str(value))
        text = text_of(value if math.isnan(number) else number)
        if text is not None:
            settings.setdefault(setting, Counter())[text] += times


def mixed(settings: Settings) -> list[str]:
    """Say which settings have several values in one file, where one is expected."""
    return [
        f"{name} is {_values_text(settings[name])}: these are samples of several settings"
        for name in OF_A_FILE
        if len(settings.get(name, ())) > 1
    ]


def differing(first: Settings, second: Settings) -> str:
    """Say which settings differ between files A and B that both name them; empty if none does."""
    parts = [
        f"{setting} ({_few_values_text(first[setting])} and {_few_values_text(second[setting])})"
        for setting in NAMES
        if setting in first
        and setting in second
        and first[setting].keys() != second[setting].keys()
        and not _has_common_task(setting, first, second)
    ]
    if not parts:
        return ""
    return f"A and B differ in {', '.join(parts)}: this can be the reason why the results differ"


def _has_common_task(setting: str, first: Settings, second: Settings) -> bool:
    """Whether a setting names tasks, one of them in both files: a comparison keeps only these."""
    return setting in OF_A_TASK and not first[setting].keys().isdisjoint(second[setting])


def _values_text(counts: Counter[str]) -> str:
    shown = [f"{value[:SHOWN]} in {times:,}" for value, times in counts.most_common(3)]
    return f"{', '.join(shown)}{', …' if len(counts) > 3 else ''} rows"


def _few_values_text(counts: Counter[str]) -> str:
    shown = [value if len(value) <= SHOWN else f"{value[:SHOWN]}…" for value in list(counts)[:3]]
    return f"{' or '.join(shown)}{' or …' if len(counts) > 3 else ''}"
