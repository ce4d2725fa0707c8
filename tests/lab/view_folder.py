"""A folder for the browser tests of the run explorer: `python -m tests.lab.view_folder FOLDER`.

Two small runs with advantages of the core, one group of them hostile; evaluations; a control run.
The browser tests of reports also show its audit of a judge.
"""

import json
import sys
from pathlib import Path

import numpy as np

from setrl import methods
from setrl.evaluate.judge_audit import JudgeFindings
from setrl.judges import Group
from setrl.logs.records import record_of
from setrl.show.report.judge_audit import audit_record as audit_record_of

HOSTILE = [
    "<script>document.title = 'caught'</script>",
    "<img src=x onerror=\"document.title = 'caught'\">",
    "left \u202e right \u2066 more",
    "\x1b[31mred\x1b[0m and nul \x00",
    "half a pair \ud800",
    "long " * 60_000,
]
REWARDS = [1, 1, 1, 0, 1, 1, 1, 0]
LABELS = [0, 0, 0, 1, 0, 0, 0, 0]  # only the wrong sample y4 has strategy 1
STEPS = (1, 10, 20)


def group(step, number, texts, rewards, labels, prompt):
    """A group of Poly-EPO, as training logs it."""
    found = methods.poly_epo(4).advantages(np.array([rewards], float), strategies=[labels])
    columns = {
        "text": texts,
        "reward": rewards,
        "strategy": labels,
        "read": ["completing the square" if label else "factoring" for label in labels],
        "advantage": found.values_BN[0].tolist(),
    }
    return record_of(f"{step}/{number}", prompt, columns, step=step)


def write_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def write_run(folder, name, set_size, prompt):
    """A run of one arm, `poly_epo`, next to an evaluated arm `grpo`."""
    folder.mkdir(parents=True)
    about = {"schema_version": 1, "kind": "comparison", "name": name, "status": "finished"}
    (folder / "run.json").write_text(json.dumps({**about, "created": "2026-01-01T00:00:00"}))
    arms = f"{{poly_epo: {{method: poly_epo, set_size: {set_size}}}}}"
    (folder / "config.yaml").write_text(f"name: {name}\nsteps: 20\narms: {arms}\n")
    seed = folder / "poly_epo" / "seed_0"
    usual = [f"Let x = {i}. Then y = {i * i}." for i in range(8)]
    for step in STEPS:
        write_lines(seed / "rollouts" / f"step_{step:06d}.jsonl", [
            group(step, 0, usual, REWARDS, LABELS, f"Solve x^2 = {step}"),
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


def write_control(folder):
    """A control run of two arms with two seeds each, one arm with a hostile name."""
    folder.mkdir(parents=True)
    about = {"schema_version": 1, "kind": "control", "name": "maze", "status": "finished"}
    (folder / "run.json").write_text(json.dumps({**about, "command": "setrl control"}))
    (folder / "config.yaml").write_text("name: maze\narms: {ppo: {}, 'poly_<b>': {}}\n")
    for place, arm in enumerate(("ppo", "poly_<b>")):
        for seed in range(2):
            success = 1.0 - 0.1 * place - 0.02 * seed
            metrics = {"success": success, "effective_goals": 1.5 + 2 * place}
            metrics["hidden_pass@8"] = None
            path = folder / arm / f"seed_{seed}"
            write_lines(path / "metrics.jsonl", [
                {"step": step, "rollout/ep_rew_mean": step / 2e4, "time/time_elapsed": step / 100}
                for step in range(1000 + seed, 20_000, 1000)
            ])  # fmt: skip
            (path / "evaluation.json").write_text(json.dumps({"metrics": metrics}))


def write_logs(folder):
    """Two files of another program: the same problems, with formulas, code, and a hostile text."""
    texts = {
        "3": "So \\(\\frac{1}{2} x^2\\) is even.\n\n\\[\\sqrt{9} = 3\\]\nThe answer is \\boxed{3}.",
        "4": "```python\nprint('<b>4</b>')\n```\n**Then** $x_1 \\le 4$, and $\\nope$. \\boxed{4}",
        "5": HOSTILE[0] + " It costs $5 or $6. The answer is \\boxed{5}.",
    }  # fmt: skip
    for name, answers, ways in (("cold", "3343", 2), ("warm", "3335", 3)):
        write_lines(folder / f"{name}.jsonl", [
            {"problem_id": f"p{p}", "question": f"What is $x_{p}$?", "response": texts[answer],
             "answer": answer, "gold": "3", "correct": answer == "3",
             "strategy": f"way {answer}{i % ways}", "note_of_the_tool": "kept"}
            for p in range(12) for i, answer in enumerate(answers if p else "3355")
        ])  # fmt: skip


def write_credited(folder):
    """Write the log `warm` as `setrl credit` does, with MaxPO and sets of two."""
    lines = (folder / "warm.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    by_problem = {}
    for row in rows:
        by_problem.setdefault(row["problem_id"], []).append(row)
    for group in by_problem.values():
        rewards = [[float(row["correct"]) for row in group]]
        found = methods.maxpo(2).advantages(np.array(rewards)).values_BN[0].tolist()
        for row, advantage in zip(group, found, strict=True):
            row["advantage"] = advantage
            row["credit"] = {"method": "maxpo", "set_size": 2, "skipped": False}
    write_lines(folder / "credited_warm.jsonl", rows)


def audit_record():
    """An audit of a judge that contradicts itself on a hostile group."""
    groups = [
        Group.of_texts("two ways", ("a", "b", "c")),
        Group.of_texts(HOSTILE[0], tuple(HOSTILE[:4])),
    ]
    labels = [[(0, 1, 1), (0, 1, 1)], [(0, 1, 0, 1), (0, 0, 1, -1)]]
    values = {"adjusted_rand": [1.0, -0.2], "f1": [1.0, 0.25], "flips": [0.0, 0.5],
              "precision": [1.0, 0.5], "recall": [1.0, 0.5],
              "signs_changed": [0.0, 0.25], "advantage_change": [0.0, 0.7]}  # fmt: skip
    gold = {**values, "flips": [0.25, float("nan")]}
    found = JudgeFindings(2, 2, 0, [2.0, 2.0], values, gold=gold, labels=labels)
    about = {"judge": "j <b>", "file": "x.jsonl", "method": "poly_epo", "set_size": 2, "seed": 0}
    return audit_record_of(found, about, groups, [(0, 1, 1), None])


def main(folder):
    """Write the folder."""
    write_run(folder / "first", "first", 4, HOSTILE[0])
    write_run(folder / "second", "<b>second</b>", 3, HOSTILE[1])
    write_control(folder / "maze")
    write_logs(folder / "answers")
    write_credited(folder / "answers")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
