import pytest

from setrl.judges import Group
from setrl.judges.rendering import harmless, mark, render, short_mark
from tests.judges.attacks import CONTROL_TOKENS, PLAIN, attacks


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
