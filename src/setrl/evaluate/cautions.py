"""What a reader must know before trusting figures: lost or copied samples, and logs of two things.

All of it is in the files, and none of it is in the figures: what samples were drawn with, prompts
and right answers of problems with one id, rows that come twice, problems with fewer samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from setrl.evaluate.metrics import METRICS, incomplete
from setrl.evaluate.samples import Evaluation
from setrl.logs.settings import differing, mixed
from setrl.support.wording import between, count, have, in_a_row, percent, signed

SHOWN = 60  # letters of an id or a prompt in a sentence
Ends = tuple[float, float]


def cautions_of_one(evaluations: Sequence[Evaluation], name: str = "") -> list[str]:
    """Return what must be known of one side, in sentences.

    Args:
        evaluations: One for each seed, with all problems that are to be read.
        name: What the side is called; empty where there is no other.
    """
    start = f"{name}: " if name else ""
    sentences = [
        *dict.fromkeys(
            chain.from_iterable(mixed(evaluation.settings) for evaluation in evaluations)
        )
    ]
    if lacking := incomplete(evaluations):
        titles = in_a_row([METRICS[metric].title for metric in lacking])
        sentences.append(f"no {titles}: {next(iter(lacking.values()))}")
    if rows := sum(evaluation.repeated for evaluation in evaluations):
        sentences.append(
            f"{count(rows, 'row')} {have(rows)} an equal row before, in every field: if these are "
            "copies, samples count twice, and a comparison is unpaired; a field that numbers the "
            "samples, named with --sample-number, leaves them out"
        )
    if missing := _count_missing_samples(evaluations):
        (low, high), drawn_P = pass_at_1(evaluations), evaluations[0].drawn_P
        sentences.append(
            f"problems have {between(int(drawn_P.min()), int(drawn_P.max()))} samples; if each was "
            f"to have {drawn_P.max():,}, {count(missing, 'sample')} "
            f"{'is' if missing == 1 else 'are'} missing: pass@1 would be {percent(low)} if all of "
            f"them were wrong, {percent(high)} if all were right"
        )
    return [start + sentence for sentence in sentences]


def cautions_of_two(first: Sequence[Evaluation], second: Sequence[Evaluation]) -> list[str]:
    """Return what must be known of A and B on the problems that both have, in sentences."""
    a, b = first[0], second[0]
    sentences = [*cautions_of_one(first, "A"), *cautions_of_one(second, "B")]
    others = (
        _other_values_text("prompts", a.ids, _prompts_besides_ids(a), _prompts_besides_ids(b)),
        _other_values_text("right answers", a.ids, a.samples.golds, b.samples.golds),
        differing(a.settings, b.settings),
    )
    sentences += filter(None, others)
    if _count_missing_samples(first) or _count_missing_samples(second):
        sentences.append(_bounds_of_difference_text(pass_at_1(first), pass_at_1(second)))
    elif a.most != b.most and not a.repeated + b.repeated:
        sentences.append(
            f"A and B have different numbers of samples ({a.most:,} and {b.most:,}): intervals "
            "allow for it, unless samples were lost because of what they were; Cover@τ, the "
            "effective number of strategies and the share of the commonest are of as many samples "
            "of both"
        )
    return sentences


def are_equal(first: Sequence[Evaluation], second: Sequence[Evaluation]) -> bool:
    """Return whether both sides have the same samples: a file against itself or its copy."""
    return len(first) == len(second) and all(map(_has_equal_samples, first, second))


def _has_equal_samples(a: Evaluation, b: Evaluation) -> bool:
    same = ((a.size_P, b.size_P), (a.drawn_P, b.drawn_P))
    if a.ids != b.ids or a.prompts != b.prompts or not all(np.array_equal(*pair) for pair in same):
        return False
    return all(
        samples_a == samples_b
        for samples_a, samples_b in zip(
            _samples_in_value_order(a), _samples_in_value_order(b), strict=True
        )
    )


def _samples_in_value_order(evaluation: Evaluation) -> Iterator[list[tuple[object, ...]]]:
    """Yield all that is known of the samples of each problem, in an order of no file."""
    numbers = (evaluation.graded_PN, evaluation.column("proxy"))
    columns = [
        evaluation.correct_PN.tolist(),
        *(np.nan_to_num(x, nan=-np.inf).tolist() for x in numbers),
    ]
    no_grade_PN = (
        np.zeros_like(evaluation.correct_PN)
        if evaluation.as_wrong_PN is None
        else evaluation.as_wrong_PN
    )
    columns.append(no_grade_PN.tolist())
    for column in ("strategies", "answers"):
        labels = evaluation.samples.labels(column) or [[None] * evaluation.most] * len(evaluation)
        columns.append([[repr(label) for label in row] for row in labels])
    texts_P = evaluation.samples.texts or [()] * len(evaluation)
    for row, (n, texts) in enumerate(zip(evaluation.size_P, texts_P, strict=True)):
        problem_columns = [values[row][:n] for values in columns]
        yield sorted(zip(*problem_columns, texts if len(texts) == n else ("",) * n, strict=True))


def _count_missing_samples(evaluations: Sequence[Evaluation]) -> int:
    """Return how many samples are missing if every problem was to have as many as the largest.

    Copies make problems larger, too: nothing is missing then.
    """
    if any(evaluation.repeated for evaluation in evaluations):
        return 0
    return sum(
        int((evaluation.drawn_P.max() - evaluation.drawn_P).sum()) for evaluation in evaluations
    )


def pass_at_1(evaluations: Sequence[Evaluation]) -> Ends:
    """Return pass@1 if all missing samples were wrong, and if all were right.

    With c right of n graded samples and M of the largest problem: the means of c/M, (c + M − n)/M.
    """
    ends = []
    for evaluation in evaluations:
        most, right_P = evaluation.drawn_P.max(), evaluation.correct_count_P
        ends.append((np.mean(right_P / most), np.mean((right_P + most - evaluation.size_P) / most)))
    low, high = np.mean(ends, axis=0)
    return float(low), float(high)


def _bounds_of_difference_text(first: Ends, second: Ends) -> str:
    low, high = second[0] - first[1], second[1] - first[0]
    so = "so that they do not decide which of the two is higher on these problems"
    if low <= 0 <= high:
        so = ("so that what is said of A and B holds only if samples are missing whether they were "
              "right or wrong")  # fmt: skip
    return (f"whatever the missing samples were, B − A of pass@1 is between {signed(100 * low, 1)} "
            f"and {signed(100 * high, 1)} points, {so}")  # fmt: skip


def _other_values_text(
    what: str, ids: Sequence[str], of_a: Sequence[str | None], of_b: Sequence[str | None]
) -> str:
    """Say of how many problems with one id both sides know something, and it differs."""
    both = [(i, a, b) for i, a, b in zip(ids, of_a, of_b, strict=False) if None not in (a, b)]
    unequal = [(i, a, b) for i, a, b in both if a != b]
    if not unequal:
        return ""
    name, a, b = unequal[0]
    in_a, in_b = _excerpt_at_first_difference(a, b), _excerpt_at_first_difference(b, a)
    return (
        f"{len(unequal):,} of {count(len(both), 'problem')} with one id in A and B have different "
        f"{what}, the first: {name[:SHOWN]!r} has {in_a!r} in A and {in_b!r} in B; "
        "a difference between A and B may come from this"
    )


def _prompts_besides_ids(evaluation: Evaluation) -> list[str | None]:
    """Return the prompts; None where a log has none, and the id stands for it."""
    return [None if p == i else p for p, i in zip(evaluation.prompts, evaluation.ids, strict=True)]


def _excerpt_at_first_difference(text: str | None, other: str | None) -> str:
    """Return the part of the text around the first letter that differs from the other text."""
    text, other = str(text), str(other)
    if len(text) <= SHOWN:
        return text
    same = next(
        (i for i, (x, y) in enumerate(zip(text, other, strict=False)) if x != y), len(other)
    )
    start = max(0, min(same - SHOWN // 2, len(text) - SHOWN))
    return f"{'…' * (start > 0)}{text[start : start + SHOWN]}"
