import pickle
import re
from pathlib import Path

import pytest

from setrl.rewards import Combine, Truncation
from setrl.support.errors import ConfigError
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.run import LanguageModelArms
from tests.tiny import tiny

load = ResolvedConfig.load

TEXT = """\
name: small
domain: {name: polynomial, strategy: point}
arms:
  grpo: {method: dr_grpo}
  poly_epo: {method: poly_epo, set_size: 4, beta: 1e-2}
learning_rate: 1e-3
seeds: [0, 1]
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(TEXT)
    return path


def test_what_a_file_says(path):
    resolved = load(path)
    assert resolved.config.seeds == (0, 1)
    assert resolved.config.learning_rate == 1e-3  # in YAML 1.1, 1e-3 is a string
    assert resolved.task.domain.strategy == resolved.base.author.strategy == "point"
    arms = {name: (arm.beta, arm.entropy_coef) for name, arm in resolved.arms.items()}
    assert arms == {"grpo": (0.0, 0.0), "poly_epo": (0.01, 0.0)}
    assert resolved.arms["poly_epo"].method.set_size == 4


def test_a_resolved_config_reads_back_as_itself(path, tmp_path):
    config = load(path).config
    assert config.eval_splits == ("test", "shifted")
    (tmp_path / "resolved.yaml").write_text(config.to_yaml())
    again = load(tmp_path / "resolved.yaml").config
    assert again == config
    assert config.differences(again) == []


def test_differences_name_what_changes_results(path):
    config = load(path).config
    other = load(path, ["steps=7", "workers=1", "arms.poly_epo.set_size=3"]).config
    keys = [line.partition(":")[0] for line in config.differences(other)]
    assert keys == ["arms.poly_epo.set_size", "steps"]


@pytest.mark.parametrize(
    ("steps", "every", "updates", "recorded"),
    [(5, 10, 1, [1, 5]), (25, 10, 1, [1, 10, 20, 25]), (1, 10, 1, [1]), (12, 5, 2, [1, 5, 9, 11])],
)
def test_the_first_and_the_last_batch_are_recorded(path, steps, every, updates, recorded):
    numbers = [f"steps={steps}", f"rollouts_every={every}", f"num_iterations={updates}"]
    config = load(path, numbers).config
    begins = range(1, steps + 1, updates)
    assert list(filter(config.is_recorded, begins)) == recorded


def test_an_arm_that_ignores_a_reward_is_told_in_the_words_of_a_config(path):
    arms = ["arms={counts: {method: concave_counts, alpha: 0}, grpo: {method: grpo}}"]
    assert load(path, arms).notes == []  # the task has one reward
    rows = ['{"problem": "1 + 1", "answer": "2"}', '{"problem": "1 + 2", "answer": "3"}']
    (path.parent / "problems.jsonl").write_text("\n".join(rows))
    (path.parent / "forms.py").write_text("def formatted(completions, **_):\n    return [0.0]\n")
    reward = "[number, {function: forms:formatted, weight: 0.5}]"
    keys = "data: problems.jsonl, splits: {test: 1}, strategy: final_answer, correct: number"
    task = f"task={{{keys}, reward: {reward}}}"
    [note] = load(path, [*arms, "domain=null", "model=m", task]).ignored_rewards
    assert "arm counts: concave_counts reads only which samples are right: formatted has" in note
    assert "{method: sum, of: [{method: concave_counts, alpha: 0}, {method: dr_grpo" in note


def test_overrides_come_last(path):
    resolved = load(path, ["steps=7", "arms.poly_epo.set_size=3", "arms.new.method=rloo"])
    assert (resolved.config.steps, resolved.arms["poly_epo"].method.set_size) == (7, 3)
    assert resolved.arms["new"].method.name == "rloo"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds:", "sedes:", r"config.yaml:7: unknown key 'sedes'; did you mean 'seeds'\?"),
        ("name: small", "", "config.yaml: the key 'name' is missing"),
        ("poly_epo, set", "polyepo, set", r":5: .*'polyepo'; did you mean 'poly_epo'"),
        ("set_size", "setsize", r":5: arm 'poly_epo': .*'setsize'; did you mean 'set_size'"),
        (
            "set_size: 4",
            "set_size: 17",
            r":5: .*set_size must be an integer in \[1, 15\] .* got 17",
        ),
        ("set_size: 4", "set_size: four", r":5: .*set_size must be an integer"),
        ("1e-2", "-1", r":5: arms.poly_epo.beta must be at least 0, got -1"),
        ("polynomial", "polynomail", ":2: .*polynomial.*got 'polynomail'|:2: .*did you mean"),
        ("point", "points", ":2: strategy must be 'x' or 'point', got 'points'"),
        ("1e-3", "fast", ":6: learning_rate must be a number, got 'fast'"),
        ("1e-3", "0", ":6: learning_rate must be a number above 0, got 0"),
        ("1e-3", ".nan", ":6: learning_rate must be a finite number, got nan"),
        ("[0, 1]", "[0, 0]", r":7: seeds must be different numbers ≥ 0, got \(0, 0\)"),
        ("[0, 1]", "true", ":7: seeds must be a list, got True"),
        ("grpo: {", "base: {", ":3: arms: 'base' is reserved for another folder of the run"),
        ("grpo: {", "Base: {", ":3: arms: 'Base' is reserved for another folder of the run"),
        (
            "grpo: {",
            "GRPO: {method: rloo}\n  grpo: {",
            ":5: arms: 'GRPO' and 'grpo' are",
        ),
        ("  grpo: {", "  ../up: {", r":3: arms: '../up' must start with a letter or digit"),
        ("seeds: [0, 1]", "name: again", ":7: name is also on line 1"),
        ("[0, 1]", "[0, 1", "config.yaml:8: is not YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(path, old, new, message):
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("steps=0", "override 'steps=0': steps must be a number above 0, got 0"),
        ("stepps=1", "override 'stepps=1': unknown key 'stepps'; did you mean 'steps'"),
        ("steps", "an override must look like key=value, got 'steps'"),
        ("steps.x=1", r"override 'steps.x=1': steps must be a whole number"),
        ("name.x=1", "override 'name.x=1': name is not a mapping"),
        ("arms.poly_epo.set_size=40", "override 'arms.poly_epo.set_size=40': arm 'poly_epo'"),
        (
            "samples_per_prompt=1",
            r"samples_per_prompt must be at least 2 \(credit .*\), got 1",
        ),
        ("micro_batch_size=100", "must divide prompts_per_step × samples_per_prompt = 256"),
        ("base_hidden_size=100", "must be a multiple of 64, got 100"),
        ("eval_splits=[tests]", "eval_splits must be of train, test, shifted, got 'tests'"),
        ("truncated=punsh", "'truncated=punsh': truncated must be one of count, mask, punish, got"),
        ("truncated={mask: 1}", "a reward for truncated samples must be a finite number, as in"),
        ("samples_per_prompt=1000000000", "samples_per_prompt must be at most 16,384, got"),
        ("seeds=[4294967296]", "seeds must be at most 4,294,967,295, got"),
        ("name=" + "x" * 101, r"name: 'x+' must start .* and have only .*, 100 at most"),
        (
            "arms.poly_epo.set_size={schedule: linear, first: .nan, last: 2}",
            "first of a schedule must be a finite number, got nan",
        ),
        ("fields={answers: {function: f}}", "a function is given as 'module:name'"),
        ("fields={answers: {folder: f, colum: c}}", r"answers must be .*, got \{'colum': 'c'\}$"),
        ("loss_type=ppo", "loss_type must be 'grpo', 'dr_grpo', 'dapo' or 'bnpo', got 'ppo'"),
    ],
)
def test_what_is_wrong_with_an_override_is_named(path, override, message):
    with pytest.raises(ConfigError, match=message):
        load(path, [override])


def test_a_set_of_all_samples_has_no_contrast(path):
    message = r"set_size must be an integer in \[1, 15\] with samples_per_prompt=16, got 16"
    with pytest.raises(ConfigError, match=message):
        load(path, ["arms.poly_epo={method: maxpo, set_size: 16}"])
    load(path, ["arms.poly_epo={method: pkpo, set_size: 16}"])  # compares other sets


def test_checkpoints_do_not_cut_a_batch_in_two(path):
    with pytest.raises(
        ConfigError, match="checkpoint_every must be a multiple of num_iterations=3"
    ):
        load(path, ["num_iterations=3"])


def test_truncated_samples(path):
    cases = {
        (): Truncation("count"),
        ("truncated=mask",): Truncation("mask"),
        ("truncated={punish: -1}",): Truncation("punish", -1),
    }
    for overrides, expected in cases.items():
        assert load(path, overrides).truncation == expected


TASK = """\
name: small
task: {data: problems.jsonl, correct: number,
       reward: {rewards: [number, {function: own:f}], normalize: group}}
