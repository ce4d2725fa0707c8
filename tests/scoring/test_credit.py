"""The scoring stage against its definition, sample by sample, for all rules together."""

import itertools
import math
import re
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import setrl
from setrl import methods, objectives
from setrl.judges import Judgement
from setrl.rewards import Combine, Truncation
from setrl.support.errors import RunError
from setrl.train.gathering.judging import with_judgements
from setrl.train.scoring import samples_of, score

NAN = math.nan
B, N = 3, 4
OUTCOME = [1.0, 0, 1, 0, 0, 0, 0, 1, 1, 1, None, NAN]
CORRECT = [None, True, False, True, False, False, True, False, True, False, True, None]
SHAPING = [0.2, 0.9, None, 0.4, 0.1, 0.7, 0.3, 0.3, -1, 0.6, 2, None]
CUT = [False, True, False, False, True, True, True, True, False, False, False, True]
LABELS = ["a", 7, "b", "a", -1, "a", None, "c", 7, 8, 7, 7]
JUDGEMENTS = [
    Judgement((0, 1, 1, -1), ("plan", None, None, None)),
    Judgement(None, reason="timeout"),
    Judgement((0, 0, 1, 2)),
]

COMBINES = {
    "one reward": None,
    "a sum": None,
    "weights": Combine((2.0, 3.0), missing="skip"),
    "combined": Combine((1.0, 0.5), outcome=0),
    "skip": Combine((2.0, -0.5), missing="skip", outcome=0),
    "gates": Combine((1.0, 0.5), gates=(None, "sample"), outcome=0),
    "the second decides": Combine((0.5, 1.0), gates=("group", None), outcome=1),
    "a function decides": Combine((1.0, 0.5), gates=("group", None), outcome=1),
    "a function decides about a sum": None,
    "normalised": Combine((1.0, 0.5), normalize="group", outcome=0),
}
TRUNCATIONS = [
    Truncation(),
    Truncation("mask"),
    Truncation("punish"),
    Truncation("punish", -0.25),
]
STRATEGIES = ["none", "labels", "judgements"]
DISTANCES = np.abs(np.subtract.outer([0.0, 1, 4, 6], [0.0, 1, 4, 6]))
FIELDS = {
    (): 0.0 * methods.dr_grpo(),
    ("proxy",): methods.set_rl(objectives.best_of(), 2),
    ("answers",): methods.set_rl(objectives.majority(), 3),
    ("second", "pairs"): methods.set_rl(objectives.mean(of="second"), 2)
    + methods.set_rl(objectives.pairwise_distance(), 3),
    ("families",): methods.poly_families(2),
}
VALUES = {
    "proxy": [0.5, None, *range(10)],
    "answers": ["4", "4", None, "5", "6", "6", "7", "7", "1", "2", "3", "1"],
    "second": [*range(11), None],
    "pairs": [DISTANCES, None, 2 * DISTANCES],
    "families": ["x", "y", None, "x", 1, 2, 3, 1, "x", "x", "x", "y"],
}


def known(value):
    return None if value is None or math.isnan(value) else value


def rewards_of(name):
    if name == "the second decides":
        return [SHAPING, OUTCOME]
    return [OUTCOME] if name == "one reward" else [OUTCOME, SHAPING]


def decided(name, group, place):
    """Which samples of a group are right: True, False or None."""
    if name.startswith("a function"):
        return CORRECT[N * place : N * place + N]
    if name in ("a sum", "weights"):
        return [None] * N
    column = 0 if COMBINES[name] is None else COMBINES[name].outcome
    return [None if known(one[column]) is None else one[column] == 1 for one in group]


