"""`python -m studies.text_vines --out-dir FOLDER`: vines inside a language model's generation.

The Set RL note (§6.1) samples vines from states in the middle of an episode. In text, a state is
a prompt with the first tokens of a sample. At equal numbers of samples, each prompt gets either N
samples, or N − V + 1 samples, and one sample is a *trunk*: at a token of the trunk, V − 1 further
continuations are sampled, and the V continuations are a separate group, which credits the
tokens after the branch. Tokens before it get the credit of the whole sample. The token is drawn
uniformly, or with a chance that is proportional to the policy's entropy there.

Everything else is the loop of recipes/poly_epo_loop.py: plain REINFORCE, one update a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from setrl import mean_set_scores, methods, objectives, set_advantages
from setrl.core.method import AnyMethod
from setrl.evaluate import pass_at_k
from setrl.models.small.sampler import sample_ids
from setrl.support.files.progress import progress_bar
from setrl.tasks.domains import Domain, by_name
from setrl.tasks.domains.verifier import strategy_label
from setrl.train.lm.base_model import base_model
from setrl.train.lm.base_spec import BaseSpec
from studies.summaries import mean_interval, write_numbers

Ids = list[int]


@dataclass(frozen=True)
class Arm:
    """What credits whole samples, and what credits vines.

    Attributes:
        whole: The method of whole samples.
        vines: The method of continuations; None for an arm without vines.
        unsure: Whether a branch is likelier where the policy's entropy is higher.
    """

    whole: AnyMethod
    vines: AnyMethod | None = None
    unsure: bool = False


ARMS = {
    "rloo": Arm(methods.rloo()),
    "rloo, vines": Arm(methods.rloo(), methods.rloo()),
    "poly_epo": Arm(methods.poly_epo(set_size=4)),
    "poly_epo, vines": Arm(methods.poly_epo(set_size=4), methods.poly_epo(set_size=4)),
    "poly_epo, vines of rloo": Arm(methods.poly_epo(set_size=4), methods.rloo()),
    "poly_epo, unsure vines": Arm(
        methods.poly_epo(set_size=4), methods.poly_epo(set_size=4), unsure=True
    ),
}


@dataclass(frozen=True)
class VinesConfig:
    """Sizes of the study; the defaults take about twenty minutes on one core.

    On `quadratic` an arm with one seed takes 100 seconds, and the base five minutes.

    Attributes:
        domain: The domain.
        steps: Updates.
        prompts: Of each update.
        samples: N, the new samples of each prompt and update.
        vines: V, the continuations of one trunk of each prompt, with its own.
        learning_rate: Of AdamW.
        seeds: Runs of each arm; they share a base.
        problems: Of each evaluation, with `evaluated` samples each.
        evaluated: At least 32.
        train_problems: Seen again and again; None for new ones at every update.
        base_layers: Of the base, as in a recipe.
        base_mlp_size: Of the base.
        base_corpus: Of the base.
        arms: Names of `ARMS`.
    """

    domain: str = "polynomial"
    steps: int = 100
    prompts: int = 16
    samples: int = 16
    vines: int = 8
    learning_rate: float = 1e-3
    seeds: int = 3
    problems: int = 60
    evaluated: int = 64
    train_problems: int | None = None
    base_layers: int = 2
    base_mlp_size: int = 256
    base_corpus: int = 80_000
    arms: tuple[str, ...] = tuple(ARMS)

    @property
    def base(self) -> BaseSpec:
        """What decides the base model."""
        sizes = {"layers": self.base_layers, "mlp_size": self.base_mlp_size}
        return BaseSpec(by_name(self.domain), **sizes, corpus=self.base_corpus)

    def training_prompts(self, seed: int) -> list[list[str]]:
        """Return the prompts of each update."""
        number = self.steps * self.prompts
        problems = by_name(self.domain).problems("train", self.train_problems or number, seed)
        endless = cycle(problem.prompt for problem in problems)
        return [list(islice(endless, self.prompts)) for _ in range(self.steps)]


@dataclass(frozen=True)
class Target:
    """Tokens whose log-likelihood is trained.

    Attributes:
        context: What stands before them.
        ids: The tokens.
        weight: Their advantage.
    """

    context: Ids
    ids: Ids
    weight: float


def credit(
    domain: Domain, tokenizer: Any, prompt: str, samples: Sequence[Ids], method: AnyMethod
) -> list[float]:
    """Return the advantages of complete samples of one prompt."""
    texts = tokenizer.batch_decode(list(samples), skip_special_tokens=True)
    readings = [domain.read(prompt, text) for text in texts]
    rewards_BN = np.array([[float(one.correct is True) for one in readings]])
    strategies_BN = np.array([[strategy_label(one.strategy) for one in readings]])
    found = set_advantages(rewards_BN, method, strategies=strategies_BN)
    return found.values_BN[0].tolist()


def branch_of(
    samples: Sequence[Ids],
    rng: np.random.Generator,
    entropies: Callable[[Ids], np.ndarray] | None = None,
) -> tuple[int, int] | None:
    """Draw a trunk among samples of three tokens or more, and the number of tokens it keeps.

    With `entropies`, of the next token at each place of a sample, places are drawn in proportion.
    """
    long = [place for place, ids in enumerate(samples) if len(ids) >= 3]
    if not long:
        return None
    trunk = long[int(rng.integers(len(long)))]
    if entropies is None:
        return trunk, int(rng.integers(1, len(samples[trunk]) - 1))
    chances = entropies(samples[trunk])[1:-1].astype(float) + 1e-9
    return trunk, 1 + int(rng.choice(len(chances), p=chances / chances.sum()))


def targets_of(prompt_ids: Ids, samples: Sequence[Ids], weights: Sequence[float]) -> list[Target]:
    """Return a target for each whole sample."""
    return [Target(prompt_ids, ids, one) for ids, one in zip(samples, weights, strict=True)]


def log_likelihoods(model: Any, targets: Sequence[Target], pad: int) -> Tensor:
    """log π(ids | context) of each target, (targets,)."""
    rows = [torch.tensor(one.context + one.ids) for one in targets]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
    lengths = torch.tensor([len(row) for row in rows])[:, None]
    starts = torch.tensor([len(one.context) for one in targets])[:, None]
    places = torch.arange(ids.shape[1])[None]
    logits = model(ids, attention_mask=(places < lengths).long()).logits[:, :-1]
    each = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    counted = (places[:, 1:] >= starts) & (places[:, 1:] < lengths)
    return (each * counted).sum(-1)


def entropies_of(model: Any, context: Ids, ids: Ids) -> np.ndarray:
    """Return the policy's entropy before each token that follows the context."""
    with torch.inference_mode():
        logits = model(torch.tensor([context + ids])).logits[0, len(context) - 1 : -1]
        return torch.distributions.Categorical(logits=logits).entropy().numpy()


