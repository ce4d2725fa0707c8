import numpy as np
import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from setrl.models.small import sampler
from setrl.models.small.decoder import CompactDecoder
from setrl.models.small.tokenizer import make_tokenizer

VOCABULARY = [*"abcdefghij", "<", ">"]
PROMPTS = [[3, 4, 5], [6], [7, 8, 9, 10, 11], [12, 3]]
END = 1


def make_model(heads=2, key_heads=1, layers=2):
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(VOCABULARY) + 3,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        head_dim=16,
        tie_word_embeddings=True,
        pad_token_id=0,
        eos_token_id=END,
        initializer_range=0.3,  # far from uniform, so that mistakes show
    )
    model = Qwen3ForCausalLM(config).eval()
    for name, weight in model.named_parameters():
        if "norm" in name:  # weights of 1 would hide a mistake in the norms
            torch.nn.init.uniform_(weight, 0.5, 1.5)
    return model


@pytest.fixture(scope="module")
def model():
    return make_model()


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("heads", "key_heads"), [(2, 1), (4, 2), (2, 2)])
def test_logits_are_those_of_transformers(heads, key_heads):
    model = make_model(heads, key_heads)
    new = torch.tensor([[4, 9, 3], [5, 5, 12], [6, 7, 8], [11, 10, 3]])
    with torch.inference_mode():
        decoder = CompactDecoder(model)
        logits = [decoder.read(PROMPTS, 3), *(decoder.step(new[:, t]) for t in range(3))]
        for row, prompt in enumerate(PROMPTS):
            ids = torch.tensor([[*prompt, *new[row].tolist()]])
            expected = model(ids).logits[0, len(prompt) - 1 :]
            torch.testing.assert_close(torch.stack(logits)[:, row], expected, rtol=1e-4, atol=1e-4)


def test_selected_rows_go_on_as_themselves(model):
    rows = torch.tensor([2, 0, 2])
    token = torch.tensor([5, 6, 7])
    with torch.inference_mode():
        decoder = CompactDecoder(model)
        decoder.read(PROMPTS, 2)
        decoder.select(rows)
        logits = decoder.step(token)
        for row, start, new in zip(logits, rows, token, strict=True):
            expected = model(torch.tensor([[*PROMPTS[start], int(new)]])).logits[0, -1]
            torch.testing.assert_close(row, expected, rtol=1e-4, atol=1e-4)


def test_greedy_samples_are_those_of_generate(model):
    ours = sampler.sample_ids(model, PROMPTS, 2, 8, 0.0, generator())
    for prompt, (first, second) in zip(PROMPTS, ours, strict=True):
        tokens = model.generate(
            torch.tensor([prompt]), max_new_tokens=8, do_sample=False, use_cache=False
        )
        assert first == second == tokens[0, len(prompt) :].tolist()


def test_samples_have_the_distribution_of_the_model(model):
    """Frequencies of the first two tokens against the exact probabilities, at temperature 0.7."""
    prompt, n, temperature = PROMPTS[0], 40_000, 0.7
    [samples] = sampler.sample_ids(model, [prompt], n, 2, temperature, generator())
    with torch.inference_mode():
        first_V = (model(torch.tensor([prompt])).logits[0, -1] / temperature).softmax(-1)
        ids = torch.tensor([[*prompt, token] for token in range(len(first_V))])
        second_VV = (model(ids).logits[:, -1] / temperature).softmax(-1)
    joint_VV = (first_V[:, None] * second_VV).numpy()
    joint_VV[END] = 0
    joint_VV[END, 0] = float(first_V[END])  # the end token ends the sample
    counts_VV = np.zeros_like(joint_VV)
    for first, *rest in samples:
        counts_VV[first, rest[0] if rest else 0] += 1
    expected_VV = n * joint_VV
    often = expected_VV > 20
    assert counts_VV[expected_VV < 1e-9].sum() == 0
    deviation = (counts_VV - expected_VV)[often] / np.sqrt(expected_VV[often])
    assert np.square(deviation).sum() < often.sum() + 5 * np.sqrt(2 * often.sum())


def test_samples_end_at_the_end_token_or_the_limit(model):
    samples = sampler.sample_ids(model, PROMPTS, 64, 6, 1.0, generator())
    lengths = [len(sample) for group in samples for sample in group]
    assert min(lengths) < 6 == max(lengths)
    for group in samples:
        for sample in group:
            assert END not in sample[:-1]
            assert len(sample) == 6 or sample[-1] == END


def test_a_seed_decides_the_samples(model):
    def draw(seed):
        return sampler.sample_ids(model, PROMPTS, 8, 6, 1.0, generator(seed))

    assert draw(3) == draw(3) != draw(4)


@pytest.mark.parametrize(("prompts", "n"), [(1, 7), (4, 3), (4, 9)])
def test_groups_keep_their_shape_however_they_are_batched(model, monkeypatch, prompts, n):
    monkeypatch.setattr(sampler, "ROWS", 4)
    samples = sampler.sample_ids(model, PROMPTS[:prompts], n, 2, 0.0, generator())
    assert [len(group) for group in samples] == [n] * prompts
    expected = sampler.sample_ids(model, PROMPTS[:prompts], 1, 2, 0.0, generator())
    assert [group[-1] for group in samples] == [group[0] for group in expected]


def test_other_models_are_sampled_by_generate(model, monkeypatch):
    greedy = sampler.sample_ids(model, PROMPTS, 2, 5, 0.0, generator())
    monkeypatch.setattr(sampler, "is_compact", lambda _: False)
    before = torch.random.get_rng_state()
    assert sampler.sample_ids(model, PROMPTS, 2, 5, 0.0, generator()) == greedy
    drawn = [sampler.sample_ids(model, PROMPTS, 3, 5, 1.0, generator(s)) for s in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_what_the_compact_sampler_does_not_compute(model):
    assert sampler.is_compact(model)
    assert not sampler.is_compact(make_model().to(torch.bfloat16))


def test_texts(model):
    tokenizer = make_tokenizer(VOCABULARY)
    texts = sampler.sample(model, tokenizer, ["abc", "<a>"], 4, 5, seed=1)
    assert texts == sampler.sample(model, tokenizer, ["abc", "<a>"], 4, 5, seed=1)
    assert [len(group) for group in texts] == [4, 4]
    assert set("".join(texts[0])) <= set("".join(VOCABULARY) + "<pad><unk>")


@pytest.mark.parametrize("wrong", [{"n": 0}, {"max_new_tokens": 0}, {"temperature": -1.0}])
def test_wrong_arguments(model, wrong):
    arguments = {"n": 1, "max_new_tokens": 1, "temperature": 1.0, **wrong}
    with pytest.raises(ValueError, match="must be at least"):
        sampler.sample_ids(model, PROMPTS, **arguments, generator=generator())
