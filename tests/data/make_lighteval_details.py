"""Make lighteval/: details of lighteval's own, of a made-up model on four problems.

    pip install lighteval==0.13.0
    python tests/data/make_lighteval_details.py

Each problem has one sample and one metric. The name of the file has the time of the run, and _ for
the | of lighteval.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.metrics.metrics import Metrics
from lighteval.models.abstract_model import LightevalModel, ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.registry import Registry
from lighteval.tasks.requests import Doc
from lighteval.utils.cache_management import SampleCache

FOLDER = Path(__file__).parent / "lighteval"
DATA = Path(tempfile.gettempdir()) / "made_up_sums"
SAID = ("5", "6", "8", "no idea")


def as_doc(line, task_name=None):
    """Return a problem."""
    return Doc(query=line["question"], choices=[line["answer"]], gold_index=0, task_name=task_name)


TASKS_TABLE = [
    LightevalTaskConfig(
        name="sums",
        prompt_function=as_doc,
        hf_repo=str(DATA),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[Metrics.exact_match],
        generation_size=8,
        stop_sequence=[],
    )
]


class MadeUp(LightevalModel):
    """A model that is right, right, wrong, and unreadable."""

    tokenizer, add_special_tokens, max_length = None, False, 100
    config = ModelConfig(model_name="made-up")

    def __init__(self):
        self._cache = SampleCache(self.config)

    def greedy_until(self, docs):
        """Answer by the place of the problem."""
        said = {f"{i} + 5?": text for i, text in enumerate(SAID)}
        return [
            ModelResponse(input=doc.query, text=[said[doc.query]], output_tokens=[[1, 2]])
            for doc in docs
        ]

    def loglikelihood(self, docs):
        """No task asks for it."""
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def main() -> None:
    """Write the details."""
    # lighteval's own tasks are not needed, and one of them asks the network when it is imported.
    for name in ("_load_from_files", "_load_from_subdirs"):
        setattr(Registry, name, staticmethod(lambda *_: {}))
    DATA.mkdir(exist_ok=True)
    rows = [{"question": f"{i} + 5?", "answer": str(i + 5)} for i in range(len(SAID))]
    (DATA / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with tempfile.TemporaryDirectory() as out:
        pipeline = Pipeline(
            tasks="sums|0",
            pipeline_parameters=PipelineParameters(
                launcher_type=ParallelismManager.CUSTOM, custom_tasks_directory=__file__
            ),
            evaluation_tracker=EvaluationTracker(output_dir=out, save_details=True),
            model=MadeUp(),
        )
        pipeline.evaluate()
        pipeline.save_and_push_results()
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for path in Path(out).rglob("details_*.parquet"):
            shutil.copy(path, FOLDER / path.name.replace("|", "_"))  # not in every file system
    shutil.rmtree(DATA)


if __name__ == "__main__":
    sys.exit(main())
