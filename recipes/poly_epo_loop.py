"""The whole flow in one file: Poly-EPO from a base model to strategies kept, without a trainer.

    python recipes/poly_epo_loop.py                     # Poly-EPO, sets of 4
    python recipes/poly_epo_loop.py --method dr_grpo    # the same loop, another value

prompt → N samples → rewards, strategies → set scores → advantages → policy loss → metrics

It makes a base model of 230,000 parameters (a minute or two, once), then trains it with plain
REINFORCE on one CPU core. Left out on purpose: clipping, several updates a batch, logging,
resuming, several devices. `setrl train` has them; the credit is the same line in both.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from setrl import Method, mean_set_scores, methods, objectives, set_advantages
from setrl.evaluate import pass_at_k
from setrl.models.small.sampler import sample
from setrl.tasks.domains import Domain, Polynomial, Reading
from setrl.tasks.domains.verifier import strategy_label
from setrl.train import method_config
from setrl.train.lm.base_model import base_model
from setrl.train.lm.resolved import BaseSpec

B, N = 16, 16  # prompts of a step, samples of a prompt


def read(domain: Domain, prompts: list[str], texts_BN: list[list[str]]) -> list[list[Reading]]:
    """Verify every sample, and see which strategy it used."""
    return [
        [domain.read(prompt, text) for text in texts]
        for prompt, texts in zip(prompts, texts_BN, strict=True)
    ]


def log_likelihoods(model, tokenizer, prompts: list[str], texts_BN: list[list[str]]):
    """log π(sample | prompt), shape (B, N)."""
    end = tokenizer.eos_token
    pairs = [(p, t + end) for p, texts in zip(prompts, texts_BN, strict=True) for t in texts]
    batch = tokenizer([p + t for p, t in pairs], return_tensors="pt", padding=True)
    prompt_lengths = torch.tensor([len(tokenizer(p)["input_ids"]) for p, _ in pairs])
    logits = model(**batch).logits[:, :-1]
    ids, mask = batch["input_ids"][:, 1:], batch["attention_mask"][:, 1:]
    of_token = logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    in_sample = mask * (torch.arange(1, ids.shape[1] + 1) >= prompt_lengths[:, None])
    return (of_token * in_sample).sum(-1).view(len(prompts), -1)


def train(model, tokenizer, domain: Domain, method: Method, steps: int, learning_rate: float):
    """Train by REINFORCE with the method's advantages."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    problems = domain.problems("train", steps * B, seed=1)
    for step in range(steps):
        prompts = [problem.prompt for problem in problems[step * B : (step + 1) * B]]
        texts_BN = sample(model, tokenizer, prompts, N, domain.max_new_tokens, seed=step)

        readings = read(domain, prompts, texts_BN)
        rewards_BN = np.array([[float(reading.correct) for reading in row] for row in readings])
        strategies_BN = np.array(
            [[strategy_label(reading.strategy) for reading in row] for row in readings]
        )

        advantages = set_advantages(rewards_BN, method, strategies=strategies_BN)

        weights_BN = torch.from_numpy(advantages.values_BN).float()
        loss = -(weights_BN * log_likelihoods(model, tokenizer, prompts, texts_BN)).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 25 == 24:
            print(f"step {step + 1}: " + metrics(model, tokenizer, domain), flush=True)


def metrics(model, tokenizer, domain: Domain, num_problems: int = 40, n: int = 64) -> str:
    """Print pass@k and right strategies of 32 samples, on the test and the shifted split."""
    parts = []
    for split in ("test", "shifted"):
        prompts = [problem.prompt for problem in domain.problems(split, num_problems, seed=2)]
        texts_Pn = sample(model, tokenizer, prompts, n, domain.max_new_tokens, seed=3)
        readings = read(domain, prompts, texts_Pn)
        right_Pn = np.array([[reading.correct for reading in row] for row in readings])
        labels_Pn = np.array([[strategy_label(r.strategy) for r in row] for row in readings])
        strategies = mean_set_scores(
            right_Pn, objectives.distinct_correct(), [32], strategies=labels_Pn
        )
        parts.append(
            f"{split}: pass@1 {pass_at_k(right_Pn.sum(1), n, 1).mean():.2f}, "
            f"pass@32 {pass_at_k(right_Pn.sum(1), n, 32).mean():.2f}, "
            f"right strategies in 32 {strategies.mean():.1f}"
        )
    return "; ".join(parts)


def main() -> None:
    """Parse, make the base, train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="poly_epo", choices=sorted(methods.by_name))
    parser.add_argument("--set-size", type=int, default=None, help="K, for methods that have one")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    options = parser.parse_args()
    torch.set_num_threads(1)

    arguments = {} if options.set_size is None else {"set_size": options.set_size}
    arm = {"method": options.method, **arguments}
    domain, method = Polynomial(), method_config.from_config(arm)
    folder = base_model(BaseSpec(domain), Path("cache"))
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    print("base: " + metrics(model, tokenizer, domain), flush=True)
    train(model, tokenizer, domain, method, options.steps, options.learning_rate)


if __name__ == "__main__":
    main()
