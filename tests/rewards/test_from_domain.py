import pytest

from setrl import DEGENERATE
from setrl.tasks.domains import by_name
from setrl.tasks.domains.verifier import LABELS, Verifier, strategy_label

PROMPT = "y=2x^2+3x+7, x!=4: "
SAMPLES = ["(2, 21)", "(2, 20)", "(0, 7)", "nonsense"]


def test_correct_and_strategy():
    verifier = Verifier(by_name("polynomial"))
    assert verifier.correct([PROMPT] * 4, SAMPLES, trainer_state=None) == [1.0, 0.0, 1.0, 0.0]
    same, also, other, degenerate = verifier.strategy([PROMPT] * 4, SAMPLES)
    assert (same, also, other) == ("x=2", "x=2", "x=0"), "names, which tables of completions show"
    assert degenerate == DEGENERATE


def test_messages_are_read_as_texts():
    verifier = Verifier(by_name("polynomial"))
    prompts = [[{"role": "user", "content": PROMPT}]]
    completions = [[{"role": "assistant", "content": SAMPLES[0]}]]
    assert verifier.correct(prompts, completions) == [1.0]


def test_each_sample_is_read_once():
    domain, read = by_name("polynomial"), []

    class Counting:
        def read(self, prompt, text):
            read.append(text)
            return domain.read(prompt, text)

    verifier = Verifier(Counting())
    verifier.correct([PROMPT] * 4, SAMPLES)
    verifier.strategy([PROMPT] * 4, SAMPLES)
    assert verifier.reading(PROMPT, SAMPLES[0]).strategy == "x=2"
    assert read == SAMPLES


def test_labels_are_distinct_and_exact_in_float32():
    torch = pytest.importorskip("torch")
    labels = [strategy_label(f"x={x}") for x in range(-100, 101)]
    assert len(set(labels)) == len(labels)
    assert 0 <= min(labels) < max(labels) < LABELS
    assert torch.tensor(labels, dtype=torch.float32).tolist() == labels
