r"""Rewards for trainers of others; `tests/released/` calls them from the released packages."""

import asyncio
import json
import math
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import setrl_grader
from setrl_grader import (
    ExactGrader,
    MathGrader,
    NumberGrader,
    Reason,
    compute_score,
    grade,
    trl_reward,
)
from setrl_grader.math_grader import judged

CHAT = [{"role": "user", "content": "?"}, {"role": "assistant", "content": r"\boxed{0.5}"}]
SOURCE = Path(setrl_grader.__file__).parents[1]


def test_completions_are_texts_or_chats():
    rewards = trl_reward(
        completions=[CHAT, r"\boxed{2}", "0.5"], prompts=[""] * 3, answer=["1/2"] * 3
    )
    assert rewards == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("column", ["answer", "final_answer", "solution", "ground_truth", "gold"])
def test_the_gold_is_in_a_column_of_a_usual_name(column):
    assert trl_reward([r"\boxed{8}"], **{column: [r"Thus it is $\boxed{8}$."]}) == [1.0]


def test_the_answer_goes_before_the_worked_solution():
    assert trl_reward([r"\boxed{8}"], solution=["See page 3."], answer=["8"]) == [1.0]


def test_a_row_without_an_answer_has_the_gold_of_the_next_column():
    rewards = trl_reward([r"\boxed{8}"] * 3, answer=[None, float("nan"), "9"], solution=["8"] * 3)
    assert rewards == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        ([{"content": [{"type": "text", "text": r"\boxed{8}"}, {"type": "thinking"}]}], 1.0),
        ([{"content": [r"\boxed{", "8}"]}], 1.0),
        ([r"\boxed{7}", r"\boxed{8}"], 1.0),
        ([{"content": [{"type": "text", "text": None}]}], 0.0),
        ([{"content": {"type": "text"}}], 0.0),
        ([{"role": "assistant"}], 0.0),
        ([{"role": "assistant", "content": "No."}, {"role": "user", "content": r"\boxed{8}"}], 0.0),
        ([{"role": "assistant", "content": r"\boxed{8}"}, {"role": "tool", "content": "7"}], 1.0),
        ([], 0.0),
        ([None], 0.0),
        (None, 0.0),
        (8, 0.0),
    ],
)
def test_a_sample_that_is_no_text_states_nothing(completion, reward):
    assert trl_reward([completion], answer=["8"]) == [reward]


