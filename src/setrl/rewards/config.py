"""The rewards that a config asks for: a name, your function, or several with weights.

    reward: math
    reward: {function: my_rewards:score, timeout: 10, on_error: unknown}
    reward:
      - math
      - {function: my_rewards:brevity, weight: 0.2, gate: group}
    reward: {normalize: group, rewards: [math, {function: my_rewards:brevity, weight: 0.2}]}

The *outcome* decides which samples are correct, with 1 and 0, and it opens the gates: the only
reward, or what the key `correct` of the task names, one of several rewards or a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.rewards.answers import (
    ChoiceAnswer,
    ExactAnswer,
    MathAnswer,
    MathVerifier,
    NumberAnswer,
    readings,
    typed_gold,
)
from setrl.rewards.combine import Combine, RewardGate
from setrl.rewards.grading import Grader, normal_text, stated_answer
from setrl.rewards.guarded import GuardedReward, OnError
from setrl.rewards.interface import Reward, as_samples
from setrl.rewards.own_process import OwnProcess
from setrl.rewards.problem import Problem, Reading
from setrl.samples.conversation import Conversation, Text
from setrl.samples.values import is_outcome
from setrl.support import names
from setrl.support.errors import ConfigError, RunError, usage_errors
from setrl.support.files.loading import check_reference, load_function
from setrl.support.files.sections import Positive, Section, refuse_unknown

KINDS: dict[str, Callable[..., Reward]] = {
    "math": MathAnswer,
    "number": NumberAnswer,
    "choice": ChoiceAnswer,
    "exact": ExactAnswer,
}


@dataclass(frozen=True, kw_only=True)
class Term(Section):
    """One reward of a config.

    Attributes:
        reward: `math`, `number`, `choice` or `exact`; None with a function.
        function: `module:name`; None with a reward by name.
        weight: What its values are multiplied with.
        gate: `sample` if it counts only for right samples, `group` if only in groups with at least
            one: see `Combine`.
        timeout: Seconds of one call of the function; None for no limit.
        on_error: What happens where the function fails: see `GuardedReward`.
        own_process: Whether the function runs in a process of its own, which is ended when its time
            is up, and whose crash is a failure of the function.
        name: What logs call it; by default its own name.
    """

    reward: str | None = None
    function: str | None = None
    weight: float = 1.0
    gate: RewardGate | None = None
    timeout: Positive | None = None
    on_error: OnError = "stop"
    own_process: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        if (self.reward is None) == (self.function is None):
            raise ConfigError("a reward needs either 'reward', with a name, or 'function'")
        super().__post_init__()
        if self.reward is None:
            check_reference(self.function)
            return
        with usage_errors():
            names.look_up("reward", self.reward, KINDS)
        if self.timeout is not None or self.on_error != "stop" or self.own_process:
            raise ConfigError(
                "timeout, on_error and own_process belong to a function, not to the reward "
                f"{self.reward!r}"
            )

    @property
    def called(self) -> str:
        """What logs call it."""
        return self.name or self.reward or str(self.function).partition(":")[2]


@dataclass(frozen=True)
class RewardSet:
    """The rewards of a config, as functions that TRL's trainers take.

    Attributes:
        functions: The reward functions, each with its own name.
        combine: How their values become one reward, and which of them is the outcome.
        gold: The column of the gold answers; None without gold answers.
        correct: The function that says which samples are correct instead of an outcome.
    """

    functions: tuple[Reward, ...]
    combine: Combine
    gold: str | None
    correct: Reward | None = None

    @property
    def outcome(self) -> Reward:
        """The function that decides which samples are correct."""
        return self.functions[self.combine.outcome_place] if self.correct is None else self.correct

    @property
    def read_answer(self) -> Callable[[str], str | None]:
        """What reads the answer of a sample for who asks for one: by default, what it states."""
        return self.own_reader or stated_text

    @property
    def own_reader(self) -> Callable[[str], str | None] | None:
        """The grader's reader, or `read_answer` of a user's function; None if it has none."""
        if isinstance(self.outcome, Grader):
            return self.outcome.answer
        function = getattr(self.outcome, "function", self.outcome)
        return getattr(function, "read_answer", None)

    def read(self, problem: Problem, texts: Sequence[str], *, chat: bool = False) -> list[Reading]:
        """Which samples of a problem are correct, and what they answer; the outcome decides.

        A function of a user says it with 1 and 0, or True and False. The answer is then what its
        attribute `read_answer` reads, a function of the text. Without it samples have no answer:
        the last line that they state need not be one, and would vote.

        Args:
            problem: The problem; its `columns` go to a function.
            texts: The samples.
            chat: Whether a function gets conversations, as in training with a chat template.

        Raises:
            DataError: If the gold cannot be used for grading.
            RunError: If a function fails, and errors are to stop the run; or if it says neither.
        """
        gold = typed_gold(problem)
        if isinstance(self.outcome, MathAnswer):
            return MathVerifier(self.outcome).read(problem, texts)
        if isinstance(self.outcome, Grader):
            golds, prompts = [gold] * len(texts), [problem.prompt] * len(texts)
            grades = self.outcome.grades(texts, golds, prompts=prompts)
            return readings(self.outcome, problem.gold, grades)
        return self._read_by_function(problem, texts, chat)

    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Why each gold cannot be used for grading by the outcome; None if it can."""
        if isinstance(self.outcome, Grader):
            return self.outcome.gold_problems(golds)
        return [None] * len(golds)

    def missing_columns(self, columns: Sequence[str]) -> list[str]:
        """Return what the user's functions take and no column of the data gives."""
        return [
            f"{function.where} takes {name!r}"
            for function in (*self.functions, *((self.correct,) if self.correct else ()))
            if isinstance(function, GuardedReward)
            for name in function.missing_columns(columns)
        ]

    def _read_by_function(
        self, problem: Problem, texts: Sequence[str], chat: bool
    ) -> list[Reading]:
        columns = dict(problem.columns)
        if self.gold is not None:
            columns.setdefault(self.gold, problem.gold)
        fields = {name: [value] * len(texts) for name, value in columns.items()}
        prompt: Text = problem.prompt
        if isinstance(prompt, Conversation):
            prompt = list(prompt.messages)
        elif chat:
            prompt = [{"role": "user", "content": prompt}]
        values = self.outcome(
            prompts=[prompt] * len(texts), completions=as_samples(texts, chat), **fields
        )
        name = self.outcome.__name__
        answers = map(self.own_reader or (lambda _: None), texts)
        return [_reading_by_value(*each, name) for each in zip(answers, values, strict=True)]


