"""The README's lines run and print what it shows; its links and the picture of packages hold."""

import re
from pathlib import Path

import pytest
from datasets import Dataset

from setrl import methods, rewards
from setrl.trl import SetGRPOTrainer
from tests.engines.chat import PROMPTS, arguments, chat_model  # noqa: F401
from tests.sessions import SESSION, printed

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


RIGHT, FORM = [0.0, 1.0, 0.0, 0.0] * 2, [1.0, 1.0, 0.0, 1.0] * 2


@pytest.fixture
def space(chat_model, tmp_path):  # noqa: F811
    """What a reader's script has; there are wrong samples in each group."""
    names = {
        "model": str(chat_model),
        "correct": lambda completions, **_: RIGHT,
        "formatted": lambda completions, **_: FORM,
        "strategy": lambda completions, **_: [0, 0, 1, 2] * 2,
        "config": arguments(tmp_path),
        "problems": Dataset.from_dict({"prompt": PROMPTS}),
        "methods": methods, "rewards": rewards, "SetGRPOTrainer": SetGRPOTrainer,
    }  # fmt: skip
    for name in ("correct", "formatted"):
        names[name].__name__ = name
    return names


def first_batch(program, space):
    """Run the program, train what it makes, and return what was credited first."""
    exec(compile(program, "program", "exec"), space)
    batches = []
    space["trainer"].on_batch = batches.append
    space["trainer"].train()
    return batches[0]


def test_the_diff_trains_and_pays_only_right_samples(space):
    """The lines of the diff that are not removed are a program."""
    diff = re.search(r"```diff\n(.*?)```", README, re.DOTALL)[1]
    lines = [line[1:] for line in diff.splitlines() if not line.startswith("-")]
    program = "\n".join(lines).replace('"Qwen/Qwen3-0.6B"', "model")
    imports, start, call = program.partition("trainer = ")
    fixed = space["strategy"]
    exec(compile(imports, "README.md", "exec"), space)
    texts = ("I substitute y.", "By Cramer's rule", "I guess.")
    named = space["strategy"]([[{"role": "assistant", "content": text}] for text in texts])
    assert named == ["substitut", "Cramer", None]
    batch = first_batch(start + call, {**space, "strategy": fixed})
    assert batch.advantages.values_BN.ravel().tolist() == RIGHT


def test_in_the_guide_a_format_reward_pays_no_wrong_sample(space):
    guide = (ROOT / "docs" / "trl.md").read_text(encoding="utf-8")
    one, two, *_ = re.findall(r"```python\n(trainer = .*?)```", guide, re.DOTALL)
    assert first_batch(one, space).advantages.values_BN.ravel().tolist() == RIGHT
    batch = first_batch(two, space)
    values = batch.advantages.values_BN[0].tolist()
    paid = [a + a * b for a, b in zip(RIGHT, FORM, strict=True)][:4]
    mean = sum(paid) / 4
    want = [one + 0.1 * (r - mean) for one, r in zip(RIGHT, paid, strict=False)]
    assert values == pytest.approx(want)
    assert all(value <= 0 for value, one in zip(values, RIGHT, strict=False) if not one)
    assert batch.samples.correct.ravel().tolist() == RIGHT


@pytest.mark.parametrize(("command", "shown"), SESSION.findall(README))
def test_a_command_prints_what_stands_below_it(command, shown, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert printed(capsys, command) == shown.rstrip()


def test_evaluate_and_compare_are_shown():
    assert [command.split()[0] for command, _ in SESSION.findall(README)] == ["evaluate", "compare"]


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert len(links) > 5
    for path in links:
        assert (ROOT / path).exists(), path


def test_the_picture_of_the_packages_names_them_all():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^([a-z]+)(?: \| ([a-z]+))?  ", page.split("```")[1], re.MULTILINE)
    packages = {path.parent.name for path in (ROOT / "src" / "setrl").glob("*/__init__.py")}
    assert {name for line in named for name in line if name} == packages


def test_the_numbers_of_claims_are_those_of_their_page():
    claims = " ".join((ROOT / "docs" / "claims.md").read_text(encoding="utf-8").split())
    total, sources = re.search(r"checked (\d+) claims .*?: (\d+) of one note", claims).groups()
    fail, slips, strict = re.search(
        r"claims of the sources (\d+) fail, (\d+) more are slips"
        r"[^.]* (\d+) have a counterexample",
        claims,
    ).groups()
    words = " ".join(README.split())
    assert f"checks {total} claims about set RL, {sources} of them from a note, " in words
    numbers = f"[Of the {sources}, {fail} fail, {slips} more are slips, and {strict} have a "
    assert f"{numbers}counterexample under their strict reading](docs/claims.md)" in words
