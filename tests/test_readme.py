"""The README's lines give the README's output; its links and the picture of packages hold."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from datasets import Dataset

from tests.engines.chat import PROMPTS, arguments, chat_model  # noqa: F401
from tests.sessions import SESSION, printed

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_ten_lines_print_what_stands_below_them():
    code, output = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == output


def test_the_diff_trains_and_a_format_reward_pays_no_wrong_sample(chat_model, tmp_path):  # noqa: F811
    """The lines of the diff that are not removed are a program; wrong samples are in each group."""
    diff = re.search(r"```diff\n(.*?)```", README, re.DOTALL)[1]
    lines = [line[1:] for line in diff.splitlines() if not line.startswith("-")]
    program = "\n".join(lines).replace('"Qwen/Qwen3-0.6B"', "model")
    right, form = [0.0, 1.0, 0.0, 0.0] * 2, [1.0, 1.0, 0.0, 1.0] * 2
    names = {
        "model": str(chat_model),
        "correct": lambda completions, **_: right,
        "formatted": lambda completions, **_: form,
        "strategy": lambda completions, **_: [0, 0, 1, 2] * 2,
        "config": arguments(tmp_path),
        "problems": Dataset.from_dict({"prompt": PROMPTS}),
    }
    for name in ("correct", "formatted"):
        names[name].__name__ = name
    exec(compile(program, "README.md", "exec"), names)
    batches = []
    names["trainer"].on_batch = batches.append
    names["trainer"].train()
    [values, _] = batches[0].advantages.values_BN
    rewards = [a + a * b for a, b in zip(right, form, strict=True)][:4]
    mean = sum(rewards) / 4
    want = [one + 0.1 * (r - mean) for one, r in zip(right, rewards, strict=False)]
    assert values.tolist() == pytest.approx(want)
    assert all(value <= 0 for value, one in zip(values, right, strict=False) if not one)
    assert batches[0].samples.correct.ravel().tolist() == right


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
    claims = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    total = re.search(r"checked (\d+) claims", claims)[1]
    sources, fail, slips, strict = re.search(
        r"Of the (\d+) claims of the sources (\d+) fail, (\d+) more are slips"
        r"[^.]* (\d+) have a counterexample",
        claims,
    ).groups()
    words = " ".join(README.split())
    assert f"checks {total} claims about set RL: [of the {sources} in" in words
    numbers = f", {fail} fail, {slips} more are slips, and {strict} have a counterexample under"
    assert f"{numbers} their strict reading](docs/claims.md)" in words
