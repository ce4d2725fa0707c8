"""The page of the study: every number is computed here from the files of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.support import files
from setrl.support.wording import markdown_table
from studies.judge_people.pairs import LINES, MODEL, WORDS
from studies.judge_people.scores import SCORES, Figure, accuracy, auc_of_places, best_threshold

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
READ = {  # domain → what its pairs are
    "quadratic": "solutions of a quadratic equation: factorised, by the formula, …",
    "countdown": "expressions with one value: 3*7+12, 11*3, …",
    MODEL: "the same, as SmolLM2-135M writes them after its warm-up",
    LINES: "equations of word problems, right or wrong, as SmolLM2-135M writes them untrained",
    WORDS: "the same, with what the model wrote behind them",
}
TEMPLATE = Path(__file__).with_name("template.md")


@dataclass(frozen=True)
class Scored:
    """Pairs with their scores."""

    records: Sequence[dict[str, Any]]

    def of(self, **wanted: Any) -> Scored:
        """Return the pairs with these values."""
        kept = [one for one in self.records if all(one[key] == v for key, v in wanted.items())]
        return Scored(kept)

    def __len__(self) -> int:
        return len(self.records)

    def score(self, name: str) -> NDArray[np.float64]:
        """Return a score of all pairs."""
        return np.array([one[name] for one in self.records], float)

    def places(self, name: str) -> NDArray[np.intp]:
        """Return the place of each pair in the order of a score; ties share one."""
        return np.unique(self.score(name), return_inverse=True)[1]

    @property
    def same(self) -> NDArray[np.bool_]:
        """Whether the pairs are the same."""
        return np.array([one["same"] for one in self.records], bool)

    def auc(self, name: str) -> Figure:
        """Return the AUC of a score."""
        places, same = self.places(name), self.same
        return Figure.of(lambda at: _auc(places[at], same[at]), len(self))

    def gain(self, one: str, other: str) -> Figure:
        """Return by how much the AUC of one score is above another's, on the same pairs."""
        a, b, same = self.places(one), self.places(other), self.same
        return Figure.of(lambda at: _auc(a[at], same[at]) - _auc(b[at], same[at]), len(self))

    def agrees(self, name: str, threshold: float) -> Figure:
        """Return how often a score with a threshold is right."""
        scores, same = self.score(name), self.same
        return Figure.of(lambda at: accuracy(scores[at], same[at], threshold), len(self))

    def better(self, one: str, at_one: float, other: str, at_other: float) -> Figure:
        """Return by how much oftener one score with its threshold is right than another."""
        a, b, same = self.score(one), self.score(other), self.same
        return Figure.of(
            lambda at: accuracy(a[at], same[at], at_one) - accuracy(b[at], same[at], at_other),
            len(self),
        )

    def threshold(self, name: str) -> float:
        """Return the best threshold of a score."""
        return best_threshold(self.score(name), self.same)


def _auc(place_P: NDArray[np.intp], same_P: NDArray[np.bool_]) -> float:
    """Return the AUC; NaN for a draw in which all pairs are of one kind."""
    return float("nan") if same_P.all() or not same_P.any() else auc_of_places(place_P, same_P)


def page(folder: Path) -> str:
    """Return the page of the files in a folder."""
    every = Scored(files.read_lines(folder / "scores.jsonl"))
    about = files.read_json(folder / "about.json")
    people, solutions = every.of(source="people"), every.of(source="solutions")
    first, second = people.of(half="threshold"), people.of(half="figures")
    cosine, bigrams = first.threshold("embedding"), first.threshold("bigrams")
    different, copies = solutions.of(same=False), solutions.of(same=True)
    seconds = about["seconds_a_step"]
    return TEMPLATE.read_text(encoding="utf-8").format(
        torn=f"{100 - 100 * copies.agrees('embedding', cosine).value:.0f}",
        auc=solutions.auc("embedding"),
        auc_bigrams=solutions.auc("bigrams"),
        right=second.agrees("embedding", cosine).percent(),
        constant=second.agrees("embedding", np.inf).percent(),
        tokens=about["tokens_read"],
        pairs=f"{len(people):,}",
        same=f"{100 * people.same.mean():.0f}",
        first=len(first),
        second=len(second),
        people=markdown_table(["score", "AUC, all pairs", "threshold", "agrees (%)"],
                              [_of_people(name, people, first, second) for name in SCORES]),
        gain=people.gain("embedding", "bigrams").signed(2, 1),
        better=second.better("embedding", cosine, "bigrams", bigrams).signed(1, 100),
        over_constant=second.better("embedding", cosine, "embedding", np.inf).signed(1, 100),
        threshold=f"{cosine:.2f}",
        distance=f"{1 - cosine:.2f}",
        thresholds=markdown_table(["cosine", *map(str, THRESHOLDS)], [_by_threshold(second)]),
        solutions=len(solutions),
        different=len(different),
        copies=len(copies),
        apart=markdown_table(
            ["score", "AUC", "apart, threshold of people (%)", "together, threshold of people (%)"],
            [_of_solutions(name, solutions, first) for name in SCORES]),
        read=markdown_table(
            ["pairs of", "pairs", "AUC of MiniLM", "AUC of bigrams", "apart (%)", "together (%)"],
            [_read(every.of(source=name), cosine, title) for name, title in READ.items()]),
        texts=about["texts_a_step"],
        long=seconds["long"],
        short=seconds["short"],
        examples="\n".join(map(_example, about["examples"])),
    )  # fmt: skip


def _by_threshold(second: Scored) -> list[str]:
    agrees = (second.agrees("embedding", one).value for one in THRESHOLDS)
    return ["agrees (%)", *(f"{100 * one:.0f}" for one in agrees)]


def _of_people(name: str, people: Scored, first: Scored, second: Scored) -> list[str]:
    threshold = first.threshold(name)
    said = "never the same" if np.isinf(threshold) else f"{threshold:.2f}"
    agrees = second.agrees(name, threshold).percent()
    return [SCORES[name], str(people.auc(name)), said, agrees]


def _of_solutions(name: str, solutions: Scored, first: Scored) -> list[str]:
    threshold = first.threshold(name)
    sides = [solutions.of(same=same).agrees(name, threshold).percent() for same in (False, True)]
    return [SCORES[name], str(solutions.auc(name)), *sides]


def _read(found: Scored, cosine: float, title: str) -> list[str]:
    sides = [found.of(same=one).agrees("embedding", cosine).percent() for one in (False, True)]
    return [
        title,
        str(len(found)),
        *(str(found.auc(one)) for one in ("embedding", "bigrams")),
        *sides,
    ]


def _example(found: dict[str, Any]) -> str:
    texts = [
        " ".join(text.split()).replace("|", r"\|").replace("`", "'") for text in found["texts"]
    ]
    label = "the same" if found["same"] else "different"
    by = {"people": "people call them", "solutions": "they are made to be"}.get(
        found["source"], "by the program they are"
    )
    return f"- Cosine {found['embedding']:.2f}, {by} {label} (`{found['id']}`):\n" + "\n".join(
        f"    - `{text} …`" for text in texts
    )
