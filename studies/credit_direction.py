"""`python -m studies.credit_direction FOLDER`: why does credit without a baseline do better?

At a policy that stands still, every batch of a recipe gives each method a gradient

    g = Σᵢ Aᵢ ∇ log π(yᵢ)

of the same samples. Two things decide what a method makes of them. *Noise*: the mean of g over
batches against its spread. *Direction*: where a step along the mean leads. On fresh samples, with
Dᵢ = ∇ log π(yᵢ) · d for a direction d, the success J and the share p of a strategy c change by

    dJ_c = E[1{right, c}·D],   dp_c = E[1{c}·D],   dq_c = (dJ_c − q_c·dp_c) / p_c,   q_c = J_c / p_c

so that d pass@1 = Σ_c p_c·dq_c + Σ_c q_c·dp_c: strategies get better, or the better ones are chosen
more often. Steps are compared at the same size E[D²] = 1, which is twice their KL divergence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from matplotlib.figure import Figure
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from setrl import DEGENERATE, AnyMethod, methods
from setrl.logs.run import Seed
from setrl.models.local import load_tokenizer, load_weights, one_thread
from setrl.models.small.imitation import IGNORED, TextExample, collate
from setrl.models.small.sampler import sample_ids
from setrl.samples.values import Label
from setrl.show.report.style import BLUE, GREEN, GREY, ORANGE, axes_grid
from setrl.support import files
from setrl.tasks import DomainTask
from setrl.tasks.base import TRAIN
from setrl.tasks.domains import Domain
from setrl.train.lm.base_model import base_model
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.resolved import ResolvedConfig, resolve
from setrl.train.lm.run import quiet_libraries
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from setrl.train.runs.run import cache_folder
from studies import bases

METHODS: dict[str, AnyMethod] = {
    "concave counts, α = 0": methods.concave_counts(0.0),
    "the same, centred": methods.concave_counts(0.0, baseline="all_sets"),
    "Poly-EPO, K = 4": methods.poly_epo(4),
    "GRPO": methods.grpo(),
}
COLOURS = (BLUE, ORANGE, GREEN, GREY)
HALF = "poly_epo"  # the arm that trains the second policy
GRADIENT, ADAM = "gradient", "adam"
DIRECTIONS = {GRADIENT: "along the mean gradient", ADAM: "with Adam's scaling"}
STEP = 1e-3  # of the difference quotient, as a share of the norm of the weights
IN_ALL = 32  # samples in which right strategies are counted


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples of M = B × N, their prompts, and what the domain says of them.

    Attributes:
        tokens: What the model reads, and which tokens are samples.
        right_M: Whether each is right.
        strategies_M: The strategy of each; None where none can be read.
        num_samples: N.
    """

    tokens: dict[str, Tensor]
    right_M: np.ndarray
    strategies_M: np.ndarray
    num_samples: int

    def advantages(self, method: AnyMethod) -> np.ndarray:
        """Return the advantage A of each sample, (M,)."""
        shape = -1, self.num_samples
        numbers = {name: place for place, name in enumerate(dict.fromkeys(self.strategies_M))}
        strategies_M = [-1 if name is None else numbers[name] for name in self.strategies_M]
        found = method.advantages(
            self.right_M.reshape(shape).astype(float),
            strategies=np.reshape(strategies_M, shape),
            rng=0,
        )
        return found.values_BN.reshape(-1)


def draw(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    domain: Domain,
    prompts: Sequence[str],
    n: int,
    seed: int,
) -> Batch:
    """Draw `n` samples of the model for each prompt."""
    prompt_ids = [tokenizer(prompt)["input_ids"] for prompt in prompts]
    generator = torch.Generator().manual_seed(seed)
    ids_BN = sample_ids(model, prompt_ids, n, domain.max_new_tokens + 1, 1.0, generator)
    texts_BN = [tokenizer.batch_decode(ids_N, skip_special_tokens=True) for ids_N in ids_BN]
    readings = [
        domain.read(prompt, text)
        for prompt, texts_N in zip(prompts, texts_BN, strict=True)
        for text in texts_N
    ]
    both = zip(prompt_ids, ids_BN, strict=True)
    examples = [TextExample(asked, ids) for asked, ids_N in both for ids in ids_N]
    return Batch(
        collate(examples, int(tokenizer.pad_token_id)),
        np.array([one.correct for one in readings]),
        np.array([_name(one.strategy) for one in readings], dtype=object),
        n,
    )


def _name(strategy: Label) -> Label:
    return None if strategy == DEGENERATE else strategy


