"""An engine in sixty lines: set credit in the trainer of `loop.py`.

The comments say what each part is for, and what a trainer without it would get wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from setrl.rewards import Truncation
from setrl.train.gathering.checks import check_correct, check_method
from setrl.train.gathering.gather import Sources, arguments_of, judged
from setrl.train.gathering.judging import JudgeQueue
from setrl.train.gathering.metrics import batch_metrics, rollout_records
from setrl.train.scoring import CreditWatch, StopRule, score
from setrl.train.scoring.batch import Missing
from tests.engines.example.loop import Loop

NO_RULES = Truncation()
STOP_RULE = StopRule()


class SetLoop(Loop):
    """A `Loop` in which a method decides the advantage of each sample."""

    def __init__(self, prompts, reward_funcs, num_samples, draw, *, method, strategy_func=None,
                 judge=None, correct=None, fields=None, combine=None, truncated=NO_RULES,
                 stop_rule=STOP_RULE, seed=0, **others):  # fmt: skip
        if strategy_func is not None and judge is not None:
            raise ValueError("pass strategy_func or judge, not both: each gives samples strategies")
        # What cannot work is refused now, and not after an hour of sampling.
        has_strategies = strategy_func is not None or judge is not None
        given = {*(fields or {}), *(["strategies"] if has_strategies else [])}
        check_method(method, num_samples, "num_samples", given)
        # Errors of the user's functions name the function from here on.
        self.sources = Sources.of(reward_funcs, strategy_func, correct, fields)
        check_correct(method, self.sources.correct, combine, self.sources.names_R)
        self.method, self.combine, self.truncated = method, combine, truncated
        self.judge_queue = judge and JudgeQueue(judge)
        self.watch = CreditWatch(stop_rule)  # stops a run that learns nothing
        self.rng = np.random.default_rng(seed)  # for methods that sample sets
        super().__init__(prompts, reward_funcs, num_samples, draw, **others)

    def advantages(self, prompts, texts, cut):
        every = [prompt for prompt, row in zip(prompts, texts, strict=True) for _ in row]
        arguments = arguments_of(every, [*chain(*texts)], None)
        samples = self.sources.ask(arguments, self.num_samples).samples(cut=[*chain(*cut)])
        unjudged_B: Sequence[Missing | None] = ()
        if self.judge_queue is not None:
            samples, unjudged_B, _ = judged(samples, self.judge_queue)
        batch = score(samples, self.method, combine=self.combine, truncated=self.truncated,
                      unjudged_B=unjudged_B, rng=self.rng)  # fmt: skip
        self.logged.append(batch_metrics(batch))
        self.written.append(rollout_records(batch, None, self.step_number))
        self.watch.see(batch, is_last=self.step_number == self.steps - 1)
        return batch.advantages.values_BN.tolist()
