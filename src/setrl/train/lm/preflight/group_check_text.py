"""One group of samples as a table: the rewards of each sample, and its credit by each arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setrl.samples.conversation import prompt_text
from setrl.support.wording import table
from setrl.tasks.visible import escaped, shortened

if TYPE_CHECKING:  # it imports TRL, which a check without a model does not need
    from setrl.train.lm.preflight.group_check import GroupCheck, SampleCheck

END = 32  # characters of a sample that are shown: its end, where the answer is
STRATEGY_LENGTH = 20
PROMPT_LENGTH = 160


def group_text(group: GroupCheck) -> str:
    """Write the table of the samples, and the seconds of each part."""
    first = group.samples[0]
    arms = list(first.strategies)
    same = all(len(set(one.strategies.values())) == 1 for one in group.samples)
    shown = arms[:1] if same else arms
    head = ["sample", "tokens", *first.rewards, "reward"]
    head += ["strategy"] * len(shown) if same else [f"strategy of {arm}" for arm in shown]
    head += [f"advantage {arm}" for arm in first.advantages]
    rows = [[*head, "ends with"]]
    rows += [_row(place, one, shown) for place, one in enumerate(group.samples, start=1)]
    seconds = ", ".join(f"{part} {spent:.2f} s" for part, spent in group.seconds.items())
    return "\n".join(
        [
            f"one group: {len(group.samples)} samples of {group.where}, as the model is now",
            f"  │ {_one_line(group)}",
            table(rows, left=(0, -1)),
            f"one call for the group: {seconds}",
        ]
    )


def _one_line(group: GroupCheck) -> str:
    """Return the prompt of the group without line breaks and without its middle."""
    words = prompt_text(group.prompt).split()
    return shortened(escaped(" ".join(words)), PROMPT_LENGTH)


def _row(place: int, one: SampleCheck, arms: list[str]) -> list[str]:
    strategies = [escaped(one.strategies[arm] or "?", "")[:STRATEGY_LENGTH] for arm in arms]
    text = one.text if len(one.text) <= END else "…" + one.text[-END:]
    return [
        str(place),
        f"{one.tokens:,}{' cut' if one.cut else ''}",
        *map(_number, one.rewards.values()),
        _number(one.reward),
        *strategies,
        *(_signed(value) for value in one.advantages.values()),
        escaped(text, ""),
    ]


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.3g}"


def _signed(value: float | None) -> str:
    return "?" if value is None else f"{value + 0.0:+.3g}"
