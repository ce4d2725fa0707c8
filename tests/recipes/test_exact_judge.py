"""The server that stands for a judge of two levels: it answers by the exact reader."""

import importlib
from pathlib import Path

import pytest

from setrl.judges import Group
from setrl.judges.rendering import render
from setrl.judges.replies import FAMILIES, read_levels, read_reply

pytest.importorskip("tokenizers")
TEXTS = ("(0, 3)", "(-2, 5)", "no point", "(1, 8)", "(-2, 7)", "(-3, 1)")


@pytest.fixture
def exact_judge(monkeypatch):
    folder = Path(__file__).parents[2] / "recipes" / "graded"
    monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module("exact_judge")


@pytest.mark.parametrize("order", [range(6), (5, 2, 0, 3, 1, 4)])
def test_replies_are_the_reader_s_two_levels(exact_judge, order):
    group = Group.of_texts("y = x + 3: ", TEXTS)
    where = dict(zip(TEXTS, ["x=0", "x=-2", None, "x=1", "x=-2", "x=-3"], strict=True))
    asked = render(group, "mathematics", order, families=True)[-1]["content"]
    levels = read_levels(exact_judge.reply_to(asked), len(TEXTS))
    strategies, families = levels[: len(TEXTS)], levels[len(TEXTS) :]
    names = [where[TEXTS[i]] for i in order]
    alike = [name and exact_judge.family(name) for name in names]
    for labels, of in ((strategies, names), (families, alike)):
        assert [label == -1 for label in labels] == [name is None for name in of]
        assert len(set(zip(labels, of, strict=True))) == len(set(labels)) == len(set(of))
    only = render(group, "mathematics", order)[-1]["content"]
    assert read_reply(exact_judge.reply_to(only), len(TEXTS)) == strategies
    assert FAMILIES not in exact_judge.reply_to(only)