def log_probabilities(model: PreTrainedModel, tokens: Mapping[str, Tensor]) -> Tensor:
    """log π(y) of each sample, (M,)."""
    ids_MT, labels_MT = tokens["input_ids"], tokens["labels"][:, 1:]
    logits = model(input_ids=ids_MT, attention_mask=tokens["attention_mask"]).logits[:, :-1]
    own = logits.log_softmax(-1).gather(-1, labels_MT.clamp(min=0)[..., None])[..., 0]
    return torch.where(labels_MT == IGNORED, 0.0, own).sum(dim=1)


def gradients(model: PreTrainedModel, batch: Batch) -> np.ndarray:
    """Σ A·∇ log π of each method over the same samples, (methods, P), float32."""
    weights = list(model.parameters())
    logps_M = log_probabilities(model, batch.tokens)
    rows = []
    for method in METHODS.values():
        advantages_M = torch.from_numpy(batch.advantages(method)).to(logps_M.dtype)
        own = torch.autograd.grad(logps_M, weights, advantages_M, retain_graph=True)
        rows.append(torch.cat([one.flatten() for one in own]).numpy())
    return np.stack(rows)


@dataclass(frozen=True, eq=False)
class Noise:
    """Mean and spread of one method's gradient, from the products of all pairs of batches.

    Attributes:
        gram_RR: g_a · g_b of R batches.
    """

    gram_RR: np.ndarray

    def signal(self) -> float:
        """‖E g‖², without bias: the mean product of two different batches."""
        return between(self.gram_RR)

    def variance(self) -> float:
        """Return the trace of the covariance of g."""
        return float(np.trace(self.gram_RR) / len(self.gram_RR)) - self.signal()

    def ratio(self) -> float:
        """Return signal over variance, for one batch."""
        return self.signal() / self.variance()


def between(gram_RR: np.ndarray) -> float:
    """Return the mean of g_a · h_b over different batches a ≠ b."""
    count = len(gram_RR)
    return float((gram_RR.sum() - np.trace(gram_RR)) / (count * (count - 1)))


def cosine(both_RR: np.ndarray, one: Noise, other: Noise) -> float:
    """Compare the mean gradients of two methods, from the products of their batches.

    NaN where the batches are too few to tell the length of a mean: its estimate is not above 0.
    """
    signals = one.signal(), other.signal()
    return between(both_RR) / float(np.sqrt(np.prod(signals))) if min(signals) > 0 else np.nan


def jackknife(count: int, statistic: Callable[[np.ndarray], Any]) -> tuple[Any, Any]:
    """Return a statistic of all parts, and its standard error by leaving out one part at a time."""
    everything = np.arange(count)
    left_out = np.array([statistic(np.delete(everything, part)) for part in range(count)])
    spread = (count - 1) / count * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(statistic(everything)), np.sqrt(spread)


def noise_of(gradients_MRP: np.ndarray) -> dict[str, Any]:
    """Return signal-to-noise ratios of all methods and the cosines between their means."""
    names, count = list(METHODS), gradients_MRP.shape[1]
    grams = [[one @ other.T for other in gradients_MRP] for one in gradients_MRP]
    found: dict[str, Any] = {"batches": count, "methods": {}, "cosines": {}}
    for place, (name, own_RP) in enumerate(zip(names, gradients_MRP, strict=True)):
        scaled_RP = own_RP / adam_scale(own_RP)
        found["methods"][name] = {
            GRADIENT: _with_error(count, partial(_ratio_of, grams[place][place])),
            ADAM: _with_error(count, partial(_ratio_of, scaled_RP @ scaled_RP.T)),
        }
        for other in range(place):
            key = f"{names[other]} · {name}"
            found["cosines"][key] = _with_error(count, partial(_cosine_of, grams, other, place))
    return found


def adam_scale(gradients_RP: np.ndarray) -> np.ndarray:
    """√E g² of each weight, (P,), by which Adam divides its step in the long run."""
    return np.asarray(np.sqrt((gradients_RP**2).mean(axis=0)) + 1e-12)


def _ratio_of(gram_RR: np.ndarray, kept: np.ndarray) -> float:
    return Noise(gram_RR[np.ix_(kept, kept)]).ratio()


def _cosine_of(grams: Any, a: int, b: int, kept: np.ndarray) -> float:
    part = np.ix_(kept, kept)
    return cosine(grams[a][b][part], Noise(grams[a][a][part]), Noise(grams[b][b][part]))


def _with_error(count: int, statistic: Callable[[np.ndarray], Any]) -> dict[str, float]:
    value, error = jackknife(count, statistic)
    return {"value": float(value), "stderr": float(error)}


