"""An engine in sixty lines: set credit in the trainer of `loop.py`.

The comments say what each part is for, and what a trainer without it would get wrong.
"""

from __future__ import annotations

import numpy as np

from setrl.judges import Group
from setrl.rewards import Truncation
from setrl.train.gathering import functions
from setrl.train.gathering.correct import check_correct, outcome_of
from setrl.train.gathering.judging import JudgeQueue
from setrl.train.gathering.metrics import batch_metrics, rollout_records
from setrl.train.scoring import Columns, CreditWatch, StopRule, score
from setrl.train.scoring.check import FIELDS, check_method
from setrl.train.scoring.fields import PAIRS
from tests.engines.example.loop import Loop

NO_RULES = Truncation()
STOP_RULE = StopRule()


class SetLoop(Loop):
    """A `Loop` in which a method decides the advantage of each sample."""

    def __init__(self, prompts, reward_funcs, num_samples, draw, *, method, cluster_func=None,
                 judge=None, correct=None, fields=None, combine=None, truncated=NO_RULES,
                 stop_rule=STOP_RULE, seed=0, **others):  # fmt: skip
        if cluster_func is not None and judge is not None:
            raise ValueError("pass cluster_func or judge, not both: each gives samples clusters")
        # What cannot work is refused now, and not after an hour of sampling.
        check_method(method, num_samples, "num_samples", FIELDS | set(fields or {}))
        if "clusters" in method.reads and cluster_func is None and judge is None:
            raise ValueError(f"{method.name} reads clusters: pass cluster_func=… or judge=…")
        self.names_R = [functions.name_of(one) for one in reward_funcs]
        self.outcome = outcome_of(correct, reward_funcs, self.names_R)
        check_correct(method, self.outcome, combine, self.names_R)
        self.method, self.combine, self.truncated = method, combine, truncated
        # Errors of the user's functions name the function from here on.
        checked = [functions.checked_rewards(one) for one in reward_funcs]
        self.cluster_func = cluster_func and functions.checked_labels(cluster_func)
        self.fields = functions.functions_of(fields or {})
        self.judge_queue = judge and JudgeQueue(judge)
        self.watch = CreditWatch(stop_rule)  # stops a run that learns nothing
        self.rng = np.random.default_rng(seed)  # for methods that sample sets
        super().__init__(prompts, checked, num_samples, draw, **others)

    def advantages(self, prompts, texts, cut):
        ask = self.judge_queue or self.cluster_func
        columns = Columns(
            prompts,
            texts,
            [self.call(one, prompts, texts) for one in self.reward_funcs],
            [one for row in cut for one in row],
            None if ask is None else self._strategies(prompts, texts),
            {name: self._field(name, one, prompts, texts) for name, one in self.fields.items()},
            self.call(self.outcome, prompts, texts) if callable(self.outcome) else self.outcome,
            self.names_R,
        )
        batch = score(
            columns, self.method, combine=self.combine, truncated=self.truncated, rng=self.rng
        )
        self.logged.append(batch_metrics(batch))
        self.written.append(rollout_records(batch, None, self.step_number, self.method))
        self.watch.see(batch, is_last=self.step_number == self.steps - 1)
        return batch.advantages.values_BN.tolist()

    def _strategies(self, prompts, texts):
        if self.judge_queue is None:
            return self.call(self.cluster_func, prompts, texts)
        rows = zip(prompts, texts, strict=True)
        return self.judge_queue.collect([Group.of_texts(p, tuple(row)) for p, row in rows])[0]

    def _field(self, name, function, prompts, texts):
        if name != PAIRS:
            return self.call(function, prompts, texts)
        rows = zip(prompts, texts, strict=True)  # one matrix for each prompt
        return [self.call(function, [p], [row]) for p, row in rows]
