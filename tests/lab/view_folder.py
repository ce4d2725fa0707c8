"""A folder for the browser tests of the run explorer: `python -m tests.lab.view_folder FOLDER`.

Two small runs with advantages of the core, one group of them hostile; evaluations; an audit.
"""

import json
import sys
from pathlib import Path

import numpy as np

from setrl import methods

HOSTILE = [
    "<script>document.title = 'caught'</script>",
    "<img src=x onerror=\"document.title = 'caught'\">",
    "left \u202e right \u2066 more",
    "\x1b[31mred\x1b[0m and nul \x00",
    "half a pair \ud800",
    "long " * 60_000,
]
REWARDS = [1, 1, 1, 0, 1, 1, 1, 0]
CLUSTERS = [0, 0, 0, 1, 0, 0, 0, 0]  # the wrong sample y4 alone has strategy 1
STEPS = (1, 10, 20)


def group(step, number, texts, rewards, clusters, prompt):
    """A group of Poly-EPO, as training logs it."""
    found = methods.poly_epo(4).advantages(np.array([rewards], float), clusters=[clusters])
    samples = [
        {
            "text": text,
            "reward": reward,
            "strategy": "completing the square" if cluster else "factoring",
            "cluster": cluster,
            "advantage": advantage,
            "counterfactual": {},
        }
        for text, reward, cluster, advantage in zip(
            texts, rewards, clusters, found.values_BN[0].tolist(), strict=True
        )
    ]
    about = {"schema_version": 1, "step": step, "group": number, "prompt": prompt}
    return {**about, "samples": samples}


def write_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def write_run(folder, name, set_size, prompt):
    """A run of one arm, `poly_epo`, beside an evaluated arm `grpo`."""
    folder.mkdir(parents=True)
    about = {"schema_version": 1, "kind": "comparison", "name": name, "status": "finished"}
    (folder / "run.json").write_text(json.dumps({**about, "created": "2026-01-01T00:00:00"}))
    arms = f"{{poly_epo: {{method: poly_epo, set_size: {set_size}}}}}"
    (folder / "config.yaml").write_text(f"name: {name}\nsteps: 20\narms: {arms}\n")
    seed = folder / "poly_epo" / "seed_0"
    usual = [f"Let x = {i}. Then y = {i * i}." for i in range(8)]
    for step in STEPS:
        write_lines(seed / "rollouts" / f"step_{step:06d}.jsonl", [
            group(step, 0, usual, REWARDS, CLUSTERS, f"Solve x^2 = {step}"),
            group(step, 1, ["same"] * 6, [1] * 6, [0] * 6, "Nothing to learn"),
            group(step, 2, HOSTILE, [1, 1, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], prompt),
        ])  # fmt: skip
    keys = ("reward/mean", "strategies/per_prompt", "policy/entropy", "time/step")
    write_lines(seed / "metrics.jsonl", [
        {"step": step, **{key: (place + 1) / step for place, key in enumerate(keys)}}
        for step in range(1, 21)
    ])  # fmt: skip
    for arm, share in {"poly_epo": 0.6, "grpo": 0.3}.items():
        rng = np.random.default_rng(0)
        write_lines(folder / arm / "seed_0" / "evaluation" / "test.jsonl", [
            {
                "schema_version": 1, "prompt": f"problem {p} {prompt}", "split": "test", "n": 16,
                "correct": (rng.random(16) < share * rng.random()).astype(int).tolist(),
                "strategies": [None] * 16, "answers": [None] * 16,
            }
            for p in range(12)
        ])  # fmt: skip


def main(folder):
    """Write the folder."""
    write_run(folder / "first", "first", 4, HOSTILE[0])
    write_run(folder / "second", "<b>second</b>", 3, HOSTILE[1])
    estimate = {"value": 0.9, "low": 0.8, "high": 1.0, "stderr": 0.1, "groups": 3, "missing": 0}
    agreement = {"itself": {"adjusted_rand": estimate}}
    audit = {"schema_version": 1, "judge": "exact", "file": "x.jsonl", "groups": 3, "orders": 5,
             "judgements_unknown": 0, "clusters": estimate, "agreement": agreement}  # fmt: skip
    (folder / "judge.audit").mkdir()
    (folder / "judge.audit" / "audit.json").write_text(json.dumps(audit))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