def slopes(model: PreTrainedModel, batch: Batch, direction_P: np.ndarray) -> np.ndarray:
    """D = ∇ log π(y) · d of each sample, (M,), by a central difference in float64.

    The model must be in float64; its weights are as before afterwards.
    """
    weights = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    step = torch.from_numpy(direction_P).to(weights)
    size = STEP * float(weights.norm() / step.norm())
    ends = []
    with torch.no_grad():
        for sign in (1, -1):
            torch.nn.utils.vector_to_parameters(weights + sign * size * step, model.parameters())
            ends.append(log_probabilities(model, batch.tokens).numpy())
        torch.nn.utils.vector_to_parameters(weights, model.parameters())
    return (ends[0] - ends[1]) / (2 * size)


def effects(batch: Batch, slopes_M: np.ndarray, shown: Sequence[str]) -> dict[str, Any]:
    """Measure what a step with E[D²] = 1 changes, with standard errors over prompts.

    Args:
        batch: Fresh samples.
        slopes_M: D of each.
        shown: The strategies whose change of success is given.
    """
    n = batch.num_samples
    right_BN, slope_BN = batch.right_M.reshape(-1, n), slopes_M.reshape(-1, n)
    names_BN = batch.strategies_M.reshape(-1, n)

    def of(kept: np.ndarray) -> np.ndarray:
        right, names = right_BN[kept].ravel(), names_BN[kept].ravel()
        slope = slope_BN[kept].ravel()
        slope = slope / np.sqrt((slope**2).mean())
        changes = [_changes(right, names == name, slope) for name in dict.fromkeys(names)]
        table = np.array(changes)
        own = [_changes(right, names == name, slope)[0] for name in shown]
        return np.array([*table[:, 1:].sum(axis=0), *own])

    value, error = jackknife(len(right_BN), of)
    keys = ["within", "shift", "strategies", *(f"success of {name}" for name in shown)]
    both = zip(keys, value.tolist(), error.tolist(), strict=True)
    return {key: {"value": one, "stderr": spread} for key, one, spread in both}


def _changes(
    right_M: np.ndarray, uses_M: np.ndarray, slope_M: np.ndarray
) -> tuple[float, float, float, float]:
    """Return dq, p·dq, q·dp of a strategy, and the change of its chance in 32 samples."""
    share, success = uses_M.mean(), (uses_M & right_M).mean()
    if share == 0:
        return 0.0, 0.0, 0.0, 0.0
    change_p, change_j = (uses_M * slope_M).mean(), ((uses_M & right_M) * slope_M).mean()
    q = success / share
    within = change_j - q * change_p
    return within / share, within, q * change_p, IN_ALL * (1 - success) ** (IN_ALL - 1) * change_j


@dataclass(frozen=True)
class DirectionConfig:
    """How much is measured.

    Attributes:
        recipe: The domain, the base, B and N.
        batches: Batches whose gradients are taken at each policy.
        probe_prompts: Prompts whose samples show what a step changes.
        probe_samples: Samples of each of them.
        shown: The most frequent strategies, whose change of success is shown.
        half_way: Steps after which the second policy is taken from Poly-EPO's training.
        seed: Decides the prompts and the samples.
    """

    recipe: Path = bases.RECIPES / "polynomial" / "config.yaml"
    batches: int = 32
    probe_prompts: int = 24
    probe_samples: int = 48
    shown: int = 8
    half_way: int = 50
    seed: int = 20


USUAL = DirectionConfig()


def measure(study: DirectionConfig, recipe: ResolvedConfig, folder: Path) -> dict[str, Any]:
    """Measure noise and effects of all methods at one policy."""
    quiet_libraries()
    assert isinstance(recipe.task, DomainTask)
    config, domain, tokenizer = recipe.config, recipe.task.domain, load_tokenizer(folder)
    model = load_weights(folder, "float32").eval()
    count = study.batches * config.prompts_per_step
    problems = domain.problems(TRAIN, count + study.probe_prompts, study.seed)
    prompts = [problem.prompt for problem in problems]
    found_RMP = []
    for number in range(study.batches):
        first = number * config.prompts_per_step
        own = prompts[first : first + config.prompts_per_step]
        batch = draw(model, tokenizer, domain, own, config.samples_per_prompt, 1 + number)
        found_RMP.append(gradients(model, batch))
    gradients_MRP = np.stack(found_RMP, axis=1)
    probe = draw(model, tokenizer, domain, prompts[count:], study.probe_samples, 0)
    return {
        "pass@1": float(probe.right_M.mean()),
        "noise": noise_of(gradients_MRP),
        "effects": _all_effects(study, model.double(), probe, gradients_MRP),
    }


