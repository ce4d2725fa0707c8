"""Where the advantages of a log come from: its training, `setrl credit`, or nobody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal

from setrl.core import methods
from setrl.core.method import AnyMethod
from setrl.train import method_config


@dataclass(frozen=True)
class Origin:
    """Where the advantages of a log come from.

    Attributes:
        kind: "loss": they entered the loss of a training run; "credit": `setrl credit` added them
            to the log, and nothing was trained; "log": the log does not say.
        config: The method as a config has it, among other keys; empty if it is unknown.
    """

    kind: Literal["loss", "credit", "log"] = "log"
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The name of the method; None if it is unknown."""
        return None if self.method() is None else str(self.config["method"])

    @property
    def set_size(self) -> int | None:
        """K of the method; None if the method is unknown."""
        method = self.method()
        return None if method is None else method.set_size

    def method(self, set_size: int | None = None) -> AnyMethod | None:
        """Return the method, at the first step of a schedule; None if it is unknown.

        A log may come from someone else, so nothing that it names is imported: the user's own
        method is unknown here.

        Args:
            set_size: Another K, for a method that has one.
        """
        make = methods.by_name.get(str(self.config.get("method")))
        if make is None:
            return None
        read = signature(make).parameters
        own = {} if set_size is None or "set_size" not in read else {"set_size": set_size}
        try:
            given = {key: _first(value) for key, value in self.config.items() if key in read} | own
            return method_config.from_config({"method": self.config["method"], **given})
        except (ValueError, TypeError):  # of another version
            return None


def _first(value: Any) -> Any:
    """Return an argument, of a schedule its first value.

    Raises:
        ValueError: If it may name something to import.
    """
    if isinstance(value, Mapping) and "first" in value:
        value = value["first"]
    if isinstance(value, str) and value.isidentifier():
        return value
    if isinstance(value, int | float | None):
        return value
    if isinstance(value, list) and all(isinstance(one, int | float) for one in value):
        return value
    raise ValueError(f"an argument must be a name or a number, got {value!r}")
