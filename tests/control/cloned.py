"""A small task with demonstrations, and a model for it."""

from __future__ import annotations

from stable_baselines3 import PPO

from studies.triangles import Triangles


def triangles() -> Triangles:
    """Small enough to pretrain in a moment."""
    return Triangles(nodes=12, edge_probability=0.5, pretrain_epochs=3)


def new_model(task: Triangles, seed: int = 0) -> PPO:
    """A model with its first weights."""
    return PPO(
        "MlpPolicy",
        task.make_env(),
        n_steps=6,
        batch_size=6,
        policy_kwargs=dict(task.policy_kwargs),
        seed=seed,
        device="cpu",
    )
