"""Golds of a public data set in their original form, with what is certain about them.

A gold that is a number, or a tuple of whole numbers, is understood exactly: its near misses are
other numbers. Of every gold it is known that dressing (dollars, spaces, \\left) changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from adversary.near_misses import NearMiss
from adversary.rewrites import WRAPPERS, Rewrite

FILE = Path(__file__).parents[1] / "golds_polaris.jsonl"
_NUMBERS = re.compile(r"-?\d+|-?\d+\.\d+|-?\\frac\{\d+\}\{\d+\}|\(-?\d+(?:, ?-?\d+)+\)")
_TUPLE = re.compile(r"\((-?\d+), ?(.*)\)")


def real_golds() -> list[str]:
    """The different gold answers of 2,000 problems of POLARIS, without damaged ones."""
    with FILE.open(encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [row["answer"] for row in rows if not row.get("damaged")]


def real_near_misses(gold: str) -> Iterator[NearMiss]:
    """Other numbers: one digit changed, the sign, the order of a pair."""
    if not _NUMBERS.fullmatch(gold):
        return
    shown = gold[:7] if "." in gold else gold  # later digits of a decimal are within the tolerance
    for at in {found.start() for found in re.finditer(r"\d(?!.*\d)|[1-8]", shown)}:
        other = str((int(gold[at]) + 1) % 10)
        if not _same_number(gold, changed := gold[:at] + other + gold[at + 1 :]):
            yield NearMiss("real: digit", changed)
    if not _same_number(gold, "-" + gold) and gold[0] not in "-(":
        yield NearMiss("real: sign", "-" + gold)
    pair = _TUPLE.fullmatch(gold)
    if pair and "," not in pair[2] and int(pair[1]) != int(pair[2]):
        yield NearMiss("real: order", f"({pair[2]},{pair[1]})")


def _same_number(one: str, other: str) -> bool:
    """Whether two texts of this kind are the same; a fraction's terms are multiplied crosswise."""
    terms = [[float(part) for part in re.findall(r"-?[\d.]+", text)] for text in (one, other)]
    signs = [text.startswith("-") for text in (one, other)]
    if "frac" in one:
        return terms[0][0] * terms[1][1] == terms[1][0] * terms[0][1] and signs[0] == signs[1]
    return terms[0] == terms[1]


def real_rewrites(gold: str) -> Iterator[Rewrite]:
    """The gold in dressing."""
    for way, wrapper in WRAPPERS.items():
        yield Rewrite(f"real: {way}", wrapper.format(gold))
    for way, old, new in (
        ("dfrac", r"\frac", r"\dfrac"),
        ("sizes", "(", r"\left("),
        ("spaces", "+", " + "),
    ):
        if old in gold and (way != "sizes" or gold.count("(") == gold.count(")")):
            written = gold.replace(old, new)
            yield Rewrite(
                f"real: {way}", written.replace(")", r"\right)") if way == "sizes" else written
            )