@dataclass(eq=False)
class Training:
    """One run of an arm.

    Attributes:
        config: The sizes.
        arm: What credits samples.
        model: The policy, which is trained.
        tokenizer: Its tokenizer.
        seed: Of sampling and of branches.
    """

    config: VinesConfig
    arm: Arm
    model: Any
    tokenizer: Any
    seed: int

    def __post_init__(self) -> None:
        self.domain = by_name(self.config.domain)
        self.rng = np.random.default_rng(self.seed)
        self.generator = torch.Generator().manual_seed(self.seed)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.config.learning_rate)
        self.tokens = 0  # sampled in training

    def ids(self, prompts: Sequence[str]) -> list[Ids]:
        """Return the tokens of prompts."""
        return [self.tokenizer(one, add_special_tokens=False)["input_ids"] for one in prompts]

    def sampled(self, contexts: Sequence[Ids], n: int) -> list[list[Ids]]:
        """Return n continuations of each context."""
        most = self.domain.max_new_tokens
        found = sample_ids(self.model, contexts, n, most, 1.0, self.generator)
        self.tokens += sum(len(ids) for group in found for ids in group)
        return found

    def branch(self, context: Ids, samples: Sequence[Ids]) -> tuple[int, int] | None:
        """Draw the branch of one prompt."""
        unsure = partial(entropies_of, self.model, context) if self.arm.unsure else None
        return branch_of(samples, self.rng, unsure)

    def targets(self, prompts: Sequence[str]) -> list[Target]:
        """Sample and credit one batch."""
        contexts, arm, size = self.ids(prompts), self.arm, self.config
        extra = size.vines - 1 if arm.vines else 0
        groups = self.sampled(contexts, size.samples - extra)
        branches = [
            self.branch(context, group) if extra else None
            for context, group in zip(contexts, groups, strict=True)
        ]
        starts = [
            context + group[branch[0]][: branch[1]]
            for context, group, branch in zip(contexts, groups, branches, strict=True)
            if branch
        ]
        grown = iter(self.sampled(starts, extra) if starts else [])
        found = []
        for prompt, context, group, branch in zip(prompts, contexts, groups, branches, strict=True):
            weights = credit(self.domain, self.tokenizer, prompt, group, arm.whole)
            own = targets_of(context, group, weights)
            if branch and arm.vines:
                trunk, kept = branch
                stem, ends = group[trunk][:kept], [group[trunk][kept:], *next(grown)]
                whole = [stem + end for end in ends]
                values = credit(self.domain, self.tokenizer, prompt, whole, arm.vines)
                own[trunk] = Target(context, stem, weights[trunk])
                own += targets_of(context + stem, ends, values)
            found += own
        return found

    def step(self, prompts: Sequence[str]) -> None:
        """Do one update: the gradient of −Σ weight·log π / (prompts × N)."""
        targets = [one for one in self.targets(prompts) if one.weight]
        if not targets:
            return
        weights = torch.tensor([one.weight for one in targets])
        pad = self.tokenizer.pad_token_id
        total = (weights * log_likelihoods(self.model, targets, pad)).sum()
        self.optimizer.zero_grad()
        (-total / (len(prompts) * self.config.samples)).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def run(self) -> None:
        """Train."""
        for prompts in self.config.training_prompts(self.seed):
            self.step(prompts)

    def measures(self) -> dict[str, float]:
        """Return pass@1, pass@32 and right strategies in 32 samples, of both splits; and tokens."""
        found = {"sampled tokens": float(self.tokens)}
        for split in ("test", "shifted"):
            problems = self.domain.problems(split, self.config.problems, seed=2)
            prompts, n = [one.prompt for one in problems], self.config.evaluated
            generator = torch.Generator().manual_seed(3)
            most = self.domain.max_new_tokens
            groups = sample_ids(self.model, self.ids(prompts), n, most, 1.0, generator)
            readings = [
                [self.domain.read(prompt, text) for text in self._texts(group)]
                for prompt, group in zip(prompts, groups, strict=True)
            ]
            right_Pn = np.array([[one.correct for one in row] for row in readings])
            labels_Pn = np.array(
                [[strategy_label(one.strategy) for one in row] for row in readings]
            )
            kinds = mean_set_scores(
                right_Pn, objectives.distinct_correct(), [32], strategies=labels_Pn
            )
            found[f"{split} pass@1"] = float(right_Pn.mean())
            found[f"{split} pass@32"] = float(pass_at_k(right_Pn.sum(1), n, 32).mean())
            found[f"{split} strategies"] = float(kinds.mean())
        return found

    def _texts(self, group: Sequence[Ids]) -> list[str]:
        texts: list[str] = self.tokenizer.batch_decode(list(group), skip_special_tokens=True)
        return texts


