"""How far embeddings tell "same" from "different": AUC and accuracy on pairs labelled by people.

    python benchmarks/judge_pairs.py tests/data/noveltybench_pairs_60.jsonl

A line holds {"prompt": …, "a": …, "b": …, "same": true}. The encoder is TF-IDF of character
n-grams, fitted on the texts without their labels; the threshold is chosen on four fifths of the
pairs and measured on the fifth, five times over.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score

from setrl.judges import Group
from setrl.judges.embedding import EmbeddingJudge
from setrl.judges.pairwise import ByJudge, PairwiseJudge
from setrl.support import files

THRESHOLDS = np.round(np.arange(0.05, 1.0, 0.05), 2)
FOLDS, RESAMPLES = 5, 1000


def main(path: Path) -> None:
    pairs = files.read_lines(path)
    same_P = np.array([pair["same"] for pair in pairs])
    print(f"{len(pairs)} pairs, {same_P.mean():.1%} of them the same")
    print(f"always 'different' is right on {1 - same_P.mean():.1%}")
    print("| encoder | AUC | 95% interval | accuracy, threshold by 5 folds | threshold on all |")
    print("|---|---|---|---|---|")
    for name, vectorizer in encoders().items():
        texts = [text for pair in pairs for text in (pair["a"], pair["b"])]
        rows = vectorizer.fit_transform(texts)  # unit vectors, those of a and b in turn
        near_P = np.asarray(rows[0::2].multiply(rows[1::2]).sum(axis=1)).ravel()
        low, high = auc_interval(near_P, same_P)
        accuracy = accuracy_by_folds(near_P, same_P)
        best = max(THRESHOLDS, key=lambda t: np.mean((near_P > 1 - t) == same_P))
        print(
            f"| {name} | {roc_auc_score(same_P, near_P):.3f} | [{low:.3f}, {high:.3f}] "
            f"| {accuracy:.1%} | {best:g} |"
        )
        check_judges(vectorizer, pairs, near_P, float(best))
    for threshold in THRESHOLDS[1::2]:
        found_P = near_P > 1 - threshold
        hits = (found_P & same_P).sum()
        print(
            f"{name}: threshold {threshold:g}: accuracy {np.mean(found_P == same_P):.1%}, "
            f"precision {hits / max(found_P.sum(), 1):.2f}, recall {hits / same_P.sum():.2f}"
        )


def encoders() -> dict[str, TfidfVectorizer]:
    return {
        "words": TfidfVectorizer(sublinear_tf=True),
        "characters, 3 to 5": TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, min_df=2
        ),
    }


def auc_interval(near_P: np.ndarray, same_P: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(same_P), size=len(same_P)) for _ in range(RESAMPLES)]
    values = [
        roc_auc_score(same_P[draw], near_P[draw]) for draw in draws if 0 < same_P[draw].mean() < 1
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def accuracy_by_folds(near_P: np.ndarray, same_P: np.ndarray) -> float:
    """Return accuracy at thresholds that were chosen on the other folds."""
    folds = np.random.default_rng(0).permutation(len(same_P)) % FOLDS
    right = np.zeros(len(same_P), dtype=bool)
    for fold in range(FOLDS):
        seen, held = folds != fold, folds == fold
        best = max(THRESHOLDS, key=lambda t: np.mean((near_P[seen] > 1 - t) == same_P[seen]))
        right[held] = (near_P[held] > 1 - best) == same_P[held]
    return float(right.mean())


def check_judges(
    vectorizer: TfidfVectorizer, pairs: list[dict], near_P: np.ndarray, threshold: float
) -> None:
    """Check that both judges have together what the cosine has, pair by pair."""
    judge = EmbeddingJudge(lambda some: vectorizer.transform(some).toarray(), threshold)
    groups = [Group.of_texts(pair["prompt"], (pair["a"], pair["b"])) for pair in pairs[:20]]
    expected = (near_P[:20] > 1 - threshold).tolist()
    for one in (judge, PairwiseJudge(ByJudge(judge))):
        assert [found.labels_N == (0, 0) for found in one.judge(groups)] == expected


if __name__ == "__main__":
    main(Path(sys.argv[1]))
