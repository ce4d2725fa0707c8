import json

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from setrl.models.small import imitation
from setrl.train.lm import base_model as module
from setrl.train.lm.base_model import base_model, make_base
from tests.tiny import tiny


def spec(**changes):
    return tiny(**changes).base


def test_it_is_a_qwen3_with_the_heads_that_vllm_takes(base):
    model = AutoModelForCausalLM.from_pretrained(base)
    assert type(model).__name__ == "Qwen3ForCausalLM"
    assert model.config.head_dim == 64
    assert model.config.eos_token_id == AutoTokenizer.from_pretrained(base).eos_token_id


def test_it_learns_samples_and_not_prompts():
    given = spec(base_corpus=64)
    tokenizer = module.make_tokenizer(given.author.vocabulary)
    examples = module.corpus_examples(given, tokenizer)
    [batch] = [imitation.collate(examples[:3], tokenizer.pad_token_id)]
    for row, example in enumerate(examples[:3]):
        learnt = batch["labels"][row][batch["labels"][row] != imitation.IGNORED].tolist()
        assert learnt == [*example.sample]
        assert learnt[-1] == tokenizer.eos_token_id
        seen = batch["input_ids"][row][batch["attention_mask"][row].bool()].tolist()
        assert seen == example.prompt + example.sample


def test_every_example_is_seen_once_an_epoch():
    given = spec(base_corpus=100)
    course = imitation.Course(epochs=2, batch_size=16, learning_rate=0.02, seed=0)
    tokenizer = module.make_tokenizer(given.author.vocabulary)
    examples = module.corpus_examples(given, tokenizer)
    rows = sorted(
        tuple(ids[mask.bool()].tolist())
        for batch in imitation.batches(examples, course, tokenizer.pad_token_id)
        for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)
    )
    assert rows == sorted(2 * [tuple(e.prompt + e.sample) for e in examples])


def test_it_learns():
    untrained, _ = make_base(spec(base_corpus=32), show_progress=False)
    trained, tokenizer = make_base(spec(base_corpus=4096), show_progress=False)
    given = spec(base_corpus=64, base_seed=9)
    examples = module.corpus_examples(given, tokenizer)
    batch = imitation.collate(examples, tokenizer.pad_token_id)
    with torch.no_grad():
        assert trained(**batch).loss < 0.7 * untrained(**batch).loss


def test_same_seed_same_bits():
    one, other = (make_base(spec(base_corpus=64), False)[0] for _ in range(2))
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_cache_is_used_for_the_same_base_only(tmp_path, monkeypatch):
    given = spec(base_corpus=32)
    folder = base_model(given, tmp_path, show_progress=False)
    assert json.loads((folder / "base.json").read_text())["base_corpus"] == 32
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]  # nothing half-written
    monkeypatch.setattr(module, "make_base", None)
    assert base_model(spec(base_corpus=32, steps=99), tmp_path) == folder
    with pytest.raises(TypeError):  # it would have to be made
        base_model(spec(base_corpus=33), tmp_path)


def test_what_decides_the_base_decides_its_name(monkeypatch):
    names = {
        spec().fingerprint,
        spec(base_layers=2).fingerprint,
        spec(domain={"name": "polynomial", "strategy": "point"}).fingerprint,
    }
    monkeypatch.setattr("setrl.train.lm.resolved.source_hash", lambda author: "another generator")
    names.add(spec().fingerprint)
    assert len(names) == 4
    assert spec().fingerprint == spec(learning_rate=0.5).fingerprint


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("transformers.PreTrainedTokenizerFast.save_pretrained", full_disk)
    with pytest.raises(OSError, match="No space left"):
        base_model(spec(base_corpus=32), tmp_path, show_progress=False)
    assert list(tmp_path.iterdir()) == []


def test_what_a_base_can_do_is_said_and_changes_nothing(capsys):
    given = spec(base_corpus=128)
    silent, _ = make_base(given, show_progress=False)
    assert capsys.readouterr().err == ""
    loud, tokenizer = make_base(given, show_progress=True)
    said = capsys.readouterr().err
    rng = module.np.random.default_rng(0)
    prompts = [given.author.corpus_problem(rng).prompt for _ in range(module.LOOKED_AT)]
    longest = max(len(one.sample) for one in module.corpus_examples(given, tokenizer))
    texts = [text for [text] in module.sample(loud, tokenizer, prompts, 1, longest)]
    right = sum(given.author.read(*pair).correct for pair in zip(prompts, texts, strict=True))
    assert f"base model: right in {right}/64 samples of training problems" in said
    assert ("set base_corpus or base_layers higher" in said) == (right == 0)
    for a, b in zip(silent.parameters(), loud.parameters(), strict=True):
        assert torch.equal(a, b)