def terms_of(spec: Any) -> tuple[Term, ...]:
    """Return the rewards that a config asks for, checked without loading or running anything.

    Raises:
        ConfigError: Naming what is wrong, and for an unknown key or name the nearest known one.
    """
    return _terms_and_normalisation(spec)[0]


def combine_of(spec: Any, correct: str | None = None) -> Combine:
    """How the rewards that a config asks for become one; checked as in `terms_of`.

    Args:
        spec: The rewards.
        correct: The reward that says which samples are correct, or a function; None for the only
            one.

    Raises:
        ConfigError: Naming what is wrong.
    """
    terms, normalize = _terms_and_normalisation(spec)
    names_R = [term.called for term in terms]
    if twice := {name for name in names_R if names_R.count(name) > 1}:
        raise ConfigError(f"two rewards are called {min(twice)!r}: give one of them a 'name'")
    if correct is None and len(terms) > 1:
        raise ConfigError(
            f"of several rewards ({', '.join(names_R)}) none is known to say which samples are "
            f"correct: add the line 'correct: {names_R[0]}' to the task, or the name of another "
            "one, or of a function (module:name) that returns True, False or None"
        )
    gates = tuple(term.gate for term in terms)
    weights = tuple(float(term.weight) for term in terms)
    place = _place_of_outcome(terms, correct)
    if correct is not None and place is None:
        check_reference(correct)
    outcome = 0 if correct is None else place
    return Combine(weights, gates if any(gates) else (), normalize, outcome=outcome)


