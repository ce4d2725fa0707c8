"""`make adversary`: near misses, rewrites and a fuzzer, ours next to math-verify.

The checker beside it judges everything that our grader accepts.
"""

from __future__ import annotations

import argparse
import sys

from adversary.fuzz import fuzz
from adversary.trial import ours, plain_math_verify, table, trial


def main() -> None:
    """Print the tables; leave with 1 if a near miss is accepted or refuted, or a limit not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-kind", type=int, default=100, help="golds of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=3, help="failures of each change to print")
    parser.add_argument("--fuzz", type=int, default=20_000, help="answers of the fuzzer")
    parser.add_argument("--without-math-verify", action="store_true")
    options = parser.parse_args()
    graders = {"setrl": ours}
    if not options.without_math_verify:
        graders["math-verify"] = plain_math_verify
    results = {
        name: trial(grade, options.per_kind, options.seed) for name, grade in graders.items()
    }
    print(table(results, options.show))
    found = fuzz(options.fuzz, options.seed)
    print(f"\nwhat setrl accepted above: {results['setrl'].checked}\n{found}")
    for gold, answer in found.refuted[: options.show]:
        print(f"  refuted: {answer!r} for {gold!r}")
    sound = results["setrl"].good and not found.refuted and not results["setrl"].checked.refuted
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