def _all_effects(
    study: DirectionConfig, model: PreTrainedModel, probe: Batch, gradients_MRP: np.ndarray
) -> dict[str, Any]:
    names, counts = np.unique([one for one in probe.strategies_M if one], return_counts=True)
    shown = [str(name) for name in names[np.argsort(-counts)][: study.shown]]
    found: dict[str, Any] = {kind: {} for kind in DIRECTIONS}
    for name, own_RP in zip(METHODS, gradients_MRP, strict=True):
        mean_P = own_RP.mean(axis=0)
        for kind, direction_P in ((GRADIENT, mean_P), (ADAM, mean_P / adam_scale(own_RP))):
            found[kind][name] = effects(probe, slopes(model, probe, direction_P), shown)
    return found


def half_trained(study: DirectionConfig, recipe: ResolvedConfig, base: Path, run: Path) -> Path:
    """Return the checkpoint of a Poly-EPO run after some steps; train it if it is missing."""
    training, stop = Seed(run), Stop()
    folder = training.checkpoint(study.half_way)
    if not folder.exists():

        def on_step(step: int) -> None:
            if step == study.half_way:
                stop.ask()

        train_arm(recipe, HALF, study.seed, base, training, on_step, stop)
    return folder


def figure(found: Mapping[str, Any]) -> Figure:
    """Draw noise, and where a step leads for each strategy, at both policies."""
    count = len(found["policies"])
    drawing, axes = axes_grid(count, 3, 13, 3.6 * count)
    titles = (
        "signal / noise of a batch",
        "an Adam step, points of pass@1",
        "an Adam step, points of success",
    )
    for row, (policy, at) in enumerate(found["policies"].items()):
        own = axes[3 * row : 3 * row + 3]
        _draw_noise(own[0], at["noise"]["methods"])
        _draw_parts(own[1], at["effects"][ADAM])
        _draw_strategies(own[2], at["effects"][ADAM])
        for ax, title in zip(own, titles, strict=True):
            ax.set_title(f"{policy}: {title}", loc="left", fontsize=10)
    handles, labels = axes[2].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return drawing


def _draw_noise(ax: Any, of_methods: Mapping[str, Any]) -> None:
    for shift, kind in ((-0.18, GRADIENT), (0.18, ADAM)):
        values = [one[kind]["value"] for one in of_methods.values()]
        errors = [1.96 * one[kind]["stderr"] for one in of_methods.values()]
        places = np.arange(len(values)) + shift
        fill = "none" if kind == GRADIENT else None
        for place, value, error, colour in zip(places, values, errors, COLOURS, strict=True):
            ax.errorbar(place, value, error, fmt="o", color=colour, mfc=fill)
    ax.set_xticks([])
    ax.set_xlabel("open: gradient · filled: with Adam's scaling")
    ax.set_ylim(bottom=0)


def _draw_parts(ax: Any, of_methods: Mapping[str, Any]) -> None:
    for place, (name, colour) in enumerate(zip(of_methods, COLOURS, strict=True)):
        for shift, part, marker in ((-0.15, "within", "o"), (0.15, "shift", "s")):
            one = of_methods[name][part]
            error = 196 * one["stderr"]
            ax.errorbar(place + shift, 100 * one["value"], error, fmt=marker, color=colour)
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.set_xticks([])
    ax.set_xlabel("●: strategies get better · ■: better strategies more often")


def _draw_strategies(ax: Any, of_methods: Mapping[str, Any]) -> None:
    for name, colour in zip(of_methods, COLOURS, strict=True):
        own = {key: one for key, one in of_methods[name].items() if key.startswith("success of ")}
        labels = [key.removeprefix("success of ") for key in own]
        values = [100 * one["value"] for one in own.values()]
        errors = [196 * one["stderr"] for one in own.values()]
        ax.errorbar(labels, values, errors, fmt="o-", color=colour, label=name, markersize=4)
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.tick_params(axis="x", rotation=35)


def run(out_dir: Path, study: DirectionConfig = USUAL, cache: Path | None = None) -> Path:
    """Measure at the base and at a half-trained policy; write credit_direction.json.

    Args:
        out_dir: Where they are written; the half-trained policy is kept in its folder runs.
        study: How much is measured.
        cache: Folder of base models; by default $SETRL_CACHE, or ~/.cache/setrl.

    Returns:
        The path of the JSON file.
    """
    config = ComparisonConfig.load(study.recipe)
    recipe = resolve(replace(config, arms={HALF: {"method": "poly_epo", "set_size": 4}}))
    assert recipe.base is not None
    base = base_model(recipe.base, cache_folder(cache))
    half = half_trained(study, recipe, base, out_dir / "runs" / "credit_direction")
    folders = {"base": base, f"after {study.half_way} steps": half}
    with one_thread():
        policies = {name: measure(study, recipe, folder) for name, folder in folders.items()}
    numbers = {**vars(study), "recipe": config.name}
    found = {"schema_version": 1, "study": numbers, "policies": policies}
    path = out_dir / "credit_direction.json"
    files.write_json(path, files.plain_json(found))
    return path


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