def combined(name, group, right):
    """The reward of each sample of a group of tuples of rewards, by the rules of `Combine`."""
    rule = COMBINES[name]
    if rule is None:
        weights, rule = (1.0, 1.0), Combine((1.0, 1.0))
        skips, gates, normal = True, (None, None), False
    else:
        weights, skips = rule.weights, rule.missing == "skip"
        gates = rule.gates or (None, None)
        normal = rule.normalize is not None
    is_open = {
        (i, j): {None: True, "sample": right[i] is True, "group": True in right}[gates[j]]
        for i in range(N)
        for j in range(len(group[0]))
    }

    def term(i, j):
        value = known(group[i][j])
        if not is_open[i, j] or weights[j] == 0:
            return 0.0
        if value is None:
            return 0.0 if skips else None
        if normal:
            column = [group[k][j] for k in range(N) if is_open[k, j]]
            column = [one for one in column if known(one) is not None]
            spread = statistics.stdev(column) if len(column) > 1 else 0.0
            value = (value - statistics.mean(column)) / (spread + 1e-4)
        return weights[j] * value

    found = []
    for i, one in enumerate(group):
        terms = [term(i, j) for j in range(len(one))]
        unknown = all(known(value) is None for value in one) or None in terms
        unknown |= any(gates) and right[len(found)] is None
        found.append(None if unknown else sum(terms))
    return found


def truncated(rule, rewards, cut):
    least = min([0.0, *(one for one in rewards if one is not None)])
    penalty = least if rule.reward is None else rule.reward
    changed = {"mask": lambda one: None, "punish": lambda one: one if one is None else penalty}
    change = changed.get(rule.policy, lambda one: one)
    return [change(one) if is_cut else one for one, is_cut in zip(rewards, cut, strict=True)]


def punished(rule, right, cut):
    return [
        False if rule.policy == "punish" and is_cut and one is not None else one
        for one, is_cut in zip(right, cut, strict=True)
    ]


@pytest.mark.parametrize("truncation", TRUNCATIONS, ids=str)
@pytest.mark.parametrize("name", COMBINES)
def test_every_rule_is_its_definition(name, truncation):
    rows = list(zip(*rewards_of(name), strict=True))
    groups = [rows[start : start + N] for start in range(0, B * N, N)]
    cuts = [CUT[start : start + N] for start in range(0, B * N, N)]
    rights = [decided(name, group, place) for place, group in enumerate(groups)]
    rewards = [
        truncated(truncation, combined(name, group, right), cut)
        for group, right, cut in zip(groups, rights, cuts, strict=True)
    ]
    rights = [punished(truncation, right, cut) for right, cut in zip(rights, cuts, strict=True)]
    for kind, fields in itertools.product(STRATEGIES, FIELDS):
        if (kind, fields) == ("none", ("families",)):  # families are families of strategies
            continue
        batch = scored(name, truncation, kind, fields)
        np.testing.assert_allclose(batch.samples.rewards, np.array(rewards, float), rtol=1e-12)
        np.testing.assert_array_equal(batch.samples.correct, np.array(rights, dtype=float))
        arrays = fields_of(fields)
        if kind != "none":
            arrays["strategies"] = strategies_of(kind)
        credit = method_of(kind, fields).advantages(batch.samples.rewards, abstain=True, **arrays)
        np.testing.assert_array_equal(batch.advantages.values_BN, credit.values_BN)
        np.testing.assert_array_equal(batch.advantages.usable_BN, credit.usable_BN)


def scored(name, truncation, kind, fields, **changes):
    samples = samples_of(
        rewards_of(name),
        N,
        strategies=LABELS if kind == "labels" else None,
        correct=CORRECT if name.startswith("a function") else None,
        fields={field: VALUES[field] for field in fields},
        cut=CUT,
    )
    if kind == "judgements":
        samples, _ = with_judgements(samples, JUDGEMENTS)
    rules = {"combine": COMBINES[name], "truncated": truncation, **changes}
    return score(samples, method_of(kind, fields), **rules)


def method_of(kind, fields):
    strategies = methods.poly_epo(2) if kind != "none" else methods.maxpo(2)
    return methods.dr_grpo() + strategies + FIELDS[fields]


def strategies_of(kind):
    """Equal where the labels are, so that any other numbers give the same credit."""
    if kind == "labels":
        return [[100, 7, 200, 100], [-1, 100, NAN, 300], [7, 8, 7, 7]]
    return [[0, 1, 1, -1], [NAN] * 4, [0, 0, 1, 2]]


def fields_of(names):
    columns = {name: VALUES[name] for name in names if name != "pairs"}
    if "families" in columns:  # names and numbers, which the core takes only one kind of
        columns["families"] = [one and str(one) for one in columns["families"]]
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    arrays = {name: values.reshape(B, N) for name, values in arrays.items()}
    if "pairs" in names:
        arrays["pairs"] = np.stack([DISTANCES, np.full((N, N), NAN), 2 * DISTANCES])
    return arrays


