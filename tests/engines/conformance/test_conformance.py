"""Every engine credits the same groups with the same advantages, as the definition does."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from datasets import Dataset

from setrl.support.errors import RunError
from setrl.train.trl import SetGRPOTrainer
from tests.engines.chat import PROMPTS, arguments, chat_model
from tests.engines.conformance.adapters import ADAPTERS
from tests.engines.conformance.features import FEATURES, REWARDS
from tests.engines.conformance.groups import CASES, DEFINITIONS
from tests.engines.test_async import make_worker

__all__ = ["chat_model", "make_worker"]

ROOT = Path(__file__).parents[3]
PAIRS = [
    pytest.param(adapter, case, id=f"{adapter}-{case}")
    for adapter, one in ADAPTERS.items()
    for case, groups in CASES.items()
    if not groups.needs & one.lacks
]


@pytest.fixture(scope="module")
def trainer(chat_model, tmp_path_factory):
    """One trainer for all groups, whose functions return what it is given."""
    made = SetGRPOTrainer(
        str(chat_model),
        lambda completions, **_: made.fixed[0],
        arguments(tmp_path_factory.mktemp("trainer"), max_completion_length=1),
        Dataset.from_dict({"prompt": PROMPTS}),
        method=DEFINITIONS["grpo"].method,
        strategy_func=lambda completions, **_: made.fixed[1],
    )
    made.model.train()
    return made


@pytest.fixture
def engine(request, tmp_path):
    """What an adapter needs in addition to the groups."""
    needs = {
        "setrl credit": lambda: tmp_path,
        "SetGRPOTrainer": lambda: request.getfixturevalue("trainer"),
        "credit_worker": lambda: request.getfixturevalue("make_worker"),
    }
    return lambda adapter: needs.get(adapter, lambda: None)()


@pytest.mark.parametrize(("adapter", "case"), PAIRS)
@pytest.mark.filterwarnings("ignore:no sample of step")
def test_every_engine_gives_the_advantages_of_the_definition(adapter, case, engine):
    way, groups = ADAPTERS[adapter], CASES[case]
    for definition in DEFINITIONS.values():
        if way.rewards_only and "strategies" in definition.method.reads:
            continue
        found = way.credit(groups, definition.method, engine(adapter))
        assert [len(rows) for rows in found] == [one.rows for one in groups.samples]
        expected = [[v] * len(rows) for v, rows in zip(definition(groups), found, strict=True)]
        np.testing.assert_allclose([*chain(*found)], [*chain(*expected)], rtol=0, atol=way.digits)


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_engine_takes_each_feature_or_says_why_not(adapter, name):
    way, feature = ADAPTERS[adapter], FEATURES[name]
    if reason := way.without.get(name):
        file = re.match(r"tests/\S+\.py", reason)
        assert file is None or (ROOT / file[0]).is_file()
        return
    assert way.start is not None, f"say in `without` of {adapter} why it does not take {name}"
    step = way.start(feature)
    for _ in range(feature.steps - 1):
        np.testing.assert_allclose(step(), feature.expected(), rtol=0, atol=way.digits)
    if feature.stops:
        with pytest.raises(RunError, match=feature.stops):
            step()
    else:
        np.testing.assert_allclose(step(), feature.expected(), rtol=0, atol=way.digits)


@pytest.mark.parametrize("name", FEATURES)
def test_no_feature_can_be_dropped(name):
    """The batch has other advantages without what the feature gives."""
    feature = FEATURES[name]
    if feature.stops:
        return
    labels = (
        {"strategies": np.arange(8).reshape(2, 4)} if "strategies" in feature.method.reads else {}
    )
    fields = {"proxy": np.array(REWARDS)} if "proxy" in feature.method.reads else {}
    right = {"correct": np.array(REWARDS) == 1} if "correct" in feature.method.reads else {}
    plain = feature.method.advantages(np.array(REWARDS), **labels, **fields, **right).values_BN
    assert not np.allclose(plain, feature.expected())


@pytest.mark.parametrize("case", CASES)
def test_no_case_is_without_a_signal(case):
    """Groups of equal rewards carry one for methods that read only strategies."""
    for name, definition in DEFINITIONS.items():
        has_signal = name == "poly_epo" or case != "equal rewards"
        assert any(definition(CASES[case])) == has_signal


def test_every_case_goes_through_several_engines():
    for case, groups in CASES.items():
        assert sum(not groups.needs & one.lacks for one in ADAPTERS.values()) >= 2, case
