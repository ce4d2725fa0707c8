"""Whether a method can credit the samples of a trainer, asked before anything is sampled."""

from __future__ import annotations

from collections.abc import Collection

from setrl import AnyMethod
from setrl.core.advantages import require_method

FIELDS = frozenset(
    {"rewards", "correct", "strategies"}
)  # what every trainer can know about a sample


def check_method(
    method: AnyMethod, num_samples: int, called: str, known: Collection[str] | None = None
) -> None:
    """Refuse a method that no trainer can use: N is too small, or it reads unknown fields.

    Args:
        method: The method.
        num_samples: N.
        called: What the caller calls N, for the message.
        known: The fields that the method is given; None where a trainer takes only `FIELDS`.

    Raises:
        ValueError: Naming the method and what is wrong.
    """
    require_method(method)
    try:
        method.check_samples(num_samples, called)
    except ValueError as error:
        raise ValueError(f"{method.name}: {error}") from None
    if unknown := sorted(set(method.reads) - set(FIELDS if known is None else known)):
        raise ValueError(
            f"{method.name} reads {' and '.join(unknown)}"
            + (
                f", which this trainer does not know: it knows {' and '.join(sorted(FIELDS))}"
                if known is None
                else f": pass fields={{{unknown[0]!r}: …}}, a function or the name of a column"
            )
        )
