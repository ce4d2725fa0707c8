"""Make lm_eval/: logs of lm-evaluation-harness's own, of a made-up model on two tasks.

    pip install lm_eval==0.4.13
    python tests/data/make_lm_eval_log.py

Each task has four problems with the ids 0 to 3, and two filters: the number after ####, and the
last number. The names of the files have the time of the run.
"""

import json
import shutil
import tempfile
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

FOLDER = Path(__file__).parent / "lm_eval"
TASKS = {"sums": [(f"{i} + 5?", i + 5) for i in range(4)],
         "products": [(f"{i} * 7?", i * 7) for i in range(4)]}  # fmt: skip
CONFIG = """
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["Q:"], do_sample: false}}
repeats: 1
filter_list:
  - name: strict-match
    filter: [{{function: regex, regex_pattern: "#### (\\\\-?[0-9]+)"}}, {{function: take_first}}]
  - name: flexible-extract
    filter:
      - {{function: regex, group_select: -1, regex_pattern: "(-?[0-9]+)"}}
      - {{function: take_first}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
"""


class MadeUp(LM):
    """A model that is right with the usual form, right without it, or wrong, in turn."""

    def generate_until(self, requests, disable_tqdm=False):
        """Answer by the place of the request."""
        answers = {question: answer for rows in TASKS.values() for question, answer in rows}
        return [self._said(i % 4, answers[one.args[0]]) for i, one in enumerate(requests)]

    def _said(self, way, answer):
        said = (f"Work.\n#### {answer}", f"The total is {answer}", f"#### {answer + 1}", "No idea.")
        return said[way]

    def loglikelihood(self, requests, disable_tqdm=False):
        """No task asks for it."""
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def main() -> None:
    """Write the logs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for task, rows in TASKS.items():
            data = folder / f"{task}.jsonl"
            lines = [json.dumps({"question": q, "answer": str(a)}) for q, a in rows]
            data.write_text("\n".join(lines) + "\n")
            (folder / f"{task}.yaml").write_text(CONFIG.format(task=task, data=data))
        manager = TaskManager(include_path=str(folder), include_defaults=False)
        found = simple_evaluate(MadeUp(), tasks=list(TASKS), task_manager=manager, log_samples=True,
                                bootstrap_iters=0)  # fmt: skip
        tracker = EvaluationTracker(output_path=str(folder / "out"))
        samples = found.pop("samples")
        tracker.save_results_aggregated(results=found, samples=samples)
        for task, of_task in samples.items():
            tracker.save_results_samples(task_name=task, samples=of_task)
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for path in (folder / "out").rglob("samples_*.jsonl"):
            shutil.copy(path, FOLDER)


if __name__ == "__main__":
    main()