model: none
arms:
  grpo: {method: grpo}
  other: {method: poly_epo, set_size: 2}
"""


def test_rewards_that_are_normalised_apart(tmp_path):
    (tmp_path / "problems.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}\n' * 30)
    (tmp_path / "own.py").write_text("def f(completions): return [0] * len(completions)")
    path = tmp_path / "config.yaml"
    path.write_text(TASK.replace("{method: poly_epo, set_size: 2}", "{method: rloo}"))
    assert load(path).task.combine == Combine((1.0, 1.0), normalize="group", outcome=0)
    path.write_text(TASK.replace("own:f", "own:g"))
    with pytest.raises(ConfigError, match=r"config.yaml:2: own:g: .*own.py has no function 'g'"):
        load(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match=re.escape("none.yaml: cannot read the config: No such")):
        load(tmp_path / "none.yaml")


def test_a_program_is_no_config(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("import trl\nprint(1)\n")
    with pytest.raises(ConfigError, match=r"train.py is a program, not a config: .*YAML"):
        load(path)


def test_a_path_from_elsewhere_is_said_from_the_configs_folder(tmp_path, monkeypatch):
    recipe = tmp_path / "recipes"
    recipe.mkdir()
    (recipe / "own.jsonl").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    (recipe / "config.yaml").write_text(
        "name: own\nmodel: none\ntask: {data: own.jsonl}\narms: {grpo: {method: grpo}}\n"
    )
    with pytest.raises(
        ConfigError,
        match=r"recipes/recipes/own.jsonl: no such file: paths of a "
        r"task start in the folder of the config; from there .* is own.jsonl",
    ):
        load("recipes/config.yaml", ["task.data=recipes/own.jsonl"])


def test_a_file_that_is_no_mapping(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("- 1\n- 2\n")
    with pytest.raises(ConfigError, match="a config must be a mapping"):
        load(path)


def test_sets_that_grow(path):
    arms = load(path, ["arms.poly_epo.set_size={schedule: linear, first: 2, last: 8}"]).arms
    sizes = [arms["poly_epo"].method_at(step / 6).set_size for step in range(7)]
    assert sizes == [2, 3, 4, 5, 6, 7, 8]
    assert arms["poly_epo"].schedule is not None
    assert arms["grpo"].schedule is None
    with pytest.raises(ConfigError, match=r"set_size must be .* got 40"):
        load(path, ["arms.poly_epo.set_size={schedule: linear, first: 2, last: 40}"])


def test_another_process_resolves_the_same(path):
    """A job is pickled; the value is made again of its keys, and tasks need not be picklable."""
    resolved = load(path, ["arms.poly_epo.set_size={schedule: linear, first: 2, last: 8}"])
    again = pickle.loads(pickle.dumps(resolved))
    assert again.config == resolved.config
    assert again.task == resolved.task
    assert again.arms["poly_epo"].method_at(1.0) == resolved.arms["poly_epo"].method_at(1.0)


def test_each_split_may_have_its_own_number_of_problems():
    resolved = tiny(eval_problems={"shifted": 7}, eval_splits=None)
    assert [resolved.eval_problems(split) for split in resolved.eval_splits] == [100, 7]
    arms = LanguageModelArms(resolved, Path("run"), Path("cache"))
    cost = 0.25 * resolved.config.eval_samples / resolved.samples_per_step
    assert arms.cost(None) == pytest.approx(107 * cost)
    assert arms.cost("grpo") == pytest.approx(107 * cost + 6)
    cold = tiny(eval_problems={"shifted": 7}, eval_splits=None, cold_base=0.5)
    arms = LanguageModelArms(cold, Path("run"), Path("cache"))
    assert arms.cost(None) == pytest.approx(2 * 107 * cost)
    assert arms.cost("grpo") == pytest.approx(2 * 107 * cost + 6)
    with pytest.raises(ConfigError, match="eval_problems must name splits of test, shifted, got"):
        tiny(eval_problems={"shfted": 7}, eval_splits=None)
    with pytest.raises(ConfigError, match=r"test must be a number above 0"):
        tiny(eval_problems={"test": 0})
