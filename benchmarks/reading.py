"""Time and memory of reading a million rows of a log.

    OMP_NUM_THREADS=1 python benchmarks/reading.py [FILE]

62,500 problems with 16 samples each, a row a sample, in random order: each row has an answer, a
strategy and a text of 200 letters. Printed are the seconds of processor time and the growth of the
largest memory of the process, for all groups one after another (`setrl.logs.open_log`), and for
the arrays that figures are computed on (`load_samples`).
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEMS, SAMPLES = 62_500, 16
TEXT = "so x is the sum of both sides, which gives " * 5

CASES = {
    "all groups": """
from setrl.logs import open_log
count = sum(len(group) for group in open_log(path, needs=["correct"]))
""",
    "arrays": """
from setrl.logs import LogOptions
from setrl.evaluate.loading import load_samples
count = load_samples(path, LogOptions()).evaluation.present_PN.sum()
""",
}
MEASURE = """
import resource, sys, time
from pathlib import Path
import numpy, setrl.logs.log, setrl.evaluate.loading, setrl.logs.importers.tools
path = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
{case}
seconds = time.process_time() - start
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(f"{{count:,}} samples, {{seconds:.1f}} s, {{grown / 1024:.0f}} MiB more than before")
"""


def write(path: Path) -> None:
    """Write the log."""
    rng = random.Random(0)
    places = [problem for problem in range(PROBLEMS) for _ in range(SAMPLES)]
    rng.shuffle(places)
    with path.open("w") as file:
        for problem in places:
            answer = rng.randrange(8)
            row = {"qid": f"q{problem}", "correct": answer == 0, "pred": str(answer),
                   "strategy": f"way {rng.randrange(5)}", "output": TEXT[:200]}  # fmt: skip
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Measure each case in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "log.jsonl"
        if not path.exists():
            write(path)
        print(f"{path}: {path.stat().st_size / 2**20:.0f} MiB")
        for name, case in CASES.items():
            code = MEASURE.format(case=case)
            command = [sys.executable, "-c", code, str(path)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            print(f"{name:<12}{printed.strip()}")


if __name__ == "__main__":
    main()