def _place_of_outcome(terms: Sequence[Term], correct: str | None) -> int | None:
    """Return the place of the reward that `correct` names; None if it names none."""
    for place, term in enumerate(terms):
        term_names = (term.name, term.reward, term.function, str(term.function).partition(":")[2])
        if correct is not None and correct in term_names:
            return place
    return None


def rewards_from_config(
    spec: Any, gold: str | None, config_dir: str | Path, correct: str | None = None
) -> RewardSet:
    """Return the rewards that a config asks for, with functions loaded from the config's folder.

    Args:
        spec: `math`, `number`, `choice`, `exact`, `{function: module:name}`, a list of these or
            of mappings with the keys of `Term`, or {rewards: such a list, normalize: group}.
        gold: The column of the gold answers; None if the data have none.
        config_dir: The folder of the config, where modules are looked up first.
        correct: The name of the reward that says which samples are correct, or `module:name`, a
            function that does; None for the only reward.

    Raises:
        ConfigError: If the spec is wrong, a function cannot be loaded, a reward by name has no
            gold answers, or two rewards have the same name.
    """
    terms, combine = terms_of(spec), combine_of(spec, correct)
    functions = tuple(_make_reward(term, gold, Path(config_dir)) for term in terms)
    is_function = correct is not None and _place_of_outcome(terms, correct) is None
    says = _make_reward(Term(function=correct), gold, Path(config_dir)) if is_function else None
    return RewardSet(functions, combine, gold, says)


def _terms_and_normalisation(spec: Any) -> tuple[tuple[Term, ...], Any]:
    """Return the rewards of a spec, and how they are normalised."""
    normalize = None
    if isinstance(spec, Mapping) and "rewards" in spec:
        refuse_unknown(spec, ("rewards", "normalize"), "task.reward")
        spec, normalize = spec["rewards"], spec.get("normalize")
    entries = list(spec) if isinstance(spec, list | tuple) else [spec]
    if not entries:
        raise ConfigError("reward must name at least one reward, got an empty list")
    return tuple(_make_term(entry) for entry in entries), normalize


def _make_term(entry: Any) -> Term:
    if isinstance(entry, str):
        return Term(reward=entry)
    if not isinstance(entry, Mapping):
        raise ConfigError(
            f"a reward must be a name ({', '.join(KINDS)}) or a mapping such as "
            f"{{function: my_rewards:score}}, got {entry!r}"
        )
    return Term.of(entry, "task.reward")


def _make_reward(term: Term, gold: str | None, folder: Path) -> Reward:
    if term.function is not None:
        loaded = load_function(term.function, folder)
        process = OwnProcess(term.function, folder) if term.own_process else None
        limits = (term.timeout, term.on_error, process)
        return GuardedReward(loaded.value, term.called, loaded.path, *limits)
    if gold is None:
        raise ConfigError(
            f"the reward {term.reward!r} compares samples with gold answers: name their field with "
            "the key 'gold'"
        )
    return KINDS[str(term.reward)](gold=gold)


def stated_text(text: str) -> str | None:
    """Return what a sample states as its answer, as `normal_text`; None if it states nothing."""
    answer = stated_answer(text)
    return None if answer is None else normal_text(answer.text)


def _reading_by_value(answer: str | None, value: float | None, name: str) -> Reading:
    if value is None:
        return Reading(None, None, answer, "the reward function gave no reward")
    if not is_outcome(value):
        raise RunError(
            f"the reward function {name!r} gave {value:g}, which is neither right (1) nor wrong "
            "(0): name what says it with the key `correct` of the task, another reward or "
            "module:name, a function that returns True or False"
        )
    return Reading(value == 1, None, answer, "" if value == 1 else f"reward {value:g}")
