"""`setrl audit`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro
from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import LogFields, MethodOptions
from setrl.support.errors import ConfigError, usage_errors
from setrl.train import method_config

# A field of samples from rewards and labels, and whether it reads labels.
ReadField = tuple[Callable[[np.ndarray, np.ndarray], Any], bool]


if TYPE_CHECKING:
    from setrl.theory.audit import Audit, Shape

NOT_KEPT = 1
FIRST = 3  # sentences that are printed without --details; warnings always are


@dataclass(frozen=True, kw_only=True)
class AuditEstimator(MethodOptions, LogFields, Said):
    """Say what an estimator of advantages optimises, and its bias and noise.

    The estimator is called on every group of a few samples, so the answers hold for every policy.
    docs/audit.md explains the sentences.

    Attributes:
        estimator: The function as module:name or file.py:name: f(rewards) or f(rewards,
            strategies), of one group or of a batch; or a method of `setrl credit`, with its
            arguments as options, such as poly_epo --set-size 8; or a log with the advantages that
            a trainer has recorded.
        group_size: The number N of samples in a group; by default 4, or as in the log.
        rewards: The rewards that a sample may get, such as 0 0.5 1.
        labels: The number of strategies that samples may use; by default 3 if the estimator reads
            labels, otherwise 1.
        claims: What it is said to optimise, such as pass@4, polychromic@4 or 2*pass@4.
        takes: Whether the function takes one group, (N,), or a batch of groups, (B, N); by default
            what it can take.
        groups: The number of groups in a batch, if the estimator mixes them; by default at most 8.
        trainer: Call the function as this trainer does: {trainers}; by default the trainer whose
            parameters the function has.
        set: An argument of the method or the function, or a setting of the trainer, NAME=VALUE,
            such as norm_adv_by_std_in_grpo=false; can be repeated.
        field: A number of each sample that the trainer also passes: length=3,1 (for each reward,
            from the highest) or length=module:function (of rewards and labels); can be repeated.
        require: A law that must hold, or unbiased; otherwise the exit code is 1. Can be repeated;
            an unknown name is answered with all names.
        details: Print all sentences, not only the first three.

    Json:
        sentences: What the audit found, in words.
        estimator: The name of the estimator.
        called_as: How it was called.
        group_size: The number of samples in a group.
        rewards: The reward of each kind of sample.
        labels: The label of each kind of sample.
        objective: What it optimises exactly; in batches, if it mixes groups, as are the next five.
        nearest: The nearest objective, and how far off it is.
        claim: What it is said to optimise, and how far off it is.
        factor: What its gradient is multiplied by.
        bias: The distance from the objective.
        alone: Objective, nearest and claim of a group that is the only one in its batch.
        made: How it can be made from sets.
        strength: Success rate → how many times as hard as the objective's gradient it pushes.
        in_batch: What it does in batches of several groups, if it mixes them.
        curl: How far it is from the gradient of any objective; in batches, if it mixes groups.
        policies: The policies at which numbers are given: shares of each kind of sample.
        gradient: The expected gradient at each policy.
        variance: The variance at each policy, and of rivals.
        laws: Each law, whether it holds, and what it says.
        requirements: Name → whether it holds, for --require; unbiased and has-objective are about
            batches of several groups, if it mixes them.
        survivors: Which kinds of samples training keeps.
        other_sizes: What it optimises in groups of other sizes.
    """

    estimator: Positional[str]
    group_size: int | None = None
    rewards: tuple[str, ...] = ("0", "1")
    labels: int | None = None
    claims: str | None = None
    takes: Literal["group", "batch"] | None = None
    groups: int | None = None
    trainer: str | None = None
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    field: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    require: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    details: bool = False

    def run(self) -> int:
        """Print the audit; what is required and does not hold goes to stderr."""
        with usage_errors(), redirect_stdout(sys.stderr):  # its prints are not the answer
            audit = self._audit_estimator()
            broken = _broken_requirements(audit, self.require)
            lines, answer = audit.sentences(), audit.to_json() if self.json else {}
        if self.json:
            self.say_json(**answer)
        else:
            print("\n".join(lines if self.details else _first_sentences(lines)))
        for name, why in broken.items():
            print(f"does not hold: {name}: {why}", file=sys.stderr)
        return NOT_KEPT if broken else 0

    def _audit_estimator(self) -> Audit:
        from setrl.support.files.progress import progress_bar
        from setrl.theory.audit import audit
        from setrl.theory.audit.recorded import Recorded

        rewards = read_numbers(self.rewards, "--rewards")
        subject, shape = self._read_subject(rewards)
        size = self.group_size
        if isinstance(subject, Recorded):
            if self.group_size not in (None, subject.num_samples):
                raise ConfigError(f"the groups of {self.estimator} have {subject.num_samples} "
                                  f"samples, not --group-size {self.group_size}")  # fmt: skip
            size, rewards = subject.num_samples, subject.rewards
            print("\n".join(subject.says), file=sys.stderr)
            subject = subject.method
        with progress_bar(True, desc="audit", unit="group", delay=2, leave=False) as bar:
            return audit(
                subject,
                group_size=size,
                claims=self.claims,
                name=self._display_name(),
                takes=self.takes,
                shape=shape,
                progress=bar.update,
                rewards=rewards,
                labels=self.labels,
                groups=self.groups,
            )

    def _display_name(self) -> str | None:
        """Return what sentences call a function or a log; a method has its own name."""
        from setrl.support.files.loading import is_reference

        if is_reference(self._function_and_folder[0]):
            return self.estimator.rpartition(":")[2]
        return Path(self.estimator).name if Path(self.estimator).exists() else None

    @property
    def _function_and_folder(self) -> tuple[str, Path]:
        """The function as module:name, also of a file such as mine.py:name; and its folder."""
        file, colon, name = self.estimator.rpartition(":")
        if not (colon and file.endswith(".py")):
            return self.estimator, Path.cwd()
        return f"{Path(file).stem}:{name}", Path.cwd() / Path(file).parent

    def _read_subject(self, rewards: Sequence[float]) -> tuple[Any, Shape | None]:
        """Return the function, the method or what a log has recorded, and how it is called."""
        from setrl.support.files import strict_yaml
        from setrl.support.files.loading import is_reference, load
        from setrl.theory.audit.recorded import Recorded

        path = Path(self.estimator)
        if path.exists():
            from setrl.logs.log import open_log

            if self.set or self.field or self.trainer:
                raise ConfigError(f"{path} is a log: --set, --field and --trainer are of functions")
            log = open_log(path, self.log_options, ["reward"])
            self.say([log.head])
            recorded = Recorded.of(log)
            self.note(log.notes())
            return recorded, None
        if is_reference(self._function_and_folder[0]):
            function = load(*self._function_and_folder).value
            settings: dict[str, Any] = {}
            strict_yaml.override(settings, self.set)
            return bind_settings(function, self.trainer, settings, self.field, rewards)
        if self.field or self.trainer:
            raise ConfigError("--field and --trainer are of functions, not of methods")
        return method_config.from_config(self.spec(self.estimator)), None


def _first_sentences(lines: Sequence[str]) -> list[str]:
    """Return the warnings and the first sentences, and how many more there are."""
    warnings = [line for line in lines if line.startswith("Warning")]
    shown = lines[: len(warnings) + FIRST]
    rest = len(lines) - len(shown)
    return [*shown, *([f"({rest} more with --details)"] if rest else [])]


def _broken_requirements(audit: Audit, required: tuple[str, ...]) -> dict[str, str]:
    """Return what was required and does not hold, or could not be tried, with the reason."""
    from setrl.support import names

    says = {law.name: law.says for law in audit.laws}
    return {
        name: f"it {says[name]}" if name in says else audit.sentences()[0]
        for name in required
        if names.look_up("requirement", name, audit.pays) is not True
    }


def read_numbers(texts: Sequence[str], what: str) -> tuple[float, ...]:
    """Read numbers that are separated by spaces or commas: 0 1/2 1, or 0,0.5,1.

    >>> read_numbers(["0,1/2", "1"], "rewards")
    (0.0, 0.5, 1.0)
    """
    parts = [part for text in texts for part in text.replace(",", " ").split()]
    try:
        return tuple(float(Fraction(part)) for part in parts)
    except (ValueError, ZeroDivisionError):
        raise ConfigError(
            f"{what} must be numbers, such as 0 0.5 1, got {' '.join(texts)}"
        ) from None


def bind_settings(
    function: Any,
    trainer: str | None,
    settings: Mapping[str, Any],
    fields: Sequence[str],
    rewards: Sequence[float],
) -> tuple[Any, Shape | None]:
    """Return a function and how it is called; with its settings, if it is not for a trainer.

    Args:
        function: The function; anything else is returned unchanged.
        trainer: A name of `setrl.theory.audit.TRAINERS`; by the parameters if None.
        settings: Options of the trainer; otherwise keyword arguments of the function.
        fields: Such as length=3,1: a number for each reward, from the highest; or
            length=module:function, of rewards and labels.
        rewards: The rewards.
    """
    from setrl.theory.audit.shapes import trainer_of, trainer_shape

    if trainer is None and not (callable(function) and trainer_of(function)):
        if fields:
            raise ConfigError("--field needs a trainer that passes it: give --trainer NAME")
        return (
            partial(function, **settings) if settings and callable(function) else function
        ), None
    fields_read = dict(_read_field(text, rewards) for text in fields)
    shape = trainer_shape(
        function, trainer, {name: field for name, (field, _) in fields_read.items()}, **settings
    )
    return function, replace(shape, reads_labels=any(labels for _, labels in fields_read.values()))


def _read_field(text: str, rewards: Sequence[float]) -> tuple[str, ReadField]:
    from setrl.support.files.loading import is_reference, load_function

    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(
            f"a field must look like length=3,1 or length=module:function, got {text!r}"
        )
    if is_reference(value):
        return name, (load_function(value, Path.cwd()).value, True)
    levels, numbers = sorted(set(rewards)), np.array(read_numbers([value], f"--field {name}"))
    if len(numbers) != len(levels):
        raise ConfigError(
            f"--field {name} needs {len(levels)} numbers, one for each reward from the highest, "
            f"got {len(numbers)}"
        )
    return name, (lambda rewards, _labels: numbers[::-1][np.searchsorted(levels, rewards)], False)
