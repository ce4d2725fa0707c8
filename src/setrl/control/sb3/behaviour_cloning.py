"""Behaviour cloning: a policy imitates demonstrations before it is trained.

    loss = −mean log π(a|s) − entropy_coef · mean H(π(·|s))

On four fifths of the demonstrated episodes; the loss on the others says when to stop
(arXiv:2509.25424, App. A). A policy with a memory is unrolled along whole episodes.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from setrl import files
from setrl.control.sb3.recurrent import GRUPolicy
from setrl.control.sb3.update import entropy_loss

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.tasks.base import Task

PATIENCE = 5  # epochs without a better loss on held-out episodes
STREAM = 0xBC  # of the seeds that decide demonstrations and batches


@dataclass(frozen=True)
class Demonstrations:
    """Steps of an expert, episode after episode.

    Attributes:
        observations: (T, …), or a mapping of such arrays, as the environment gives them.
        actions: (T, …).
        episodes: (T,) the episode that each step belongs to, ascending; held-out steps are those
            of whole episodes.
    """

    observations: Any
    actions: np.ndarray
    episodes: np.ndarray


def clone(
    model: BaseAlgorithm,
    demonstrations: Demonstrations,
    rng: np.random.Generator,
    *,
    entropy_coef: float = 0.01,
    learning_rate: float = 1e-3,
    batch_size: int = 256,
    epochs: int = 40,
) -> dict[str, float]:
    """Teach the model's policy the demonstrations; it ends with its best weights.

    Args:
        model: Its policy is changed, its optimizer is not.
        demonstrations: What to imitate.
        rng: Decides the held-out fifth and the batches.
        entropy_coef: Weight of the entropy bonus; the paper's .01.
        learning_rate: Step size of Adam.
        batch_size: Steps an update; a little more for policies with a memory, whose episodes stay
            whole.
        epochs: At most so many passes; fewer once the held-out loss has not fallen for 5.

    Returns:
        The best held-out loss, in nats, and the epochs that it took.
    """
    policy, steps = model.policy, len(demonstrations.actions)
    held_out = _held_out(demonstrations.episodes, rng)
    learnt, kept = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)
    best_loss, best_epoch, best_weights = np.inf, 0, copy.deepcopy(policy.state_dict())
    for epoch in range(1, epochs + 1):
        policy.set_training_mode(True)
        for batch in _batches(policy, demonstrations, learnt, batch_size, rng):
            optimizer.zero_grad()
            _loss(policy, demonstrations, batch, entropy_coef).backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
        policy.set_training_mode(False)
        with torch.no_grad():
            loss = float(_loss(policy, demonstrations, kept, entropy_coef))
        if loss < best_loss:
            best_loss, best_epoch, best_weights = loss, epoch, copy.deepcopy(policy.state_dict())
        elif epoch - best_epoch >= PATIENCE:
            break
    policy.load_state_dict(best_weights)
    return {"steps": float(steps), "held_out_loss": best_loss, "epochs": float(best_epoch)}


def _held_out(episodes_T: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which steps belong to a random fifth of the episodes, at least one."""
    names = np.unique(episodes_T)
    if len(names) < 2:
        raise ValueError(f"behaviour cloning needs at least 2 episodes, got {len(names)}")
    return np.isin(episodes_T, rng.permutation(names)[: max(len(names) // 5, 1)])


def _batches(
    policy: Any, shown: Demonstrations, steps: np.ndarray, batch_size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """All steps in random order, or, for a policy with a memory, all episodes."""
    if not isinstance(policy, GRUPolicy):
        yield from np.array_split(rng.permutation(steps), -(-len(steps) // batch_size))
        return
    episodes = _by_episode(shown, steps)
    batch: list[np.ndarray] = []
    for place in rng.permutation(len(episodes)):
        batch.append(episodes[place])
        if sum(map(len, batch)) >= batch_size:
            yield np.concatenate(batch)
            batch = []
    if batch:
        yield np.concatenate(batch)


def _loss(policy: Any, shown: Demonstrations, steps: np.ndarray, entropy_coef: float) -> Any:
    seen = shown.observations
    chosen = {k: v[steps] for k, v in seen.items()} if isinstance(seen, dict) else seen[steps]
    observations, _ = policy.obs_to_tensor(chosen)
    actions = torch.as_tensor(shown.actions[steps], device=policy.device)
    if isinstance(policy, GRUPolicy):
        lengths = [len(episode) for episode in _by_episode(shown, steps)]
        nothing = torch.zeros(len(lengths), policy.hidden_size, device=policy.device)
        _, log_prob, entropy = policy.evaluate_pieces(observations, actions, nothing, lengths)
    else:
        _, log_prob, entropy = policy.evaluate_actions(observations, actions)
    return -log_prob.mean() + entropy_coef * entropy_loss(entropy, log_prob)


def _by_episode(shown: Demonstrations, steps: np.ndarray) -> list[np.ndarray]:
    """Steps of whole episodes, an array each."""
    return np.split(steps, np.flatnonzero(np.diff(shown.episodes[steps])) + 1)


def warm_start(model: BaseAlgorithm, task: Task, cache: Path, seed: int = 0) -> Path | None:
    """Pretrain a model's policy as its task says, or load what an earlier call has pretrained.

    The file's name is a hash of all that decides the weights: the task, its source, the policy
    and its first weights' seed. The same seed gives every arm the same start.

    Returns:
        The folder of the weights, `policy.pt` and `pretrain.json`; None for a task without
        pretraining.
    """
    if task.pretrain is None:
        return None
    about = _describe(model, task, seed)
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache / f"policy-{task.name}-{digest}"
    if not folder.exists():
        found = _pretrained(model, task, seed)
        with files.writing_folder(folder) as partial:
            torch.save(model.policy.state_dict(), partial / "policy.pt")
            files.write_json(partial / "pretrain.json", {**about, "found": dict(found)})
    model.policy.load_state_dict(torch.load(folder / "policy.pt", weights_only=True))
    return folder


def _pretrained(model: BaseAlgorithm, task: Task, seed: int) -> Mapping[str, float]:
    assert task.pretrain is not None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        _fresh_weights(model)
        return task.pretrain(model, np.random.default_rng([STREAM, seed]))


def _fresh_weights(model: BaseAlgorithm) -> None:
    """New first weights, so that they are the pretraining seed's and not the model's."""
    policy = type(model.policy)(
        model.observation_space,
        model.action_space,
        model.lr_schedule,
        **model.policy_kwargs,
    )
    model.policy.load_state_dict(policy.state_dict())


def _describe(model: BaseAlgorithm, task: Task, seed: int) -> dict[str, Any]:
    sources = (Path(inspect.getfile(type(task))), Path(__file__))
    source = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    shapes = {name: list(weight.shape) for name, weight in model.policy.state_dict().items()}
    return {
        "schema_version": 1,
        "task": repr(task),
        "source": source,
        "policy": type(model.policy).__name__,
        "shapes": shapes,
        "seed": seed,
    }
