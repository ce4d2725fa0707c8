"""Time and memory of reading 300,000 rows of a log, beside `json.loads` of the same rows.

    OMP_NUM_THREADS=1 python benchmarks/reading.py [FILE]

18,750 problems with 16 samples each, a row a sample, in random order: each row has an answer, a
strategy and a text of 200 letters. Then the same in the form of setrl's own files, a problem a line
with the texts of 8 samples. Printed are the seconds of processor time, how many times longer that
is than `json.loads` of each line, and the growth of the largest memory of the process: for all
groups one after another (`setrl.logs.open_log`), for the arrays that figures are computed on
(`load_samples`), and for `setrl credit`, which also writes all rows; `json.dumps` of them, after
`json.loads`, is the least that it could take without a faster library.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from setrl.logs import open_log
from setrl.logs.recording import log_records
from setrl.support.files import write_lines

PROBLEMS, SAMPLES = 18_750, 16
TEXT = "so x is the sum of both sides, which gives " * 5

BASE = "json.loads"
CASES = {
    BASE: """
with path.open("rb") as file:
    count = sum(1 for line in file if json.loads(line))
""",
    "all groups": """
count = sum(len(group) for group in open_log(path, needs=["correct"]))
""",
    "arrays": """
count = load_samples(path).present_PN.sum()
""",
    "and json.dumps": """
with path.open("rb") as file, open(Path(folder) / "again.jsonl", "w") as again:
    count = sum(again.write(json.dumps(json.loads(line)) + "\\n") > 0 for line in file)
""",
    "setrl credit": """
CreditLog(file=path, method="grpo", output=Path(folder) / "credited.jsonl", quiet=True).run()
count = PROBLEMS * SAMPLES
""",
}
MEASURE = """
import json, resource, sys, tempfile, time
from pathlib import Path
import numpy
from benchmarks.reading import PROBLEMS, SAMPLES
from setrl.cli.credit import CreditLog
from setrl.evaluate.loading import load_samples
from setrl.logs import open_log
from setrl.logs.importers import tools
path = Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    {case}
    seconds = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(int(count), seconds, grown / 1024)
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


def write_own(path: Path, log: Path) -> None:
    """Write the evaluation file of a log."""
    write_lines(path, log_records(open_log(log, needs=["correct"])))


def measure(case: str, path: Path) -> tuple[int, float, float]:
    """Return what a case read, its seconds and its MiB, measured in a process of its own."""
    code = MEASURE.format(case=case.replace("\n", "\n    "))
    run = subprocess.run([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=True)  # fmt: skip
    samples, seconds, grown = run.stdout.split()
    return int(samples), float(seconds), float(grown)


def main() -> None:
    """Measure each case, and print its ratio to `json.loads`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "log.jsonl"
        if not path.exists():
            write(path)
        own = Path(folder) / "evaluation.jsonl"
        write_own(own, path)
        for file in (path, own):
            print(f"{file.name}: {file.stat().st_size / 2**20:.0f} MiB")
            found = {name: measure(case, file) for name, case in CASES.items()}
            for name, (number, seconds, grown) in found.items():
                ratio = seconds / found[BASE][1]
                print(f"{name:<16}{number:,} read, {seconds:5.2f} s, {ratio:4.1f} × json.loads, "
                      f"{grown:.0f} MiB more than before", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
