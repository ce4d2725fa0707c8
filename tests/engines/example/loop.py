"""A trainer of another project, as far as its engine touches it.

A package that cannot be installed here is stood in for like this: its class, with the names, the
arguments and the order of calls of the version that the engine names, and nothing else.
"""

from __future__ import annotations


class Loop:
    """Draws samples for each prompt, and adds rate × advantage to the weight of each sample."""

    def __init__(self, prompts, reward_funcs, num_samples, draw, *, steps=1, rate=1.0):
        self.prompts, self.reward_funcs, self.num_samples = prompts, reward_funcs, num_samples
        self.draw, self.steps, self.rate = draw, steps, rate
        self.step_number, self.logged, self.written = 0, [], []
        self.weights: dict[tuple[str, str], float] = {}

    def train(self):
        for _ in range(self.steps):
            self.step()

    def step(self):
        drawn = [[self.draw(p, i) for i in range(self.num_samples)] for p in self.prompts]
        texts = [[text for text, _ in row] for row in drawn]
        cut = [[is_cut for _, is_cut in row] for row in drawn]
        credit = self.advantages(self.prompts, texts, cut)
        for prompt, row, values in zip(self.prompts, texts, credit, strict=True):
            for text, value in zip(row, values, strict=True):
                key = prompt, text
                self.weights[key] = self.weights.get(key, 0.0) + self.rate * value
        self.step_number += 1

    def advantages(self, prompts, texts, cut):
        """Reward minus the mean of its group: the one place that set credit replaces."""
        rewards = [self.call(self.reward_funcs[0], [p], [row])
                   for p, row in zip(prompts, texts, strict=True)]  # fmt: skip
        return [[one - sum(row) / len(row) for one in row] for row in rewards]

    def call(self, function, prompts, texts):
        """Call a function as this trainer calls reward functions."""
        pairs = [(p, text) for p, row in zip(prompts, texts, strict=True) for text in row]
        return function(prompts=[p for p, _ in pairs], completions=[text for _, text in pairs])
