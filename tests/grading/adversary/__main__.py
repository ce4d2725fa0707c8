"""`make adversary`: near misses and rewrites of thousands of golds, ours next to math-verify."""

from __future__ import annotations

import argparse
import sys

from tests.grading.adversary.trial import ours, plain_math_verify, table, trial


def main() -> None:
    """Print the tables; leave with 1 if a near miss is accepted or a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-kind", type=int, default=100, help="golds of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=3, help="failures of each change to print")
    parser.add_argument("--without-math-verify", action="store_true")
    options = parser.parse_args()
    graders = {"setrl": ours}
    if not options.without_math_verify:
        graders["math-verify"] = plain_math_verify
    results = {
        name: trial(grade, options.per_kind, options.seed) for name, grade in graders.items()
    }
    print(table(results, options.show))
    sys.exit(0 if results["setrl"].good else 1)


if __name__ == "__main__":
    main()
