import re

import pytest

from setrl import DEGENERATE
from setrl.judges import Group
from setrl.judges.parsing import read_reply
from setrl.judges.rendering import WITH_INSTRUCTIONS, load_style, render, shuffled_order

GROUP = Group.of_texts("a problem", ("b", "c", "a", "c"))


def test_the_order_is_a_function_of_seed_and_samples():
    assert shuffled_order(GROUP, 3) == shuffled_order(GROUP, 3)
    orders = {shuffled_order(GROUP, seed) for seed in range(300)}
    assert len(orders) == 24
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)


def test_all_orders_are_about_equally_frequent():
    group = Group.of_texts("p", ("a", "b", "c"))
    counts = {}
    for seed in range(1200):
        order = shuffled_order(group, seed)
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(140 < count < 260 for count in counts.values())  # 200 ± 4.6 standard deviations


def test_permuted_samples_make_the_same_request():
    permuted = Group.of_texts(GROUP.prompt, tuple(GROUP.texts[i] for i in (2, 0, 3, 1)))
    one = render(GROUP, "code", shuffled_order(GROUP, 1))
    assert one == render(permuted, "code", shuffled_order(permuted, 1))


def test_another_prompt_or_sample_makes_another_order_somewhere():
    texts = tuple("abcdefgh")
    assert len({shuffled_order(Group.of_texts(f"p{i}", texts), 0) for i in range(20)}) > 15


@pytest.mark.parametrize("style", WITH_INSTRUCTIONS)
def test_the_examples_of_the_instructions_are_as_the_parser_wants_them(style):
    text = load_style(style).instructions
    for example in text.split("# Example")[1:]:
        shown = re.findall(r"^<sample (\d+) (\w+)>$", example, re.MULTILINE)
        assert [int(number) for number, _ in shown] == list(range(1, len(shown) + 1))
        assert len({fence for _, fence in shown}) == 1
        labels = read_reply(example.strip().split("\n")[-1], len(shown))
        seen = [label for label in labels if label != DEGENERATE]
        assert list(dict.fromkeys(seen)) == list(range(len(set(seen))))


def test_a_style_of_ones_own(tmp_path):
    file = tmp_path / "chess.md"
    file.write_text("Sort the openings.")
    style = load_style(str(file))
    assert style.name == "chess"
    assert render(GROUP, style, range(4))[0]["content"] == "Sort the openings."
    file.write_text("Sort the endgames.")
    assert load_style(str(file)).version != style.version


def test_an_unknown_style_is_named():
    with pytest.raises(ValueError, match=r"unknown judge style 'maths'.*mathematics"):
        load_style("maths")


def test_the_compact_style_is_the_problem_and_the_samples():
    messages = render(Group.of_texts("6*7", ("42", "6*6+6=42")), "compact", (1, 0))
    assert messages == [{"role": "user", "content": "6*7\n#1\n6*6+6=42\n#2\n42"}]


def test_long_samples_share_the_budget():
    samples = ("short", "x" * 30_000, "y" * 60_000)
    user = render(Group.of_texts("p", samples), "mathematics", range(3), sample_tokens=1000)[-1][
        "content"
    ]
    assert "\nshort\n" in user
    assert len(user) < 3 * 1000 + 1200
    assert abs(user.count("x") - user.count("y")) < 20
