"""Embeddings → labels: distances, thresholds, and texts that have no direction."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from setrl.judges import Group, Judge
from setrl.judges.embedding import EmbeddingJudge, cosine_distances

PAIRS = Path(__file__).parents[1] / "data" / "noveltybench_pairs_60.jsonl"


def angles(texts):
    """A text is its angle in degrees."""
    radians = np.radians([float(text or 0) for text in texts])
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_samples_within_the_threshold_are_together():
    judge = EmbeddingJudge(angles, threshold=1 - np.cos(np.radians(20)))
    assert isinstance(judge, Judge)
    groups = [
        Group.of_texts("p", ("0", "90", "10", "95", "200")),
        Group.of_texts("q", ("0", "25")),
        Group.of_texts("r", ()),
    ]
    labels = [judgement.labels_N for judgement in judge.judge(groups)]
    assert labels == [(0, 1, 0, 1, 2), (0, 1), ()]


def test_lengths_of_embeddings_do_not_matter():
    group = Group.of_texts("p", ("0", "90", "10"))
    stretched = EmbeddingJudge(lambda texts: angles(texts) * 1e6, 0.1).judge([group])
    assert stretched == EmbeddingJudge(angles, 0.1).judge([group])


def test_blank_texts_and_zero_embeddings_are_degenerate():
    def encode(texts):
        return np.array([[0.0, 0.0] if text == "?" else [1.0, 0.0] for text in texts])

    (judgement,) = EmbeddingJudge(encode, 0.1).judge([Group.of_texts("p", ("?", "a", "", "b"))])
    assert judgement.labels_N == (-1, 0, -1, 0)


def test_all_groups_are_encoded_in_one_call():
    calls = []

    def encode(texts):
        calls.append(list(texts))
        return angles(texts)

    EmbeddingJudge(encode, 0.1).judge(
        [Group.of_texts("p", ("1", "2")), Group.of_texts("q", ("3",))]
    )
    assert calls == [["1", "2", "3"]]


def test_distances_are_one_minus_cosine():
    directions = angles([str(degree) for degree in (0, 60, 180)])
    expected = [[0, 0.5, 2], [0.5, 0, 1.5], [2, 1.5, 0]]
    assert cosine_distances(directions) == pytest.approx(np.array(expected), abs=1e-12)


def test_what_an_encoder_must_give():
    group = Group.of_texts("p", ("1", "2"))
    with pytest.raises(ValueError, match=r"one row per text, \(2, d\), got \(1, 3\)"):
        EmbeddingJudge(lambda texts: np.ones((1, 3)), 0.1).judge([group])
    with pytest.raises(ValueError, match="finite numbers"):
        EmbeddingJudge(lambda texts: np.full((2, 3), np.nan), 0.1).judge([group])


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"threshold must be in \(0, 2\], got 0"):
        EmbeddingJudge(angles, 0)


def test_characters_tell_something_of_what_people_call_the_same():
    pairs = [json.loads(line) for line in PAIRS.read_text().split("\n") if line]
    texts = [text for pair in pairs for text in (pair["a"], pair["b"])]
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    characters.fit(texts)
    groups = [Group.of_texts(pair["prompt"], (pair["a"], pair["b"])) for pair in pairs]
    judge = EmbeddingJudge(lambda some: characters.transform(some).toarray(), 0.5)
    found = np.array([judgement.labels_N == (0, 0) for judgement in judge.judge(groups)])
    same = np.array([pair["same"] for pair in pairs])
    hit_rate, false_alarms = found[same].mean(), found[~same].mean()
    assert hit_rate > false_alarms + 0.2
    rows = characters.transform(texts).toarray()
    cosines = np.einsum("pd,pd->p", rows[0::2], rows[1::2])
    assert (found == (cosines > 0.5)).all()


def test_a_threshold_that_joins_nothing_is_said_with_what_would():
    texts = [str(5 * i) for i in range(8)]
    groups = [Group.of_texts("p", texts), Group.of_texts("q", texts)]
    narrow = EmbeddingJudge(angles, 1e-4)
    said = r"every sample alone: no two of 16 .* threshold 0\.0001; .* have the distance 0\.0038"
    with pytest.warns(UserWarning, match=said):
        narrow.judge(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EmbeddingJudge(angles, 0.1).judge(groups)
        narrow.judge([Group.of_texts("p", texts)])  # too few to say so
        narrow.judge([Group.of_texts("p", [text]) for text in texts * 3])  # nothing to join
