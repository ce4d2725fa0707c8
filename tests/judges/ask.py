"""A process that asks a judge: `python ask.py URL CACHE SEED`; one JSON list a group, as they come.

The seed sets the order in which it goes through the same forty groups.
"""

import json
import random
import sys

from tests.judges.helpers import make_groups, make_judge

if __name__ == "__main__":
    url, cache, seed = sys.argv[1:]
    groups = make_groups(40)
    order = random.Random(int(seed)).sample(range(40), 40)
    try:
        with make_judge(url, {"concurrency": 2, "timeout_s": 60}, cache=cache) as judge:
            found = judge.judge([groups[i] for i in order])
    except KeyboardInterrupt:
        print("stopped by the keyboard")
        sys.exit(130)
    print(json.dumps([found[order.index(i)].labels_N for i in range(40)]))
