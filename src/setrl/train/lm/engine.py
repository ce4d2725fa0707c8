"""The key `engine` of a comparison: which server trains, and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_type_hints

from setrl.support.files.strict_yaml import KeyedError
from setrl.support.files.typed import typed
from setrl.train.lm import fields
from setrl.train.runs.config import refuse_unknown, require

if TYPE_CHECKING:
    from setrl.train.lm.config import ComparisonConfig

Loss = Literal["importance_sampling", "ppo", "cispo"]

# Keys of a comparison that a server does not know, and the only value that is the same for it.
NO_EFFECT: Mapping[str, Any] = {
    "num_iterations": 1,
    "micro_batch_size": None,
    "loss_type": "dr_grpo",
    "peft": None,
    "trainer": {},
    "dtype": "float32",
    "adam_moments": False,
}


@dataclass(frozen=True)
class EngineSpec:
    """A server of the Tinker protocol.

    Attributes:
        tinker: Its URL, such as http://127.0.0.1:8000.
        rank: Rank of the adapter that it trains.
        staleness: By how many steps the weights that write a batch may be older than those that it
            trains; with 1 the next batch is judged while this one is trained.
        loss: Its loss; `ppo` and `cispo` clip as `epsilon` and `epsilon_high` say.
        keep: How many saved weights of one arm and seed stay on the server, at least 1; None:
            all.
        reply_s: Seconds to wait for one answer.
        patience_s: Seconds to try again for when it does not answer.
    """

    tinker: str
    rank: int = 32
    staleness: int = 0
    loss: Loss = "importance_sampling"
    keep: int | None = 2
    reply_s: float = 600.0
    patience_s: float = 900.0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the engine that a config describes.

        Raises:
            KeyedError: Naming the key.
        """
        refuse_unknown(values, [one.name for one in dataclasses.fields(cls)], "engine")
        if "tinker" not in values:
            raise KeyedError("engine needs the key 'tinker', the URL of a server", "engine")
        hints = get_type_hints(cls)
        try:
            own = cls(**{key: typed(key, value, hints[key]) for key, value in values.items()})
        except (TypeError, ValueError) as error:
            raise KeyedError(f"engine: {error}", "engine") from error
        is_url = own.tinker.startswith(("http://", "https://"))
        require(is_url, "engine.tinker", "be a URL such as http://127.0.0.1:8000", own.tinker)
        require(own.rank >= 1, "engine.rank", "be at least 1", own.rank)
        require(own.staleness >= 0, "engine.staleness", "be at least 0", own.staleness)
        require(own.loss in get_args(Loss), "engine.loss", f"be of {get_args(Loss)}", own.loss)
        require(own.keep is None or own.keep >= 1, "engine.keep", "be at least 1", own.keep)
        for key in ("reply_s", "patience_s"):
            require(getattr(own, key) > 0, f"engine.{key}", "be above 0", getattr(own, key))
        return own


def check_engine(config: ComparisonConfig) -> None:
    """Refuse keys that a server would not follow.

    Raises:
        KeyedError: Naming the key.
    """
    if config.engine is None:
        return
    EngineSpec.of(config.engine)
    require(config.model is not None, "model", "name the model of the server", config.model)
    for key, usual in NO_EFFECT.items():
        value = getattr(config, key)
        require(value == usual, key, f"be {usual!r} with the key `engine`", value)
    for name, source in config.fields.items():
        must = "be a function or a column with the key `engine`"
        require(source != fields.MEAN_LOGPROB, f"fields.{name}", must, source)
