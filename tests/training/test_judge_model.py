import json

import numpy as np
import pytest

from setrl import DEGENERATE
from setrl.domains import DOMAINS, by_name
from setrl.errors import RunError
from setrl.judges.oracle import OracleJudge
from setrl.training.judge_model import (
    JudgeModelConfig,
    draw_group,
    judge_examples,
    judge_tokenizer,
    train_judge,
)


@pytest.mark.parametrize("name", DOMAINS)
def test_requests_and_replies_can_be_written_and_read(name):
    config = JudgeModelConfig(by_name(name), groups=20)
    tokenizer = judge_tokenizer(config.domain, config.most_samples)
    for example in judge_examples(config, tokenizer):
        assert tokenizer.unk_token_id not in example.prompt + example.sample
        request = tokenizer.decode(example.prompt)
        reply = tokenizer.decode(example.sample[:-1])
        assert example.sample[-1] == tokenizer.eos_token_id
        clusters = json.loads(reply)["clusters"]
        assert f"\n#{len(clusters)}\n" in request
        assert f"\n#{len(clusters) + 1}\n" not in request


def test_replies_are_the_oracles_in_the_order_shown():
    config = JudgeModelConfig(by_name("polynomial"), groups=30)
    tokenizer = judge_tokenizer(config.domain, config.most_samples)
    for example in judge_examples(config, tokenizer):
        request = tokenizer.decode(example.prompt)
        prompt, *shown = request.replace("\n", "|").rstrip("|").split("|#")
        texts = [text.partition("|")[2] for text in shown]
        names = [config.domain.read(prompt, text).strategy for text in texts]
        clusters = json.loads(tokenizer.decode(example.sample[:-1]))["clusters"]
        assert [label == 0 for label in clusters] == [name is None for name in names]
        pairs = {(name, label) for name, label in zip(names, clusters, strict=True) if label}
        assert len(pairs) == len({name for name, _ in pairs}) == len({lab for _, lab in pairs})


def test_groups_are_of_few_and_of_many_strategies_and_hold_broken_samples():
    domain, rng = by_name("polynomial"), np.random.default_rng(0)
    groups = [draw_group(domain, 16, rng, list) for _ in range(200)]
    labels = [one.clusters_N for one in OracleJudge(domain).judge(groups)]
    counts = {len(set(row) - {DEGENERATE}) for row in labels}
    assert min(counts) == 1
    assert max(counts) >= 10
    assert any(DEGENERATE in row for row in labels)
    assert sum(len(group.samples) == 16 for group in groups) > 80


def test_a_judge_is_saved_with_a_template_and_never_over_another(tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    config = JudgeModelConfig(by_name("polynomial"), groups=64, hidden_size=64, layers=1)
    folder = train_judge(config, tmp_path / "judge", show_progress=False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    message = [{"role": "user", "content": "y=x, x!=1: \n#1\n(2, 2)"}]
    text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    assert text == "y=x, x!=1: \n#1\n(2, 2)\n"
    assert AutoModelForCausalLM.from_pretrained(folder).config.hidden_size == 64
    with pytest.raises(RunError, match="is there already"):
        train_judge(config, folder, show_progress=False)
