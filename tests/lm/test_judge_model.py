import numpy as np
import pytest

from recipes.trained_judge.judge import JudgeModelConfig, judge_examples, sample_group, train_judge
from setrl import DEGENERATE
from setrl.judges.oracle import OracleJudge
from setrl.judges.replies import read_reply
from setrl.support.errors import RunError
from setrl.tasks.domains import DOMAINS, by_name


@pytest.mark.parametrize("name", DOMAINS)
def test_requests_and_replies_can_be_written_and_read(name):
    examples, tokenizer = judge_examples(JudgeModelConfig(by_name(name), groups=20))
    for example in examples:
        assert tokenizer.unk_token_id not in example.prompt + example.sample
        assert example.sample[-1] == tokenizer.eos_token_id
        request = tokenizer.decode(example.prompt)
        shown = [n for n in range(1, 18) if f"\n#{n}\n" in request]
        reply = tokenizer.decode(example.sample[:-1])
        assert len(read_reply(reply, len(shown))) == len(shown)


def test_replies_are_the_oracles_in_the_order_shown():
    domain = by_name("polynomial")
    examples, tokenizer = judge_examples(JudgeModelConfig(domain, groups=30))
    for example in examples:
        prompt, *shown = tokenizer.decode(example.prompt).removesuffix("\n").split("\n#")
        names = [domain.read(prompt, text.partition("\n")[2]).strategy for text in shown]
        labels = read_reply(tokenizer.decode(example.sample[:-1]), len(names))
        first = [DEGENERATE if name == DEGENERATE else names.index(name) for name in names]
        assert list(labels) == first


def test_groups_are_of_few_and_of_many_strategies_and_hold_broken_samples():
    domain, rng = by_name("polynomial"), np.random.default_rng(0)
    groups = [sample_group(domain, 16, rng, list) for _ in range(200)]
    labels = [one.labels_N for one in OracleJudge(domain).judge(groups)]
    counts = {len(set(row) - {DEGENERATE}) for row in labels}
    assert min(counts) == 1
    assert max(counts) >= 10
    assert any(DEGENERATE in row for row in labels)
    assert sum(len(group.texts) == 16 for group in groups) > 80


def test_a_judge_is_saved_with_a_template_and_never_over_another(tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    config = JudgeModelConfig(by_name("polynomial"), groups=64, hidden_size=64, layers=1)
    folder = train_judge(config, tmp_path / "judge", show_progress=False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    message = [{"role": "user", "content": "y=x, x!=1: \n#1\n(2, 2)"}]
    text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    assert text == "y=x, x!=1: \n#1\n(2, 2)\n"
    assert AutoModelForCausalLM.from_pretrained(folder).config.hidden_size == 64
    with pytest.raises(RunError, match="exists already"):
        train_judge(config, folder, show_progress=False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"most_samples": 0}, "most_samples must be at least 1, got 0"),
        ({"groups": 0}, "groups must be at least 1, got 0"),
        ({"hidden_size": 63}, "hidden_size must be a multiple of 64, got 63"),
    ],
)
def test_sizes_out_of_range_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        JudgeModelConfig(by_name("polynomial"), **settings)


def test_a_place_that_cannot_be_written_is_found_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("recipes.trained_judge.judge.judge_examples", lambda _: pytest.fail("work"))
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        train_judge(JudgeModelConfig(by_name("polynomial")), tmp_path / "file" / "judge")
