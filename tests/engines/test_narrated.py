"""One training with all at once: two rewards, LoRA, evaluation, accumulation, a judge that dies.

`-s` prints what a user sees of it at each event.
"""

from pathlib import Path

import pandas as pd
import pytest
from datasets import Dataset
from peft import LoraConfig

from setrl import methods
from setrl.support.errors import RunError
from setrl.train.trl import SetGRPOTrainer
from tests.engines.chat import PROMPTS, arguments
from tests.judges.helpers import make_judge
from tests.judges.server import FaultyServer

STEPS, DIES_AT = 16, 3
METHOD = methods.concave_counts(alpha=0) + 0.1 * methods.dr_grpo()
SHOWN = (
    *("reward/pass@1", "advantage/wrong_positive", "advantage/dead_groups", "advantage/skipped"),
    *("strategies/per_prompt", "judge/unknown", "eval_reward/pass@1", "eval_reward/pass@4"),
)


def correct(completions, **_):
    """Right where the first byte of the text is even: about half of a random model's samples."""
    return [float((one[0]["content"].encode() or b"\0")[0] % 2 == 0) for one in completions]


def formatted(completions, **_):
    return [float(one[0]["content"].isprintable()) for one in completions]


def trainer_in(folder, model, judge):
    args = arguments(
        folder,
        max_steps=STEPS,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        learning_rate=1e-3,
        log_completions=True,
        num_completions_to_print=0,
        save_strategy="steps",
        save_steps=2,
        eval_strategy="steps",
        eval_steps=4,
    )
    return SetGRPOTrainer(
        str(model),
        [correct, formatted],
        args,
        Dataset.from_dict({"prompt": PROMPTS * 6}),
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS[:2]}),
        peft_config=LoraConfig(r=4, target_modules=["q_proj", "v_proj"]),
        correct=correct,
        method=METHOD,
        judge=judge,
    )


def narrate(trainer):
    """Print what the trainer has logged, one line for each step or evaluation."""
    for line in trainer.state.log_history:
        shown = {key: round(line[key], 2) for key in SHOWN if line.get(key) is not None}
        print(f"step {line['step']}: {shown}")


@pytest.fixture(scope="module")
def runs(chat_model, tmp_path_factory):
    """The training whose judge dies, its error, and the training that goes on."""
    folder = tmp_path_factory.mktemp("narrated")
    with FaultyServer() as server, make_judge(server.url, {"attempts": 1}) as judge:
        stopped = trainer_in(folder, chat_model, judge)
        stopped.on_batch = lambda _: (
            server.faults.update(server_error=1.0) if stopped.state.global_step == DIES_AT else None
        )
        with pytest.raises(RunError) as error:
            stopped.train()
    narrate(stopped)
    print(error.value)
    with FaultyServer() as server, make_judge(server.url) as judge:
        again = trainer_in(folder, chat_model, judge)
        again.train(resume_from_checkpoint=True)
    narrate(again)
    return folder, stopped, str(error.value), again


def of_steps(trainer, key):
    return {one["step"]: one[key] for one in trainer.state.log_history if one.get(key) is not None}


def test_the_run_stops_when_its_judge_is_dead_and_says_why(runs):
    _, stopped, why, _ = runs
    assert "(judge: server_error: 18)" in why
    assert "What is done so far is kept" in why
    unknown = of_steps(stopped, "judge/unknown")
    assert [unknown[step] for step in range(1, DIES_AT + 1)] == [0.0] * DIES_AT
    assert set(list(unknown.values())[DIES_AT + 1 :]) == {1.0}


def test_the_same_run_goes_on_from_its_last_checkpoint(runs):
    folder, stopped, _, again = runs
    last = stopped.state.global_step
    assert again.state.global_step == STEPS
    kept = of_steps(again, "advantage/skipped")
    assert list(kept) == list(range(1, STEPS + 1))  # the log of the checkpoint, and the new steps
    assert all(kept[step] == 0 for step in kept if step > last)
    assert (folder / f"checkpoint-{STEPS}" / "adapter_model.safetensors").exists()


def test_each_sample_enters_one_loss_and_evaluation_none(runs):
    folder, _, _, again = runs
    for path in sorted(Path(folder, "completions").glob("*.parquet")):
        rows = pd.read_parquet(path)
        step = rows["step"].iloc[0]
        trained = rows[rows["advantage"].notna()]
        assert len(trained) == 8  # two prompts, over both parts of the accumulation
        assert len(rows) - len(trained) == (8 if step % 4 == 0 else 0)
        assert set(rows.columns) >= {"correct", "formatted", "strategy"}
    assert list(of_steps(again, "eval_reward/pass@4")) == [4, 8, 12, 16]
