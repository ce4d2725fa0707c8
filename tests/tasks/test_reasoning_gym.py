"""Generators of reasoning-gym as tasks: with a stand-in, and with the library if it is there."""

import importlib.util
import json
from importlib import metadata

import pytest

from setrl import tasks
from setrl.support.errors import ConfigError
from setrl.support.files.loading import load_function
from setrl.tasks import canonical, listing
from setrl.tasks import reasoning_gym as gym
from setrl.tasks.domains import corpus
from tests.tasks import fake_reasoning_gym

IS_INSTALLED = importlib.util.find_spec("reasoning_gym") is not None


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    monkeypatch.setenv("SETRL_CACHE", str(tmp_path / "cache"))
    fake_reasoning_gym.install(monkeypatch)
    monkeypatch.setattr(metadata, "version", lambda name: "0")
    for cached in (gym.generator, gym._entry, gym._score):
        cached.cache_clear()
    yield
    for cached in (gym.generator, gym._entry, gym._score):
        cached.cache_clear()


def task_of(name="countdown", **keys):
    return tasks.from_config(task={"reasoning_gym": name, "size": 20, **keys})


def test_a_generator_is_a_task_with_its_verifier_and_canonical_strategies(stand_in):
    task = task_of(prompt="{metadata.target} of {metadata.numbers}: ", splits={"test": 5})
    found = task.problems("test", None, 0)
    assert len(found.problems) >= 5
    problem = found.problems[0]
    numbers = json.loads(problem.columns["metadata"])["numbers"]
    assert problem.prompt == f"{sum(numbers)} of {numbers[0]}, {numbers[1]}: "
    a, b = numbers
    texts = [f"{a} + {b}", f"I think <answer>{b}+{a}</answer>", f"{a}+{b}+1", "exit()", "boom", ""]
    readings = found.read(problem, texts)
    assert [one.correct for one in readings] == [True, True, False, False, False, False]
    assert [one.strategy for one in readings] == ["n+n", "n+n", "n+n+n", None, None, None]
    assert readings[1].answer == f"{b}+{a}"
    columns = {key: [value] * 6 for key, value in problem.columns.items()}
    [reward] = task.rewards
    scores = reward(prompts=[""] * 6, completions=texts, **columns)
    assert scores == [1.0, 1.0, 0.1, 0.0, 0.0, 0.0]
    assert task.answers(completions=texts)[1] == f"{b}+{a}"


def test_problems_are_made_once_and_are_the_same_in_another_process(stand_in, monkeypatch):
    first = task_of().training_problems(8, None, 0)
    monkeypatch.setattr(gym, "_rows", lambda *_: pytest.fail("the problems are in the cache"))
    assert task_of().training_problems(8, None, 0) == first
    assert gym.entry(first[0].columns["reasoning_gym"], first[0].columns["index"])["answer"] == (
        first[0].gold
    )


def test_a_small_model_can_imitate_the_golds_of_training(stand_in):
    task = task_of()
    author = task.author
    trained = {one.prompt for one in task.usable("train")}
    for problem, written in corpus(author, 20, seed=0):
        assert problem.prompt in trained
        assert written.text == problem.gold
    everything = "".join(one.prompt for split in task.splits for one in task.all_problems(split))
    assert set(everything) <= set(author.vocabulary)
    with pytest.raises(ConfigError, match=r"reads 1,000 characters.* shorter"):
        _ = task_of(prompt="x" * 1000 + "{question}").author


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"name": "countdwn"}, "did you mean 'countdown'"),
        ({"config": {"numbers": 3}}, "countdown refuses it: .*'numbers'"),
        ({"config": {"highest": 1}}, "countdown refuses it: highest must be above 1"),
        ({"config": {"seed": 1}}, "write seed under task"),
        ({"name": "list_functions"}, "makes other problems each time"),
        ({"data": "x.jsonl"}, "data must be left out next to reasoning_gym"),
        ({"verifiers": "x"}, "reasoning_gym must be left out next to verifiers"),
        ({"splits": {"test": "a.jsonl"}}, "a share or a number of problems"),
        ({"size": 1}, "size must be at least 2"),
    ],
)
def test_what_is_wrong_is_named(stand_in, keys, said):
    with pytest.raises(ConfigError, match=said):
        task_of(**keys).usable("train")


def test_a_key_of_generators_without_one_is_refused():
    with pytest.raises(ConfigError, match="size must go with reasoning_gym"):
        tasks.from_config(task={"data": "x.jsonl", "size": 5})


