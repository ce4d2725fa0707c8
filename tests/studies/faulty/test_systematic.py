"""Systematic errors: which labels change, that nothing else does, and that they are the same."""

import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

from setrl.judges import Group, Judgement
from setrl.judges.config import from_config
from setrl.judges.exact import ExactJudge
from setrl.tasks import domains
from studies.faulty import MergedJudge, SplitJudge

POINTS = ("(0, 7)", "(1, 11)", "(2, 17)", "(1, 12)", "?", "(0, 7)")
PROMPT = "y=x^2+3x+7, x!=4: "
BY_LETTER = ExactJudge(lambda text: text[:1] or None)  # "a1" and "a2" use the strategy a


class Silent:
    name = "silent"

    def __init__(self, judgement):
        self.judgement = judgement

    def judge(self, groups):
        return [self.judgement for _ in groups]

    def close(self):
        self.is_closed = True


def test_named_strategies_count_as_one():
    settings = {
        "judge": "studies.faulty:MergedJudge",
        "of": "oracle:polynomial",
        "strategies": [["x=0", "x=1"]],
    }
    (judgement,) = from_config(settings).judge([Group.of_texts(PROMPT, POINTS)])
    assert judgement.labels_N == (0, 0, 1, 0, -1, 0)
    merged = "x=0 or x=1"
    assert judgement.names_N == (merged, merged, "x=2", merged, None, merged)


def test_several_lists_and_names_that_nobody_uses():
    judge = MergedJudge(ExactJudge(), (("a", "b"), ("c", "unused", "d")))
    (judgement,) = judge.judge([Group.of_texts("p", ("a", "c", "b", "d", "e"))])
    assert judgement.labels_N == (0, 1, 0, 1, 2)
    assert judge.name == "merged:exact, strategies ((a, b), (c, unused, d))"


def test_merging_what_is_not_there_changes_nothing():
    groups = [Group.of_texts(PROMPT, POINTS)]
    oracle = from_config("oracle:polynomial")
    assert MergedJudge(oracle, (("x=8", "x=9"),)).judge(groups) == oracle.judge(groups)


def test_a_judge_without_names_cannot_be_merged():
    judge = MergedJudge(Silent(Judgement((0, 1))), (("a", "b"),))
    assert judge.judge([Group.of_texts("p", ("a", "b"))]) == [Judgement(None, reason="no_names")]


@pytest.mark.parametrize(
    ("strategies", "message"),
    [
        ((), r"lists of two or more names, such as \[\[x=0, x=1\]\], got \(\)"),
        ("x=0", "lists of two or more names.*got 'x=0'"),
        (("x=0", "x=1"), "lists of two or more names.*got 'x=0'"),
        ((("x=0",),), r"lists of two or more names.*got \('x=0',\)"),
        (((0, 1),), r"lists of two or more names.*got \(0, 1\)"),
        ((("a", "b"), ("b", "c")), "each name once, got 'b' twice"),
    ],
)
def test_lists_that_are_none_are_refused(strategies, message):
    with pytest.raises(ValueError, match=message):
        MergedJudge(ExactJudge(), strategies)


def split_labels(texts, count, **settings):
    groups = [Group.of_texts(f"prompt {number}", tuple(texts)) for number in range(count)]
    return [one.labels_N for one in SplitJudge(BY_LETTER, **settings).judge(groups)]


def test_only_the_largest_strategy_is_split_and_all_parts_are_as_likely():
    # Samples 1, 2 and 4 use a; 0 and 5 use b; 3 is degenerate.
    found = split_labels(["b1", "a1", "a2", "", "a3", "b2"], 4000, parts=4)
    assert all(labels[0] == labels[5] == 0 and labels[3] == -1 for labels in found)
    assert all(0 not in (labels[1], labels[2], labels[4]) for labels in found)
    together = np.mean([labels[1] == labels[2] for labels in found])
    assert together == pytest.approx(1 / 4, abs=0.03)
    assert np.mean([len(set(labels)) == 5 for labels in found]) == pytest.approx(
        (3 / 4) * (2 / 4), abs=0.03
    )


def test_of_equally_large_strategies_the_first_is_split():
    found = split_labels(["a1", "b1", "b2", "a2"], 300, parts=2)
    assert {labels[1] == labels[2] for labels in found} == {True}
    assert {labels[0] == labels[3] for labels in found} == {True, False}


