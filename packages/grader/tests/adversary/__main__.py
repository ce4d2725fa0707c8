"""`make adversary`: near misses, copies, rewrites and a fuzzer, ours or next to math-verify.

The checker beside it judges everything that our grader accepts. math-verify takes eight times as
long as all the rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from adversary.copies import Copy, accepted, copies
from adversary.fuzz import fuzz
from adversary.trial import ours, plain_math_verify, table, trial
from setrl_grader import grade


def main() -> None:
    """Print the tables; leave with 1 if a near miss is accepted or refuted, or a limit not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-kind", type=int, default=100, help="golds of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=3, help="failures of each change to print")
    parser.add_argument("--fuzz", type=int, default=10_000, help="answers of the fuzzer")
    parser.add_argument("--math-verify", action="store_true", help="grade by it, too")
    options = parser.parse_args()
    graders = {"setrl": ours}
    if options.math_verify:
        graders["math-verify"] = plain_math_verify
    results = {
        name: trial(grade, options.per_kind, options.seed, name) for name, grade in graders.items()
    }
    print(table(results, options.show))
    found = fuzz(options.fuzz, options.seed)
    for name, is_right in (("setrl", _ours), ("math-verify", _math_verify)):
        if name in graders:
            print(_copied(name, is_right, options))
    print(f"\nwhat setrl accepted above: {results['setrl'].checked}\n{found}")
    for gold, answer in found.refuted[: options.show]:
        print(f"  refuted: {answer!r} for {gold!r}")
    sound = results["setrl"].good and not found.refuted and not results["setrl"].checked.refuted
    sys.exit(0 if sound else 1)


def _copied(name: str, is_right: Callable[[Copy], bool], options: argparse.Namespace) -> str:
    """Return how many copies of a problem a grader accepts, by kind."""
    rows = accepted(is_right, options.per_kind, options.seed)
    tried = sum(1 for _ in copies(options.per_kind, options.seed))
    total = sum(map(len, rows.values()))
    lines = [f"\ncopies of a problem that {name} accepts: {total} of {tried}"]
    return "\n".join(lines + [f"  {kind:32}{len(row):7}" for kind, row in rows.items()])


def _ours(copy: Copy) -> bool:
    return bool(grade(rf"\boxed{{{copy.text}}}", copy.gold, prompt=copy.problem).correct)


def _math_verify(copy: Copy) -> bool:
    return plain_math_verify([copy.text], [copy.gold], [False])[0]


if __name__ == "__main__":
    main()
