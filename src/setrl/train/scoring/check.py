"""Whether a method can credit the samples of a trainer, asked before anything is sampled."""

from __future__ import annotations

from collections.abc import Callable, Collection

from setrl import AnyMethod
from setrl.core.advantages import require_method
from setrl.core.inputs import check_given
from setrl.train.scoring.fields import STRATEGIES


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
