"""The claims to read first: what each says in one line, and what its verdict means."""

from __future__ import annotations

from typing import NamedTuple


class Highlight(NamedTuple):
    """A claim of the ledger, in words for a first reading."""

    id: str
    says: str
    in_short: str


HIGHLIGHTS = (
    Highlight(
        "note-prop-2.6-all",
        "The marginal set advantages, over all sets, follow the gradient of the expected set score",
        "True without bias, for every set score; u − U and u − v differ only by a factor",
    ),
    Highlight(
        "note-lemma-3.3",
        "A gradient step of size α moves the logit of y by α·π(y)·A(y)",
        "True times n, the set size: the factor is missing",
    ),
    Highlight(
        "note-likelihood-sign",
        "The log-likelihood of y rises if and only if A(y) > 0",
        "A > 0 raises the logit; log π(y) rises only if π(y)·A(y) is above its mean",
    ),
    Highlight(
        "note-never-collapse",
        "The polychromic objective never collapses onto one answer",
        "With d = strategies/n and sets of two it does; not with the d that Definition 4.1 wants",
    ),
    Highlight(
        "note-prop-4.3",
        "A lower bound for the scaffold value of a set of different actions",
        "The value is positive, but falls below every bound as p → 1/n",
    ),
    Highlight(
        "tutorial-eight-samples",
        "A wrong sample can get a positive advantage because it is different",
        "The advantage is 1/16 next to seven right samples of one strategy, in sets of four",
    ),
    Highlight(
        "tutorial-free-lunch",
        "Diversity costs nothing in pass@1",
        "True only if all strategies are equally good",
    ),
    Highlight(
        "tutorial-shaping-impossible",
        "With a diversity bonus, a wrong sample cannot gain once accuracy is high",
        "A finite bonus suffices: λ above p/(d − mean d)",
    ),
    Highlight(
        "maxpo-is-set-rl",
        "MaxPO's advantage is the marginal set advantage of max",
        "True up to the factor N/(N − K)",
    ),
    Highlight(
        "maxpo-variance",
        "The leave-two-out baseline lowers the variance",
        "In many bandits it does; with a uniform policy over three answers the variance rises",
    ),
)
