"""Distances of samples as texts, and what a method makes of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setrl import methods, objectives
from setrl.train.lm import fields
from setrl.train.scoring.ngrams import NgramDistance


def runs(text, n):
    """Every text of n characters that is somewhere in a text, or all of a shorter text."""
    return {
        text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1) if j - i == n
    } or {text}


@settings(max_examples=60)
@given(st.lists(st.text("ab ", max_size=7), min_size=1, max_size=4), st.integers(1, 4))
def test_it_is_one_minus_shared_over_all(texts, n):
    found = np.array(NgramDistance(n)(completions=texts))
    for i, one in enumerate(texts):
        for j, two in enumerate(texts):
            a, b = runs(one, n), runs(two, n)
            shared = sum(run in b for run in a)
            assert found[i, j] == pytest.approx(1 - shared / (len(a) + len(b) - shared))
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()


def test_words_and_messages():
    said = [[{"role": "assistant", "content": text}] for text in ("to be or", "to be  not")]
    found = NgramDistance(2, of="words")(completions=said, prompts=["?", "?"])
    assert found[0][1] == pytest.approx(2 / 3)  # {to be, be or} and {to be, be not}


@pytest.mark.parametrize("wrong", [{"length": 0}, {"of": "tokens"}])
def test_a_wrong_setting_is_named(wrong):
    with pytest.raises(ValueError, match="NgramDistance needs length ≥ 1 and characters or words"):
        NgramDistance(**wrong)


def test_a_config_names_it():
    fields.check({"pairs": "ngrams"})
    assert fields.sources({"pairs": "ngrams"}, ["pairs"], None) == {"pairs": NgramDistance()}


def test_a_right_sample_with_words_of_its_own_gets_more_than_a_copy():
    texts = ["factor it", "factor it", "complete the square", "guess"]
    pairs = np.array([NgramDistance()(completions=texts)])
    method = methods.poly_epo(set_size=2, diversity=objectives.pairwise_distance())
    copy, same, own, wrong = method.advantages([[1.0, 1, 1, 0]], pairs=pairs).values_BN[0]
    assert copy == same < own
    assert wrong < own