def test_degenerate_samples_have_no_strategy():
    found = split_labels(["", "", "", "a", "a"], 300, parts=2)
    assert {labels[:3] for labels in found} == {(-1, -1, -1)}
    assert {labels[3:] for labels in found} == {(0, 0), (0, 1)}
    assert split_labels(["", ""], 2, parts=2) == [(-1, -1)] * 2


def test_by_wording_equal_texts_are_together_in_every_group():
    texts = [f"a{number}" for number in range(40)]
    judge = SplitJudge(BY_LETTER, 4, by="wording")
    part_of = defaultdict(set)
    rng = np.random.default_rng(0)
    for number in range(50):
        chosen = [texts[place] for place in rng.integers(40, size=16)]
        (judgement,) = judge.judge([Group.of_texts(f"prompt {number}", tuple(chosen))])
        for first, own in zip(chosen, judgement.labels_N, strict=True):
            for second, other in zip(chosen, judgement.labels_N, strict=True):
                part_of[first, second].add(own == other)
    # Two wordings are together always or never, whatever the prompt and the other samples are.
    assert all(len(found) == 1 for found in part_of.values())
    assert all(part_of[text, text] == {True} for text in texts)
    apart = np.mean([found == {False} for (a, b), found in part_of.items() if a != b])
    assert apart == pytest.approx(3 / 4, abs=0.06)


def test_by_wording_a_strategy_falls_into_all_parts():
    texts = [f"a{number}" for number in range(400)]
    (labels,) = split_labels(texts, 1, parts=4, by="wording")
    assert sorted(Counter(labels)) == [0, 1, 2, 3]
    assert all(abs(count - 100) < 35 for count in Counter(labels).values())


@pytest.mark.parametrize("by", ["draw", "wording"])
def test_the_parts_depend_on_the_seed_and_the_texts_alone(by):
    texts = [f"a{number}" for number in range(12)]
    first, again, other = (split_labels(texts, 5, parts=3, by=by, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    code = (
        "from setrl.judges import Group; from studies.faulty import SplitJudge;"
        "from setrl.judges.exact import ExactJudge;"
        f"judge = SplitJudge(ExactJudge(lambda text: text[:1]), 3, by={by!r}, seed=1);"
        f"print(judge.judge([Group.of_texts('prompt 0', tuple({texts!r}))])[0].labels_N)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(first[0])


def test_by_draw_the_group_decides_and_not_the_wording():
    found = split_labels(["a", "a", "a", "a"], 40, parts=2)
    assert len(set(found)) > 4


@pytest.mark.parametrize(
    "make", [lambda of: SplitJudge(of, 2), lambda of: MergedJudge(of, (("a", "b"),))]
)
def test_unknown_stays_unknown_and_the_other_judge_is_closed(make):
    silent = Silent(Judgement(None, reason="timeout"))
    made = make(silent)
    assert made.judge([Group.of_texts("p", ("a",))]) == [Judgement(None, reason="timeout")]
    made.close()
    assert silent.is_closed


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"parts": 1}, "parts must be a whole number of at least 2, got 1"),
        ({"parts": 2.5}, "parts must be a whole number of at least 2, got 2.5"),
        ({"parts": 2, "by": "text"}, "by must be one of draw, wording, got 'text'"),
    ],
)
def test_a_split_that_is_none_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SplitJudge(BY_LETTER, **settings)


def test_the_name_tells_settings_apart():
    made = [{"parts": 2}, {"parts": 3}, {"parts": 2, "by": "wording"}, {"parts": 2, "seed": 1}]
    assert len({SplitJudge(BY_LETTER, **settings).name for settings in made}) == len(made)


def test_errors_combine_on_a_domain():
    inner = {
        "judge": "studies.faulty:MergedJudge",
        "of": "oracle:quadratic",
        "strategies": [["factoring", "formula"]],
    }
    judge = from_config(
        {"judge": "studies.faulty:SplitJudge", "of": inner, "parts": 4, "by": "wording"}
    )
    domain, rng = domains.by_name("quadratic"), np.random.default_rng(0)
    [problem] = domain.problems("train", 1, 0)
    texts = tuple(domain.write(problem, rng).text for _ in range(64))
    (found,) = judge.judge([Group.of_texts(problem.prompt, texts)])
    (merged,) = judge.of.judge([Group.of_texts(problem.prompt, texts)])
    pairs = {(a, b) for a, b in zip(merged.labels_N, found.labels_N, strict=True) if a >= 0}
    parts = Counter(merged_label for merged_label, _ in pairs)
    largest = Counter(label for label in merged.labels_N if label >= 0).most_common(1)[0][0]
    assert parts[largest] == 4
    assert all(count == 1 for label, count in parts.items() if label != largest)
