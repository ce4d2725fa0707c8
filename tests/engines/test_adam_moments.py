"""Adam's moments as a proxy of the gradient's variance: by definition, and in training."""

from fractions import Fraction

import pytest

pytest.importorskip("trl")

import torch
from transformers import TrainerCallback

from claims.maxpo_variance import adam_proxy as of_moments
from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.train.lm.trl_arm import make_trainer, train_arm
from setrl.train.runs.pool import Stop
from setrl.train.trl.adam_moments import moments
from tests.tiny import one_thread, tiny

__all__ = ["one_thread"]
KEYS = ("gradient/adam_variance", "gradient/adam_mean_square")
# An entropy bonus gives gradients without a single right sample.
NOISY = {"arms": {"grpo": {"method": "grpo", "entropy_coef": 0.5}}, "learning_rate": 1e-2}


def after(sequence, betas=(0.9, 0.999), **settings):
    """An optimiser that has seen these gradients."""
    parameter = torch.nn.Parameter(torch.zeros(len(sequence[0]), dtype=torch.float64))
    optimiser = torch.optim.AdamW([parameter], lr=0.1, betas=betas, **settings)
    for gradient in sequence:
        parameter.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
    return optimiser


@pytest.mark.parametrize("betas", [("9/10", "999/1000"), ("1/2", "3/4")])
def test_the_proxy_is_that_of_the_definition(betas):
    betas = tuple(map(Fraction, betas))
    sequence = [(1.0, -2.0), (0.5, 0.25), (-3.0, 1.0)]
    columns = [tuple(map(Fraction, column)) for column in zip(*sequence, strict=True)]
    exact = sum(of_moments(column, *betas) for column in columns)
    found = moments(after(sequence, tuple(map(float, betas))))
    assert found.variance == pytest.approx(float(exact), rel=1e-12)
    weights = [betas[0] ** k for k in (2, 1, 0)]
    means = [
        sum(w * g for w, g in zip(weights, column, strict=True)) / sum(weights)
        for column in columns
    ]
    assert found.mean_square == pytest.approx(float(sum(mean**2 for mean in means)), rel=1e-12)


def test_equal_gradients_have_no_variance():
    found = moments(after([(0.5, -2.0)] * 4))
    assert found.variance == pytest.approx(0.0, abs=1e-12)
    assert found.mean_square == pytest.approx(4.25)


def test_a_parameter_without_a_gradient_is_left_out():
    used, unused = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    optimiser = torch.optim.Adam([used, unused])
    used.grad = torch.ones(1)
    optimiser.step()
    assert moments(optimiser).mean_square == pytest.approx(1.0)


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.RMSprop])
def test_other_optimisers_are_refused(make):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimiser = make([parameter], lr=0.1)
    parameter.grad = torch.ones(1)
    optimiser.step()
    message = f"the optimiser is {make.__name__}: leave out adam_moments, or train with"
    with pytest.raises(RunError, match=message):
        moments(optimiser)


class Gradients(TrainerCallback):
    """Keeps all gradients as the optimiser gets them."""

    def __init__(self):
        self.seen = []

    def on_pre_optimizer_step(self, args, state, control, model=None, **_):
        one = [p.grad.detach().double().flatten().clone() for p in model.parameters()]
        self.seen.append(torch.cat(one))


def expected(seen):
    """What is to be logged after each update, from all gradients until then."""
    mean = square = torch.zeros_like(seen[0])
    for number, gradient in enumerate(seen, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        m, v = mean / (1 - 0.9**number), square / (1 - 0.999**number)
        yield float((v - m**2).sum()), float((m**2).sum())


def test_training_logs_the_moments_of_its_gradients(base, tmp_path):
    resolved = tiny(**NOISY, steps=4, adam_moments=True)
    run, gradients = Seed(tmp_path), Gradients()
    trainer = make_trainer(resolved, "grpo", 0, base, run)
    trainer.add_callback(gradients)
    trainer.train()
    lines = files.read_lines(run.metrics_file)
    assert len(lines) == 4
    found = [tuple(line[key] for key in KEYS) for line in lines]
    wanted = list(expected(gradients.seen))
    assert found[0][0] == pytest.approx(0.0, abs=1e-5 * wanted[0][1])
    for (variance, mean_square), (own, own_mean) in list(zip(found, wanted, strict=True))[1:]:
        assert variance == pytest.approx(own, rel=1e-3)
        assert mean_square == pytest.approx(own_mean, rel=1e-4)
    assert found[-1][0] > 1e-3


def test_a_resumed_run_logs_the_same(base, tmp_path):
    resolved = tiny(**NOISY, adam_moments=True)
    logged = []
    for folder, stops in ((tmp_path / "whole", (None,)), (tmp_path / "stopped", (2, None))):
        for stop_at in stops:
            stop = Stop()

            def on_step(step, stop=stop, stop_at=stop_at):
                if step == stop_at:
                    stop.ask()

            train_arm(resolved, "grpo", 0, str(base), Seed(folder), on_step, stop)
        lines = files.read_lines(Seed(folder).metrics_file)
        logged.append([[line[key] for key in KEYS] for line in lines])
    assert logged[0] == logged[1]
    assert len(logged[0]) == resolved.config.steps


def test_nothing_is_logged_unless_asked_for_and_training_is_the_same(base, tmp_path):
    weights = []
    for asked in (False, True):
        run = Seed(tmp_path / str(asked))
        resolved = tiny(**NOISY, steps=2, adam_moments=asked)
        train_arm(resolved, "grpo", 0, str(base), run, lambda _: None, Stop())
        assert all((KEYS[0] in line) == asked for line in files.read_lines(run.metrics_file))
        weights.append((run.final / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]


def test_an_optimiser_without_moments_ends_the_run_with_a_sentence(base, tmp_path):
    resolved = tiny(**NOISY, steps=1, adam_moments=True, trainer={"optim": "sgd"})
    with pytest.raises(RunError, match="the optimiser is SGD"):
        train_arm(resolved, "grpo", 0, str(base), Seed(tmp_path), lambda _: None, Stop())


def test_a_server_keeps_its_moments_to_itself():
    engine = {"tinker": "http://127.0.0.1:9"}
    with pytest.raises(ConfigError, match="adam_moments must be False with the key `engine`"):
        tiny(model="mine", engine=engine, adam_moments=True)
