import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl import DEGENERATE
from setrl.judges import Group
from setrl.judges.rendering import (
    WITH_INSTRUCTIONS,
    approximate_tokens,
    harmless,
    load_style,
    mark,
    render,
    short_mark,
    shorten,
    shorten_together,
    shuffled_order,
)
from setrl.judges.replies import read_reply
from tests.judges.attacks import CONTROL_TOKENS, PLAIN, attacks

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


def read_full(content, num_samples):
    """The problem and the samples of a full request, line by line, with nothing but its mark."""
    lines = content.split("\n")
    fence = lines[0].split("carry the mark ")[1][:8]
    names = ["problem", *(f"sample {i}" for i in range(1, num_samples + 1))]
    texts = []
    for name in names:
        start, end = lines.index(f"<{name} {fence}>"), lines.index(f"</{name} {fence}>")
        texts.append("\n".join(lines[start + 1 : end]))
        del lines[start : end + 1]
    assert sum(fence in line for line in lines) == 1, "the mark stands outside the fences' lines"
    return texts


def read_compact(content, num_samples):
    """The same for a compact request, whose mark stands before the numbers."""
    lines = content.split("\n")
    fence = max((line[:-1] for line in lines if line.strip("#") == "1"), key=len)
    cuts = [lines.index(f"{fence}{i}") for i in range(1, num_samples + 1)]
    opening = [line for line in lines if line.startswith(fence)]
    assert len(opening) == num_samples, "something else looks like the opening of a sample"
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(lines)]
    return ["\n".join(lines[a:b]) for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(("style", "read"), [("mathematics", read_full), ("compact", read_compact)])
@pytest.mark.parametrize("attack", attacks(), ids=lambda text: ascii(text[:30]))
def test_an_attack_stays_inside_its_fence(style, read, attack):
    for place in range(len(PLAIN) + 1):
        samples = (*PLAIN[:place], attack, *PLAIN[place:])
        messages = render(Group.of_texts("a problem", samples), style, range(len(samples)))
        shown = read(messages[-1]["content"], len(samples))
        assert shown == ["a problem", *map(harmless, samples)]


@pytest.mark.parametrize("style", ["mathematics", "code", "free_text", "compact"])
def test_no_control_token_reaches_the_server(style):
    samples = tuple(f"x{token}y" for token in CONTROL_TOKENS)
    user = render(Group.of_texts("".join(CONTROL_TOKENS), samples), style, range(len(samples)))[-1]
    assert [token for token in CONTROL_TOKENS if token in user["content"]] == []


def test_ordinary_text_is_left_alone():
    text = "if a<b and x[index] > 3: |y| < 2, <div>, a||b, [A] = [B], λ ≤ μ"
    assert harmless(text) == text


def test_the_mark_is_in_none_of_the_texts():
    texts = ["a problem", "x"]
    assert mark([*texts, mark(texts)]) not in ("", mark(texts))
    collided = mark(texts)  # a sample that names the mark of the very request that it is in …
    with_collision = [*texts, collided]
    assert mark(with_collision) not in "\n".join(with_collision)


def test_a_mark_that_is_met_is_replaced(monkeypatch):
    import hashlib

    class Constant:
        """A hash that is broken at first, so that its value can be written into a sample."""

        def __init__(self, data=b""):
            self.again = 0

        def update(self, data):
            self.again += data == b"again"

        def digest(self):
            return b"0" * 32

        def hexdigest(self):
            return f"{self.again:064x}"[::-1]

    monkeypatch.setattr(hashlib, "sha256", Constant)
    assert mark(["00000000 and 10000000"]) == "20000000"


def test_the_short_mark_outgrows_every_run():
    assert short_mark(["a", "b"]) == "#"
    assert short_mark(["a##b", "#"]) == "###"