def run(out_dir: Path, config: VinesConfig = VinesConfig(), cache: Path = Path("cache")) -> Path:
    """Train all arms from one base; write text_vines_DOMAIN.json after each run.

    Args:
        out_dir: The folder for its numbers.
        config: The sizes.
        cache: Where base models are kept.
    """
    torch.set_num_threads(1)
    folder = base_model(config.base, cache)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found: dict[str, list[dict[str, float]]] = {}
    jobs = [("base", Arm(methods.rloo()), 0)]
    jobs += [(name, ARMS[name], seed) for seed in range(config.seeds) for name in config.arms]
    for name, arm, seed in progress_bar(True, iterable=jobs, desc="runs"):
        model = AutoModelForCausalLM.from_pretrained(folder)
        training = Training(config, arm, model, tokenizer, seed)
        if name != "base":
            training.run()
        found.setdefault(name, []).append(training.measures())
        file = f"text_vines_{config.domain}.json"
        path = write_numbers(out_dir / file, config, arms=summary(found))
    return path


def _range(measure: str) -> tuple[float, float]:
    """Return from where to where a measure goes: pass@k is a share, the others are counted."""
    return (0.0, 1.0) if "pass@" in measure else (0.0, np.inf)


def summary(found: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return each arm's measures: one number, or a mean with its interval over seeds."""
    return {
        name: {
            key: mean_interval([one[key] for one in runs], _range(key)).as_lists()
            if len(runs) > 1
            else round(runs[0][key], 4)
            for key in runs[0]
        }
        for name, runs in found.items()
    }


if __name__ == "__main__":
    tyro.cli(run)
