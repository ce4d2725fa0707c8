"""A small judge made from scratch: a Qwen3 that learns a domain's own reader of strategies.

    python -m recipes.trained_judge.judge judges/polynomial   # in the clone; 13 minutes of a core

It is asked in the style `compact` (`setrl.judges.rendering`) and can be served by anything that
serves a transformers model: a real judge behind a real server, without a download. Its reply names
the strategy of each sample in turn, and then gives the answer that every judge gives:

    <think>
    #1
    x=3 1
    #2
    x=0 2
    #3
    x=3 1</think>{"clusters":[1,
    2,
    1]}

A strategy has the number of its first sample. So each token needs one look back: at a sample, at
an earlier sample with that name, or at the thought about the same sample a fixed distance ago. Two
layers learn that in minutes. The answer alone needs all three at once, and was not learned in the
same time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from setrl.judges import Group
from setrl.judges.oracle import OracleJudge
from setrl.judges.rendering import NO_STRATEGY, render, shuffled_order
from setrl.models.small import HEAD_DIM
from setrl.models.small.imitation import Course, TextExample, taught_model
from setrl.models.small.tokenizer import make_tokenizer
from setrl.support import files
from setrl.support.errors import RunError
from setrl.tasks.domains import Domain, Problem, by_name

SplitText = Callable[[str], list[str]]

TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
NO_NAME = "?"  # the name of the strategy of a sample that has none
POOL = 64  # samples are written for a problem, and the group is sampled from them
BROKEN = 0.03  # share of samples that are cut short, as policies break off


@dataclass(frozen=True)
class JudgeModelConfig:
    """What decides a small judge.

    Attributes:
        domain: Whose samples it judges, and whose reader it learns.
        most_samples: N, the samples of the largest group that it can judge.
        groups: Groups that it learns from.
        hidden_size: Width, a multiple of 64.
        layers: Layers.
        batch_size: Groups an update.
        learning_rate: Largest step size of Muon.
        seed: The seed of the groups, the first weights and the order.

    Raises:
        ValueError: If a size is out of range.
    """

    domain: Domain
    most_samples: int = 16
    groups: int = 50_000
    hidden_size: int = 128
    layers: int = 3
    batch_size: int = 64
    learning_rate: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("most_samples", "groups", "layers", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.hidden_size < 1 or self.hidden_size % HEAD_DIM:
            raise ValueError(
                f"hidden_size must be a multiple of {HEAD_DIM}, got {self.hidden_size}"
            )


def train_judge(config: JudgeModelConfig, folder: Path, show_progress: bool = True) -> Path:
    """Train a judge and save it with its tokenizer and chat template, completely or not at all."""
    if folder.exists():
        raise RunError(f"{folder} exists already: give another folder, or remove it")
    with files.writing_folder(folder) as partial:  # before the work: it may not be writable
        examples, tokenizer = judge_examples(config)
        sizes = config.hidden_size, 2 * config.hidden_size, config.layers
        course = Course(1, config.batch_size, config.learning_rate, config.seed)
        model = taught_model(tokenizer, sizes, examples, course, "judge", show_progress)
        model.generation_config.do_sample = False
        model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
    return folder


def judge_tokenizer(
    domain: Domain, most_samples: int, strategies: Iterable[str]
) -> PreTrainedTokenizerFast:
    """Return a tokenizer of the domain's vocabulary, the marks of samples and parts of replies."""
    numbers = [str(number) for number in range(NO_STRATEGY, most_samples + 1)]
    marks = [f"\n#{number}\n" for number in range(1, most_samples + 1)]
    names = [f"{name} " for name in [NO_NAME, *strategies]]
    replies = ["<think>", "</think>", '{"clusters":[', "]}", ",", "\n", *names, *numbers]
    tokenizer = make_tokenizer(list(dict.fromkeys([*domain.vocabulary, *marks, *replies])))
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def judge_examples(
    config: JudgeModelConfig,
) -> tuple[list[TextExample], PreTrainedTokenizerFast]:
    """Return requests with correct replies in token ids, and a tokenizer of their strategies."""
    rng = np.random.default_rng(config.seed)
    split = make_tokenizer(config.domain.vocabulary).tokenize
    groups = [
        sample_group(config.domain, config.most_samples, rng, split) for _ in range(config.groups)
    ]
    names = [one.names_N or () for one in OracleJudge(config.domain).judge(groups)]
    known = sorted({name for row in names for name in row if name is not None})
    tokenizer = judge_tokenizer(config.domain, config.most_samples, known)
    examples = []
    for number, (group, row) in enumerate(zip(groups, names, strict=True)):
        order = shuffled_order(group, number)
        messages = render(group, "compact", order)
        prompt = tokenizer.apply_chat_template(messages, tokenize=False)
        reply = tokenizer(correct_reply([row[index] for index in order]))["input_ids"]
        examples.append(
            TextExample(tokenizer(prompt)["input_ids"], [*reply, tokenizer.eos_token_id])
        )
    return examples, tokenizer


def correct_reply(names: Sequence[str | None]) -> str:
    r"""Return the reply of a perfect judge to samples of these strategies; None: no strategy.

    >>> correct_reply(["x=3", None])
    '<think>\n#1\nx=3 1\n#2\n? 0</think>{"clusters":[1,\n0]}'
    """
    numbers = [NO_STRATEGY if name is None else names.index(name) + 1 for name in names]
    thoughts = [
        f"\n#{place}\n{name or NO_NAME} {number}"
        for place, (name, number) in enumerate(zip(names, numbers, strict=True), start=1)
    ]
    answer = ",\n".join(map(str, numbers))
    return f'<think>{"".join(thoughts)}</think>{{"clusters":[{answer}]}}'


def sample_group(
    domain: Domain, most_samples: int, rng: np.random.Generator, split: SplitText
) -> Group:
    """Draw a problem with samples of one strategy, of many, and broken ones, as policies write.

    Most groups have `most_samples` samples. The weights of the strategies come from Dirichlet
    distributions of all concentrations, because training moves a policy through them.
    `split` divides a string into tokens; a sample may break off between two of them.
    """
    problem = domain.corpus_problem(rng)
    count = most_samples if rng.random() < 0.8 else int(rng.integers(2, most_samples + 1))
    pool = _by_strategy(domain, problem, rng)
    concentration = 10 ** rng.uniform(-1.5, 1)
    weights = rng.dirichlet(np.full(len(pool), concentration))
    chosen = rng.choice(len(pool), size=count, p=weights)
    texts = [str(rng.choice(pool[index])) for index in chosen]
    return Group.of_texts(problem.prompt, tuple(_maybe_broken(text, rng, split) for text in texts))


def _by_strategy(domain: Domain, problem: Problem, rng: np.random.Generator) -> list[list[str]]:
    """Return written samples of a problem, a list for each strategy."""
    pool: dict[str | None, list[str]] = {}
    for _ in range(POOL):
        written = domain.write(problem, rng)
        pool.setdefault(written.strategy, []).append(written.text)
    return list(pool.values())


def _maybe_broken(text: str, rng: np.random.Generator, split: SplitText) -> str:
    tokens = split(text)
    if rng.random() >= BROKEN or len(tokens) < 2:
        return text
    return "".join(tokens[: int(rng.integers(1, len(tokens)))])


def main() -> None:
    """Train a judge of a domain into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="the folder of the model; it must not exist yet")
    parser.add_argument("--domain", default="polynomial", help="whose strategies it learns")
    given = parser.parse_args()
    print(train_judge(JudgeModelConfig(by_name(given.domain)), given.output))


if __name__ == "__main__":
    main()
