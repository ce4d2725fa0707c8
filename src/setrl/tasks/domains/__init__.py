"""Synthetic tasks with an exact verifier and an exact reader of strategies.

Nothing here depends on models or training: a domain samples problems, writes the corpus that a
base model learns from, and reads samples.
"""

from collections.abc import Callable
from typing import Any

from setrl.support import names
from setrl.tasks.domains.base import (
    SPLITS,
    Author,
    Domain,
    Problem,
    Reading,
    Split,
    Written,
    corpus,
)
from setrl.tasks.domains.multiplication import Multiplication
from setrl.tasks.domains.polynomial import Polynomial
from setrl.tasks.domains.quadratic import Quadratic

__all__ = [
    "DOMAINS",
    "SPLITS",
    "Author",
    "Domain",
    "Multiplication",
    "Polynomial",
    "Problem",
    "Quadratic",
    "Reading",
    "Split",
    "Written",
    "by_name",
    "corpus",
]

DOMAINS: dict[str, Callable[..., Domain]] = {
    "polynomial": Polynomial,
    "multiplication": Multiplication,
    "quadratic": Quadratic,
}
"""Name → the class of the domain."""


def by_name(name: str, **options: Any) -> Domain:
    """Make the domain of that name; options go to its constructor.

    >>> by_name("polynomial", strategy="point")
    Polynomial(strategy='point')

    Raises:
        ValueError: If there is no such domain, or it refuses the options.
    """
    return names.make("domain", {**options, "name": name}, DOMAINS)
