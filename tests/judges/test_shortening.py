from hypothesis import given
from hypothesis import strategies as st

from setrl.judges.shortening import approximate_tokens, shorten, shorten_together

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
