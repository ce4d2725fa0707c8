"""A model of a server: it draws samples for training, and for evaluation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from transformers import GenerationConfig

from setrl.models.generators import Ask, Completion, problem_seed
from setrl.models.local import load_tokenizer
from setrl.models.small.sampler import end_ids
from setrl.samples.values import LENGTH
from setrl.support import files
from setrl.support.errors import RunError
from setrl.tasks import PromptForm
from setrl.train.lm.config import EngineSpec
from setrl.train.lm.resolved import ResolvedConfig

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from setrl.train.tinker.server import TinkerSampler

SAVED = "server.json"  # in the folder `final`: what the server calls the last weights


@dataclass(frozen=True)
class ServedPolicy:
    """A model of a server as a generator of samples for evaluation.

    Attributes:
        engine: The server.
        model: The name of the model that arms start from.
        form: How the model sees a prompt.
        temperature: Divides the logits.
        max_tokens: The length in tokens at which a sample is cut.
        path: What the server calls the weights; None for the model that arms start from.
        connect: Makes a client; None: a client of the server's URL.
    """

    engine: EngineSpec
    model: str
    form: PromptForm
    temperature: float
    max_tokens: int
    path: str | None = None
    connect: Callable[[], Any] | None = None

    @classmethod
    def of(cls, resolved: ResolvedConfig, final: Path | None = None) -> Self:
        """Return the model whose record lies in the folder `final`; None: where arms start from."""
        assert resolved.engine is not None
        return cls(
            resolved.engine,
            str(resolved.config.model),
            resolved.form,
            resolved.config.temperature,
            resolved.sample_tokens,
            None if final is None else str(files.read_json(final / SAVED)["state"]),
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on."""
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}

    @property
    def weights(self) -> str:
        """What the server calls the weights."""
        return self.path or self.model

    @cached_property
    def _tokenizer(self) -> PreTrainedTokenizerBase:
        return load_tokenizer(self.model)

    @property
    def is_chat(self) -> bool:
        """Whether the model gets messages."""
        return self.form.is_chat(self._tokenizer)

    @cached_property
    def _end_tokens(self) -> tuple[int, ...]:
        """The tokens that end a sample: those that the model names, and its tokenizer's."""
        end_tokens = []
        with contextlib.suppress(OSError):  # a folder may hold only a tokenizer
            end_tokens = end_ids(GenerationConfig.from_pretrained(self.model))
        return tuple(dict.fromkeys([int(self._tokenizer.eos_token_id), *end_tokens]))

    def sampler(self, client: Any) -> TinkerSampler:
        """Return what draws samples through a sampling client of the server."""
        from setrl.train.tinker.server import TinkerSampler

        options = (self.max_tokens, self._end_tokens, self.temperature, self.engine.reply_s)
        return TinkerSampler(client, *options)

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Completion]:
        """Draw the samples of each problem in turn.

        Raises:
            RunError: If the server fails; what was drawn is kept.
        """
        from setrl.train.tinker.server import LostError

        try:
            with self._connect_sampler() as source:
                for ask in asks:
                    yield from self._draw_samples(source, ask, seed)
        except LostError as error:
            raise RunError(f"{self.engine.tinker}: {error}; what was drawn is kept") from error

    def _draw_samples(self, source: TinkerSampler, ask: Ask, seed: int) -> Iterator[Completion]:
        prompt = self.form.token_ids(ask.prompt, self._tokenizer)
        [samples] = source.sample([prompt], ask.n, [problem_seed(seed, ask.problem) >> 1])
        texts = self._tokenizer.batch_decode(samples.tokens_N, skip_special_tokens=True)
        for number in ask.numbers:
            finish = LENGTH if samples.cut_N[number] else "stop"
            yield Completion(ask.problem, number, texts[number], finish)

    @contextlib.contextmanager
    def _connect_sampler(self) -> Iterator[TinkerSampler]:
        from setrl.train.tinker.cleanup import sampling_client
        from setrl.train.tinker.server import may_be_lost

        with contextlib.ExitStack() as stack:
            with may_be_lost(f"sampling from {self.path or self.model}"):
                client = (self.connect or client_maker(self.engine.tinker))()
                drawing = sampling_client(client, self.model, self.path, self.engine.reply_s)
                source = stack.enter_context(drawing)
            yield self.sampler(source)


def client_maker(url: str) -> Callable[[], Any]:
    """Return what makes a client of a server; each call makes a new client."""
    from setrl.train.tinker.server import connect_to

    return lambda: connect_to(url)
