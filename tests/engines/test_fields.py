"""Objectives of answers, proxies, pairs, families and second rewards, trained in TRL."""

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM

from setrl import methods, objectives, schedules
from setrl.samples.values import read_answer, read_number, read_pairs
from setrl.support.errors import RunError
from setrl.train.gathering.functions import functions_of
from setrl.train.trl import SetGRPOTrainer
from setrl.train.trl.policy import MeanLogprob
from tests.engines.test_trainer import PROMPTS, Losses, arguments, first_letters, length


def last_letter(completions, **_):
    return [text[-1:] or None for text in completions]


def vowels(completions, **_):
    return [sum(letter in "x=+" for letter in text) * 1.0 for text in completions]


def overlap(completions, prompts, number, **_):
    """How many letters two samples of a prompt share; the function also gets the columns."""
    assert len(set(prompts)) == len(set(number)) == 1
    return [[float(len(set(one) & set(two))) for two in completions] for one in completions]


def more_than_one(completions, **_):
    return [len(text) > 1 for text in completions]


def families(completions, **_):
    return [len(text) // 3 for text in completions]


SOURCES = {
    "answers": last_letter,
    "proxy": vowels,
    "second": vowels,
    "pairs": overlap,
    "families": families,
}
PRODUCT = objectives.mean() * objectives.mean(of="second")
METHODS = {
    "majority": methods.set_rl(objectives.majority(), 3),
    "best of": methods.set_rl(objectives.best_of(), 2),
    "two rewards": methods.set_rl(PRODUCT, 3),
    "distance": methods.poly_epo(3, diversity=objectives.pairwise_distance()),
    "families": methods.poly_families(2),
    "sum": 0.5 * methods.grpo() + methods.set_rl(objectives.majority(), 3),
}


def make(base, folder, method, fields, kind=Losses, **changes):
    ours = {
        key: changes.pop(key) for key in ("on_batch", "strategy_func", "correct") if key in changes
    }
    rows = [{"prompt": prompt, "number": i} for i, prompt in enumerate(PROMPTS * 6)]
    return kind(
        str(base),
        length,
        arguments(folder, **{"max_steps": 2, "max_completion_length": 4, **changes}),
        Dataset.from_list(rows),
        method=method,
        fields=fields,
        **{"strategy_func": first_letters, **ours},
    )


@pytest.mark.parametrize("name", METHODS)
def test_advantages_in_the_loss_are_the_methods(base, tmp_path, name):
    method, batches = METHODS[name], []
    fields = {field: SOURCES[field] for field in method.reads if field in SOURCES}
    trainer = make(base, tmp_path, method, fields, on_batch=batches.append)
    trainer.train()
    expected = []
    for batch in batches:
        flat = [text for texts in batch.samples.texts for text in texts]
        given = {
            field: [overlap(texts, [0], [0]) for texts in batch.samples.texts]
            if field == "pairs"
            else np.array(source(flat), dtype=object).reshape(4, 4)
            for field, source in fields.items()
        }
        assert batch.samples.columns.keys() - {"rewards", "correct", "strategies"} == given.keys()
        values_BN = method.advantages(
            batch.samples.rewards, strategies=batch.samples.strategies, abstain=True, **given
        ).values_BN
        assert np.ptp(values_BN) > 0
        for prompt, texts, values in zip(PROMPTS, batch.samples.texts, values_BN, strict=True):
            pairs = zip(texts, np.float32(values).tolist(), strict=True)
            expected += [(prompt, *pair) for pair in pairs]
    assert len(batches) == 2
    assert sorted(trainer.entered) == sorted(expected)


def test_a_sample_whose_field_is_unknown_is_left_out(base, tmp_path):
    batches = []

    def second_is_missing(completions, **_):
        return [None if i % 4 == 1 else float(i) for i in range(len(completions))]

    def third_has_none(completions, **_):
        return [None if i % 4 == 2 else "a" for i in range(len(completions))]

    trainer = make(
        base,
        tmp_path,
        METHODS["best of"] + methods.set_rl(objectives.majority(), 2),
        {"proxy": second_is_missing, "answers": third_has_none},
        on_batch=batches.append,
        max_steps=1,
    )
    trainer.train()
    [batch] = batches
    assert batch.advantages.usable_BN.tolist() == [[True, False, True, True]] * 4
    assert not batch.advantages.values_BN[:, 1].any()
    assert np.isnan(batch.samples.answers[:, 2]).all()  # it votes for nobody, and stays
    assert np.isnan(batch.samples.proxy[:, 1]).all()


def test_columns_and_asynchronous_functions_are_sources(base, tmp_path):
    batches = []

    async def later(completions, **_):
        return vowels(completions)

    method = 0.5 * METHODS["best of"] + METHODS["two rewards"]
    fields = {"proxy": "number", "second": later}
    make(base, tmp_path, method, fields, on_batch=batches.append, max_steps=1).train()
    [batch] = batches
    np.testing.assert_array_equal(batch.samples.proxy, np.repeat(np.arange(4.0), 4).reshape(4, 4))
    flat = [text for texts in batch.samples.texts for text in texts]
    np.testing.assert_array_equal(batch.samples.second.ravel(), vowels(flat))


class Outputs(SetGRPOTrainer):
    """Keeps what TRL returns for each batch."""

    def _generate_and_score_completions(self, inputs):
        self.kept = super()._generate_and_score_completions(inputs)
        return self.kept


@pytest.mark.parametrize("iterations", [1, 2], ids=["computed here", "known to TRL"])
def test_the_mean_log_probability_of_a_sample_is_the_policys(base, tmp_path, iterations):
    """Against the model's own logits, before the update."""
    batches, method = [], methods.ucpo(tau=0.5)
    before = AutoModelForCausalLM.from_pretrained(base)
    own = {
        "max_steps": 1,
        "num_iterations": iterations,
        "temperature": 1.0,
        "steps_per_generation": 1,
    }
    fields = {"proxy": MeanLogprob()}
    trainer = make(
        base,
        tmp_path,
        method,
        fields,
        kind=Outputs,
        on_batch=batches.append,
        strategy_func=None,
        correct=more_than_one,
        **own,
    )
    trainer.train()
    kept, [batch] = trainer.kept, batches
    ids = torch.cat([kept["prompt_ids"], kept["completion_ids"]], 1)
    mask = torch.cat([kept["prompt_mask"], kept["completion_mask"]], 1)
    with torch.no_grad():
        logits = before(input_ids=ids, attention_mask=mask).logits[:, :-1].log_softmax(-1)
    chosen = logits.gather(2, ids[:, 1:, None])[..., 0][:, -kept["completion_ids"].shape[1] :]
    tokens = kept["completion_mask"]
    want = (chosen * tokens).sum(1) / tokens.sum(1)
    np.testing.assert_allclose(batch.samples.proxy.ravel(), want, rtol=1e-4)
    fields = {"proxy": batch.samples.proxy, "correct": batch.samples.correct}
    values_BN = method.advantages(batch.samples.rewards, **fields).values_BN
    np.testing.assert_allclose(batch.advantages.values_BN, values_BN)


def test_a_scheduled_method_trains(base, tmp_path):
    method = schedules.Scheduled(methods.poly_epo, {"set_size": schedules.Linear(3, 1)})
    trainer = make(base, tmp_path, method, {}, kind=SetGRPOTrainer)
    assert trainer.method == methods.poly_epo(3)
    trainer.train()
    assert trainer.method == methods.poly_epo(2)


@pytest.mark.parametrize(
    ("method", "fields", "message"),
    [
        ("majority", {}, r"set_rl reads answers: pass fields=\{'answers': …\}, a function or"),
        ("best of", {"proxi": vowels}, "unknown field 'proxi'; did you mean 'proxy'"),
        ("majority", {"answers": MeanLogprob()}, "only `proxy` can be a mean log-probability"),
        ("best of", {"proxy": 3}, r"fields\['proxy'\] must be a function or the name .* got 3"),
        ("best of", {"strategies": vowels}, "fields must not hold strategies: pass strategy_func"),
        ("distance", {"pairs": "number"}, "must be a function, which gets the samples of one"),
        ("families", {}, "poly_families reads families"),
    ],
)
def test_what_cannot_be_trained_is_refused_first(base, tmp_path, method, fields, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(base, tmp_path, METHODS[method], fields)


def test_a_field_that_is_not_read_is_warned_of(base, tmp_path):
    with pytest.warns(UserWarning, match=r"fields\['proxy'\] has no effect: grpo does not read it"):
        make(base, tmp_path, methods.grpo(), {"proxy": vowels})


def raises(**_):
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("answers", raises, "answers function 'raises' raised KeyError"),
        ("answers", lambda **_: ["a"], "must return one value for each sample, 4, got 1"),
        ("answers", lambda **_: [["a"]] * 4, r"texts, numbers or None \(unknown\), got \['a'\]"),
        ("proxy", lambda **_: [np.inf] * 4, "must return a finite number, .* got inf"),
        ("second", lambda **_: ["x"] * 4, "must return a finite number, .* got 'x'"),
        ("families", lambda **_: [0.5] * 4, r"names or integers .* got 0.5"),
    ],
)
def test_what_a_function_does_wrong_is_named(name, source, message):
    with pytest.raises(RunError, match=message):
        functions_of({name: source})[name](completions=list("abcd"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nummer", "the samples have no column 'nummer'; they have 'text'"),
        ("text", r"column 'text' of fields\['proxy'\] must hold a finite number"),
    ],
)
def test_what_is_wrong_with_a_column_is_named(source, message):
    with pytest.raises(RunError, match=message):
        functions_of({"proxy": source})["proxy"](prompts=["x"], completions=["y"], text=["z"])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (raises, "pairs function 'raises' raised KeyError"),
        (lambda **_: [1.0], r"4 × 4 numbers for a prompt, got the shape"),
    ],
)
def test_what_a_function_of_pairs_does_wrong_is_named(base, tmp_path, pairs, message):
    with pytest.raises(RunError, match=message):
        make(base, tmp_path, METHODS["distance"], {"pairs": pairs}, max_steps=1).train()


def test_matrices():
    known = np.array([[0, 1, 9], [1, 0, 9], [9, 9, np.nan]])
    found = read_pairs(known, 3)
    np.testing.assert_array_equal(found, [[0, 1, np.nan], [1, 0, np.nan], [np.nan] * 3])
    assert np.isnan(read_pairs(None, 2)).all()
    for wrong in ([[0, 1], [2, 0]], [[0, np.inf], [np.inf, 0]], [[0, np.nan], [np.nan, 0]]):
        with pytest.raises(ValueError, match=r"finite numbers between|a symmetric matrix"):
            read_pairs(wrong, 2)
    with pytest.raises(ValueError, match=r"2 × 2 numbers for a prompt, got the shape \(\)"):
        read_pairs("ab", 2)


def test_an_array_of_one_element_is_its_number():
    assert read_number(torch.tensor([2.0], dtype=torch.bfloat16)) == 2.0
    assert read_answer(np.array([[3]])) == read_answer(torch.tensor(3)) == "3"
    for value in (torch.ones(2), np.ones((1, 2)), torch.tensor(float("inf"))):
        with pytest.raises(ValueError, match="a finite number, true or false"):
            read_number(value)
