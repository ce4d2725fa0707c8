import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl import DEGENERATE
from setrl.judges import Group
from setrl.judges.rendering import (
    WITH_INSTRUCTIONS,
    approximate_tokens,
    load_style,
    render,
    shorten,
    shorten_together,
    shuffled_order,
)
from setrl.judges.replies import read_reply

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


texts = st.lists(st.text(alphabet="ab \n\té日😀", max_size=400), min_size=1, max_size=6)


@given(texts, st.integers(200, 500))
def test_the_budget_is_kept(samples, budget):
    cut = shorten_together(samples, budget)
    note = approximate_tokens("\n[… 400 characters left out …]\n")
    whole = sum(map(approximate_tokens, cut))
    assert whole <= max(budget, note * len(samples))


@given(texts)
def test_what_fits_is_left_alone(samples):
    assert shorten_together(samples, sum(map(approximate_tokens, samples))) == samples


def test_short_texts_stay_whole_and_long_ones_share_the_rest():
    cut = shorten_together(["a" * 30, "b" * 3000, "c" * 9000], budget=104)
    assert cut[0] == "a" * 30
    assert all(110 < len(text) <= 141 for text in cut[1:])


def test_head_and_tail_are_kept():
    text = "BEGIN" + "x" * 1000 + "END"
    cut = shorten(text, 34)
    assert cut.startswith("BEGIN")
    assert cut.endswith("END")
    assert len(cut) <= 102
    left_out = int(cut.split("[… ")[1].split()[0])
    assert left_out == 1008 - (len(cut) - len(f"\n[… {left_out} characters left out …]\n"))
