"""Print half of a run's logged groups as one file for `setrl judge-audit`.

python recipes/trained_judge/groups.py runs/trained_judge/poly_epo/seed_0/rollouts > groups.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(rollouts: Path) -> None:
    """Eight of sixteen groups a file, without their numbers, which begin anew in each file."""
    for file in sorted(rollouts.glob("step_*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines()[:8]:
            group = json.loads(line)
            del group["group"]
            print(json.dumps(group, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