def test_lighteval_may_have_no_sample(monkeypatch):
    """lighteval itself is not here; tests/released has it."""
    metrics, utils = SimpleNamespace(SampleLevelComputation=object), SimpleNamespace()
    utils.SampleLevelMetric = lambda **settings: SimpleNamespace(**settings)
    requests = SimpleNamespace(SamplingMethod=SimpleNamespace(GENERATIVE="generative"))
    for name, module in {
        "lighteval.metrics.metrics_sample": metrics,
        "lighteval.metrics.utils.metric_utils": utils,
        "lighteval.tasks.requests": requests,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    compute = setrl_grader.lighteval_metric().sample_level_fn.compute
    typed = SimpleNamespace(get_golds=lambda: ["3e-1"], query="?", specific={"gold_type": "number"})
    assert compute(SimpleNamespace(final_text=[r"\boxed{0.3}"]), typed) == 1.0
    doc = SimpleNamespace(get_golds=lambda: ["8"], query="?")
    texts = ([], [""], [r"\boxed{8}", ""])
    assert [compute(SimpleNamespace(final_text=each), doc) for each in texts] == [0.0, 0.0, 1.0]


def test_a_data_set_declares_the_types_of_its_golds():
    three = [r"\boxed{0.3}"] * 3
    types = ["number", "expression", None]
    assert trl_reward(three, answer=["3e-1"] * 3, gold_type=types) == [1.0, 0.0, 0.0]
    scores = [compute_score("", three[0], "3e-1", {"gold_type": each}) for each in types]
    assert [each["score"] for each in scores] == [1.0, 0.0, 0.0]


def test_verl_gets_a_score_for_anything():
    wrong = {"score": 0.0, "acc": 0.0, "gold_read": 1.0}
    assert compute_score("math", None, "8") == wrong
    assert compute_score(None, r"\boxed{8}", "8")["score"] == 1.0
    assert compute_score("GSM8K", "9 * 2\n#### 18", "18")["score"] == 1.0
    assert compute_score("math", r"\boxed{8}", {"target": "8"})["gold_read"] == 0.0


@pytest.mark.parametrize("gold", [None, True, math.nan, math.inf, ["8"], {"a": 8}, b"8", object()])
def test_a_gold_that_is_neither_text_nor_a_number_is_unusable(gold):
    assert trl_reward([r"\boxed{8}"], answer=[gold]) == [None]
    for grader in (MathGrader(), NumberGrader(), ExactGrader()):
        assert grader.grade(r"\boxed{8}", gold).reason == Reason.BAD_GOLD
        assert grader.grade("8", gold).correct is None
        assert grader.gold_problems([gold]) != [None]
    assert MathGrader().gold_problems([gold])[0].endswith(type(gold).__name__)


def test_numbers_of_any_type_are_golds():
    golds = [8, 8.0, Fraction(8), Decimal("8.0"), np.int64(8), np.float32(8)]
    assert trl_reward([r"\boxed{8}"] * len(golds), answer=golds) == [1.0] * len(golds)


def test_without_golds_the_columns_are_named():
    with pytest.raises(ValueError, match=r"one of the columns answer, .*: prompts, label$"):
        trl_reward([r"\boxed{8}"], prompts=[""], label=["8"])


@pytest.mark.parametrize("column", [None, "8", 8])
def test_a_column_that_is_no_list_is_named(column):
    with pytest.raises(ValueError, match=r"one of the columns|one gold for each of 1 samples"):
        trl_reward([r"\boxed{8}"], answer=column)
    assert trl_reward([r"\boxed{8}"], answer=None, solution=["8"]) == [1.0]


@pytest.mark.parametrize("text", [r"\boxed{9}", "9", r"\boxed{1} or \boxed{2}", r"\boxed{9"])
def test_a_gold_in_prose_is_unknown_whatever_the_sample_states(text):
    gold = "Use the sum of all other numbers twice."
    assert MathGrader().gold_problems([gold]) == ["prose"]
    assert grade(text, gold).reward is None
    assert trl_reward([text], answer=[gold]) == [None]


def test_an_unusable_gold_is_unknown():
    assert trl_reward([r"\boxed{8}"], solution=["2x+"]) == [None]
    found = compute_score("math", r"\boxed{8}", "2x+")
    assert found == {"score": 0.0, "acc": 0.0, "gold_read": 0.0}


def test_verl_reads_gsm8k_as_its_prompts_ask_for_it():
    assert compute_score("openai/gsm8k", "9 * 2\n#### 18", "18")["score"] == 1.0
    assert compute_score("math_dapo", "9 * 2\n#### 18", "18")["score"] == 0.0
    assert compute_score("math_dapo", r"\boxed{18}", "18", extra_info={})["score"] == 1.0


def test_an_event_loop_goes_on_while_an_answer_needs_algebra():
    async def graded():
        beats = 0
        text = rf"\boxed{{\sqrt{{x}}{'+x^{x^x}-x^{x^x}' * 110}}}"  # which takes all steps
        work = asyncio.create_task(asyncio.to_thread(grade, text, r"\sqrt{x}"))
        while not work.done():
            beats += 1
            await asyncio.sleep(0.001)
        return beats, await work

    judged.cache_clear()  # else it is known already where another test of this process asked
    beats, found = asyncio.run(graded())
    assert found.reason == Reason.TOO_LARGE
    assert beats > 1


def test_threads_share_the_grader():
    answers = [(rf"\boxed{{{n}+\sqrt{{2}}}}", rf"\sqrt{{2}}+{n + n % 2}") for n in range(32)]
    found: dict[int, bool | None] = {}

    def work(at):
        found[at] = grade(*answers[at]).correct

    threads = [threading.Thread(target=work, args=(at,)) for at in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: n % 2 == 0 for n in range(32)}


ALONE = """
import json, sys
from setrl_grader import MathGrader, parse, trl_reward, verify
assert trl_reward([r"\\boxed{(x+1)^2}", r"\\boxed{\\pi}"], answer=["x^2+2x+1", "5"]) == [1.0, 0.0]
assert verify(parse("1/2"), parse("$0.5$"))
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_it_needs_the_standard_library_and_mpmath_only():
    # -S: nothing of site-packages begins by itself; -I: no PYTHONPATH.
    packages = Path(mpmath.__file__).parents[1]
    start = f"import sys; sys.path[:0] = [{str(SOURCE)!r}, {str(packages)!r}]"
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + ALONE], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    others = (
        set(json.loads(ran.stdout)) - set(sys.stdlib_module_names) - {"setrl_grader", "__main__"}
    )
    assert {name for name in others if not name.startswith("_")} - {"gmpy2"} == {"mpmath"}


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("2 or 3", "2, 3", True),
        ("５", "5", True),
        ("٣", "3", True),
        (r"\tfrac{π}{2}", r"\frac{\pi}{2}", True),
        ("x ≤ 3", r"(-\infty, 3]", True),
        ("Dienstag", "dienstag", True),
        ("2 oder 3", "2, 3", False),
        ("oui", "yes", False),
        ("三", "3", False),
        ("1,5", "1.5", False),
        ("]0,1[", "(0,1)", False),
    ],
)
def test_it_reads_latex_and_english(answer, gold, right):
    """Words of other languages, decimal commas and turned brackets are not read."""
    assert grade(rf"\boxed{{{answer}}}", gold).correct is right
