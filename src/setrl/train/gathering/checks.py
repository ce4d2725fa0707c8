"""What is refused before anything is sampled: a method without its fields, a wrong `correct`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

from setrl import AnyMethod
from setrl.core.advantages import require_method
from setrl.core.inputs import check_given
from setrl.rewards import Combine
from setrl.train.gathering.functions import checked_outcome, outcome_column
from setrl.train.scoring.batch import STRATEGIES
from setrl.train.scoring.credit import ASK

Correct = Callable[..., Sequence[bool | float | None]] | str
Outcome = Callable[..., Any] | int


def outcome_of(
    correct: Correct | None, rewards: Sequence[Any], names_R: Sequence[str]
) -> Outcome | None:
    """Return the place of the reward that says which samples are right, or a function that does.

    Args:
        correct: What the user passed: the name of a reward function or the function itself, the
            name of a column, or another function.
        rewards: The reward functions, as the user passed them.
        names_R: Their names.

    Raises:
        TypeError: If it is neither a function nor a name.
        ValueError: If two reward functions have the name.
    """
    if correct is None:
        return None
    for place, reward in enumerate(rewards):
        if reward is correct:
            return place
    if isinstance(correct, str):
        if list(names_R).count(correct) > 1:
            raise ValueError(f"correct={correct!r}: two reward functions have this name")
        return names_R.index(correct) if correct in names_R else outcome_column(correct)
    if not callable(correct):
        raise TypeError(
            "correct must be the name of a reward function or of a column, or a function, got "
            f"{correct!r}"
        )
    return checked_outcome(correct)


def check_correct(
    method: AnyMethod, outcome: Outcome | None, combine: Combine | None, names_R: Sequence[str]
) -> None:
    """Refuse a method that must know which samples are right, if nothing would say it.

    Raises:
        ValueError: Naming the method and the reward functions.

    Warns:
        UserWarning: If the method reads only which samples are right, so that further rewards
            change no advantage.
    """
    says = outcome
    if says is None and combine is not None:
        says = combine.place(names_R)
    has_gates = combine is not None and any(combine.gates)
    if says is None and len(names_R) > 1 and (has_gates or "correct" in method.reads):
        who = method.name if "correct" in method.reads else "a gate of combine"
        raise ValueError(
            f"{who} needs to know which samples are right, and there are {len(names_R)} "
            f"reward functions ({', '.join(names_R)}): {ASK}"
        )
    if "correct" not in method.reads or "rewards" in method.reads or len(names_R) < 2:
        return
    unread = [name for place, name in enumerate(names_R) if place != says]
    warnings.warn(
        f"{method.name} reads only which samples are right: {', '.join(unread)} "
        f"{'has' if len(unread) == 1 else 'have'} no effect on advantages; add a method that reads "
        f"rewards, such as methods.{method.name}(...) + 0.1 * methods.dr_grpo()",
        stacklevel=3,
    )


def by_argument(name: str, strategies: str = "strategy_func=... or judge=...") -> str:
    """Return the argument of a trainer that gives a field, for `check_method`."""
    if name == STRATEGIES:
        return f"pass {strategies}"
    return f"pass fields={{{name!r}: …}}, a function or the name of a column"


def check_method(
    method: AnyMethod,
    num_samples: int,
    called: str,
    given: Collection[str],
    remedy: Callable[[str], str] = by_argument,
) -> None:
    """Refuse a method for which N is too small, or that reads a field that nothing gives.

    Args:
        method: The method.
        num_samples: N.
        called: What the caller calls N, for the message.
        given: The fields that something gives, besides rewards and which samples are right.
        remedy: The name of a field → what would give it, for the message.

    Raises:
        ValueError: Naming the method and what is wrong.
    """
    require_method(method)
    try:
        method.check_samples(num_samples, called)
    except ValueError as error:
        raise ValueError(f"{method.name}: {error}") from None
    check_given(method.reads, given, method.name, remedy)
