"""What a sample answers and its strategy, as the config of a task names them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setrl.models.prompting import PromptForm
from setrl.rewards.config import RewardSet
from setrl.rewards.interface import as_samples, own
from setrl.samples.conversation import Text, plain_text
from setrl.samples.values import DEGENERATE, Label, read_label
from setrl.support.errors import ConfigError, RunError
from setrl.tasks.base import Labels, Strategy
from setrl.tasks.domains import Problem

ANSWER = "final_answer"
FORMS = "final_answer, {function: module:name}, {judge: …} or none"


def final_answers(rewards: Callable[[], RewardSet]) -> Labels:
    """Return a function in TRL's interface that reads what samples answer; None without an answer.

    Equal answers are equal texts.

    Args:
        rewards: Returns the rewards, which say where the answer is (`RewardSet.read_answer`).
    """

    def final_answer(*, completions: Sequence[Text], **_: Any) -> list[str | None]:
        read_answer = rewards().read_answer
        return [read_answer(plain_text(text)) for text in completions]

    return final_answer


def by_answer(answers: Labels) -> Labels:
    """Return a function that names the strategy of samples by their answers; −1 without one.

    The answer −1 is a strategy, too, with a name that does not read as the label of none.
    """

    def strategy(**arguments: Any) -> list[Label]:
        return [_name_strategy(answer) for answer in answers(**arguments)]

    return strategy


def _name_strategy(answer: Label) -> Label:
    if answer is None:
        return DEGENERATE
    return f"answer {answer}" if read_label(answer) == DEGENERATE else answer


def strategy_of_config(spec: Any, load: Callable[[str], Labels], answers: Labels) -> Strategy:
    """Return the strategy that a config names.

    Args:
        spec: `final_answer`, {function: module:name}, {judge: …}, or none.
        load: Loads a function by module:name.
        answers: Reads final answers.

    Raises:
        ConfigError: If it has another form.
    """
    if spec in (None, "none"):
        return Strategy()
    if spec == ANSWER:
        return Strategy(by_answer(answers))
    if isinstance(spec, Mapping) and set(spec) == {"function"}:
        return Strategy(load(spec["function"]))
    if isinstance(spec, Mapping) and "judge" in spec:
        # {judge: exact} and {judge: {judge: lm, …}} are what an arm's `judge` holds, or all of it.
        return Strategy(judge=spec["judge"] if len(spec) == 1 else spec)
    raise ConfigError(f"strategy must be {FORMS}, got {spec!r}")


def say_blank(values: Sequence[Any], place: str) -> None:
    """Warn of labels without a name, which are unknown: their author may have meant none."""
    blank = next((value for value in values if isinstance(value, str) and not value.strip()), None)
    if blank is not None:
        warnings.warn(
            f"{place} returned {blank!r}, which is read as unknown, so that such samples leave the "
            "sets: return None for unknown, or -1 for no strategy",
            stacklevel=3,
        )


def strategies_in_evaluation(
    function: Labels, problem: Problem, texts: Sequence[str], form: PromptForm, chat: bool
) -> list[Label]:
    """Return the strategies of a problem's samples in evaluation, read as in training.

    Raises:
        RunError: If the function does not return a label, −1 or None for each sample.
    """
    count = len(texts)
    columns = {key: [value] * count for key, value in problem.columns.items()}
    prompts = [form.prompt(problem.prompt, chat)] * count
    fields = {"prompts": prompts, "completions": as_samples(texts, chat), **columns}
    labels = list(function(**own(fields)))
    if len(labels) != count:
        raise RunError(
            f"the strategy function must return one value per sample, {count}, got {len(labels)}"
        )
    say_blank(labels, "the strategy function")
    try:
        return [read_label(label) for label in labels]
    except ValueError as error:
        raise RunError(f"the strategy function must return {error}") from None