def test_the_list_has_examples_and_says_what_a_verifier_accepts(stand_in):
    found = {one.name: one for one in listing.listed(count=2)}
    assert {"polynomial", "countdown", "gcd"} <= set(found)
    assert found["countdown"].config == "task: {reasoning_gym: countdown}"
    assert [one.strategy for one in found["countdown"].examples] == ["n+n", "n+n"]
    assert found["gcd"].strategy is None
    assert all(len(one.examples) == 2 for one in found.values())
    text = listing.listing_text([found["gcd"]], whole=True)
    assert "name a function or a judge" in text
    assert found["gcd"].examples[0].prompt in text
    with pytest.raises(ConfigError, match="unknown task 'gdc'; did you mean 'gcd'"):
        listing.listed(["gdc"])


def test_our_functions_are_not_announced_as_code_of_the_config(capsys):
    load_function("setrl.tasks.reasoning_gym:score", ".")
    assert capsys.readouterr().err == ""


CALLS = [
    ("countdown", "__import__('os').system('touch x')"),
    ("countdown", "open(1)"),
    ("countdown", "(1).real"),
    ("countdown", "9**9**9"),
    ("countdown", "(9**9)**9999"),
    ("countdown", "1" * 3000),
    ("n_queens", "exit()"),
    ("n_queens", "9**9**9"),
    ("n_queens", "[].__class__"),
    ("simple_integration", "x.func(1)"),
]
HARMLESS = [
    ("countdown", "(3 + 4)*2/1.5 - 6"),
    ("n_queens", "_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _"),
    ("n_queens", "[['_', 'Q'], ['Q', '_']]"),
    ("binary_matrix", "[[(1, 2)]]"),
    ("simple_integration", "5*x**3/3 - 2*X**2 + sin(x) + C"),
    ("polynomial_multiplication", "-18*x**4 + 9*x**3*y**2"),
    ("gcd", "anything.goes()"),
]


def test_verifiers_that_evaluate_an_answer_see_no_calls():
    for name, answer in CALLS:
        assert not gym.is_harmless(name, answer), answer
    for name, answer in HARMLESS:
        assert gym.is_harmless(name, answer), answer


FORMS = [
    ("countdown", "94*4 - 61 - 6", "(3*5) - (1 + 2)", "94*4 + 61 - 6"),
    ("countdown", "(1 - 2)/3", "((7-8))/9", "1 - 2/3"),
    ("countdown", "1*(2/3)", "4*5/6", "4/(5*6*1)"),
    ("puzzle24", "-(1 - 2)", "2 - 1", "1 + 2"),
    ("shortest_path", "up left", "UP\nleft", "left up"),
    ("word_ladder", "CAT,COT,DOT", "cat, cot, dot", "cat,dat,dot"),
    ("n_queens", "_ Q\nQ _", "_Q\nQ_\n", "Q _\n_ Q"),
    ("mini_sudoku", "1 2\n2 1", "1  2 \n2 1", "2 1\n1 2"),
    ("graph_color", '{"0": 1, "1": 2, "9": 1}', '{"9": 3, "1": 1, "0": 3}', '{"0": 1, "1": 1}'),
    ("propositional_logic", "(P ∧ Q) ∨ ¬R", "¬R ∨ (Q∧P)", "(P ∨ Q) ∧ ¬R"),
    ("propositional_logic", "P → (Q → R)", "(P→(Q→R))", "(P → Q) → R"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "one", "same", "other"), FORMS)
def test_canonical_forms(name, one, same, other):
    form = canonical.canonical(name, one)
    assert form is not None
    assert canonical.canonical(name, same) == form
    assert canonical.canonical(name, other) not in (form, None)
    for hostile in ("", " ", "no idea", "((", "(" * 400, "\x00", "{}", "[1]", "∧", "1" * 5000):
        assert canonical.canonical(name, hostile) is None, hostile
    assert canonical.canonical("gcd", one) is None
    assert set(canonical.WORDS) == set(canonical.READERS)


@pytest.mark.skipif(not IS_INSTALLED, reason="reasoning-gym is not installed")
def test_the_released_library_agrees(tmp_path, monkeypatch):
    """Every canonical reader reads answers that its generator's verifier calls right."""
    monkeypatch.setenv("SETRL_CACHE", str(tmp_path))
    for name in canonical.READERS:
        table = gym.read(gym.source(name, 4), show_progress=False)
        for _, row in table.rows:
            entry = gym.entry(row["reasoning_gym"], row["index"])
            answer = row["answer"] or _written(name, entry)
            assert gym.solved([answer], [row["reasoning_gym"]], [row["index"]]) == [1.0]
            assert canonical.canonical(name, answer) is not None


def _written(name, entry):
    if name == "graph_color":
        return json.dumps(entry["metadata"]["possible_answer"])
    return entry["metadata"]["example_answer"]