def test_labels_and_judgements_are_kept_for_people():
    rule = Truncation()
    batch = scored("one reward", rule, "labels", ())
    assert batch.samples.labels("strategies") == [LABELS[:4], LABELS[4:8], LABELS[8:]]
    assert batch.samples.names["strategies"] == (7, 8, "a", "b", "c")
    np.testing.assert_array_equal(batch.samples.strategies[1], [-1, 2, NAN, 4])
    judged = scored("one reward", rule, "judgements", ())
    assert judged.samples.labels("strategies") == [["plan", 1, 1, -1], [None] * 4, [0, 0, 1, 2]]
    nobody = scored("one reward", rule, "none", ())
    assert (nobody.samples.strategies, nobody.samples.labels("strategies")) == (None, None)


def test_what_each_function_gave_is_kept():
    batch = scored("gates", Truncation("mask"), "none", ())
    given = np.array([OUTCOME, SHAPING], dtype=float).T.reshape(B, N, 2)
    np.testing.assert_array_equal(batch.samples.components, given)


def test_values_that_do_not_fit_a_field_are_refused():
    fields = {"answers": ["4", [4], *range(10)]}
    with pytest.raises(RunError, match="texts, numbers or None"):
        samples_of([OUTCOME], N, fields=fields)


def test_a_judge_s_name_may_be_a_long_number():
    digits = str(10**16 - 1)  # above 2⁵³ it is a name, as of a hash
    said = [Judgement((0, 1), (digits, "b"))]
    samples, _ = with_judgements(samples_of([[1, 0]], 2), said)
    assert samples.labels("strategies") == [[digits, "b"]]


def test_a_judgement_of_other_samples_is_refused():
    with pytest.raises(RunError, match="a judge must give 2 samples one label each, got 1"):
        with_judgements(samples_of([[1, 0]], 2), [Judgement((0,))])


def test_rewards_may_be_numbers_of_any_library():
    torch = pytest.importorskip("torch")
    kinds = [torch.tensor([1.0, 0.0], dtype=torch.bfloat16), np.float32([1, 0]), [True, None]]
    batch = score(samples_of(kinds, 2), methods.dr_grpo())
    assert batch.samples.rewards.tolist() == [[3.0, 0.0]]
    assert batch.samples.rewards.dtype == np.float64


def test_scoring_needs_no_trainer():
    program = (
        "import sys, setrl.train.scoring, setrl.train.gathering.functions\n"
        "print(sorted({'torch', 'transformers', 'trl'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout == "[]\n", ended.stderr


@pytest.mark.parametrize(
    ("rewards", "correct", "message"),
    [
        ([[0.3, 1, 0]], None, r"counts needs to know .* the reward function 'a' gave 0\.3, which"),
        ([[-1, 1, 1]], None, r"the reward function 'a' gave -1, which is neither right \(1\) nor"),
        (
            [[1, 0, 0], [1, 1, 1]],
            None,
            r"concave_counts needs to know .*, and several rewards were",
        ),
        (
            [[1, 0, 0], [0.5, 1, 1]],
            1,
            r"'b' says which samples are right, .* got 0\.5: pass correct",
        ),
    ],
)
def test_what_is_not_known_to_be_right_stops_a_method_that_needs_it(rewards, correct, message):
    def credit(method):
        names_R = ["a", "b"][: len(rewards)]
        samples = samples_of(rewards, 3, strategies=[0, 1, 1], correct=correct, names_R=names_R)
        return score(samples, method)

    with pytest.raises(RunError, match=message):
        credit(methods.concave_counts(0))
    if correct is None:
        assert np.isnan(credit(methods.poly_epo(2)).samples.correct).all()


def test_no_other_line_of_the_library_compares_rewards_with_a_threshold():
    """A reward above 1/2 is right nowhere: the user's own threshold makes `correct`."""
    folder = Path(setrl.__file__).parent
    found = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in folder.rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r"(reward|score|value|outcome)\w*\W* *(>|<=) *(0\.5|CORRECT|HALF)\b", line)
        and not re.search(r"correct=|\"", line)
    ]
    assert not [one for one in found if "check_objective" not in one]
