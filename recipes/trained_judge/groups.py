"""Print half of a run's logged groups as one file for `setrl judge-audit`.

python recipes/trained_judge/groups.py runs/trained_judge/poly_epo/seed_0/rollouts > groups.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from setrl.support import files


def main(rollouts: Path) -> None:
    """Yield eight of sixteen groups a file, without their numbers, which restart in each file."""
    for file in sorted(rollouts.glob("step_*.jsonl")):
        for group in files.read_lines(file)[:8]:
            del group["group"]
            print(json.dumps(group, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
