"""The key `engine` of a comparison: which server trains, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge

from setrl.support.files.sections import Count, Positive, Section, require

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
class EngineSpec(Section):
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
    rank: Count = 32
    staleness: Annotated[int, Ge(0)] = 0
    loss: Loss = "importance_sampling"
    keep: Count | None = 2
    reply_s: Positive = 600.0
    patience_s: Positive = 900.0

    def __post_init__(self) -> None:
        super().__post_init__()
        is_url = self.tinker.startswith(("http://", "https://"))
        require(is_url, "engine.tinker", "be a URL such as http://127.0.0.1:8000", self.tinker)
