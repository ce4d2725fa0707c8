"""The oracle says what the domain's reader says."""

import numpy as np
import pytest

from setrl.judges import Group, Judge
from setrl.judges.oracle import OracleJudge
from setrl.tasks.domains import DOMAINS, by_name


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_together_if_and_only_if_the_domain_reads_one_strategy(name):
    domain, rng = by_name(name), np.random.default_rng(0)
    groups = []
    for problem in domain.problems("train", 5, seed=1):
        texts = [domain.write(problem, rng).text for _ in range(12)]
        groups.append(Group.of_texts(problem.prompt, (*texts, "gibberish", "")))
    judge = OracleJudge(domain)
    assert isinstance(judge, Judge)
    assert judge.name == f"oracle:{name}"
    for group, judgement in zip(groups, judge.judge(groups), strict=True):
        read = tuple(domain.read(group.prompt, text).strategy for text in group.texts)
        assert judgement.names_N == tuple(None if name == -1 else name for name in read)
        for i, first in enumerate(read):
            assert (judgement.labels_N[i] == -1) == (first == -1)
            for j, second in enumerate(read):
                same = judgement.labels_N[i] == judgement.labels_N[j]
                assert same == (first == second)
    assert any(len(set(one.labels_N)) > 2 for one in judge.judge(groups))


def test_a_prompt_of_something_else_is_unknown():
    groups = [
        Group.of_texts("Who are you?", ("x=2,3",)),
        Group.of_texts("x^2-5x+6=0: ", ("no idea",)),
    ]
    other, own = OracleJudge(by_name("quadratic")).judge(groups)
    assert (other.labels_N, other.reason) == (None, "other_domain")
    assert own.labels_N == (-1,)
