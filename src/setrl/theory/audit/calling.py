"""How an estimator is called: any function of a group's rewards → its advantages (B, N)."""

from __future__ import annotations

import inspect
import pickle
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from setrl.core.method import AnyMethod
from setrl.theory.tabular import ActionTable

LABELS = ("strategies", "labels", "clusters", "strategies_BN", "labels_BN", "strategy", "cluster",
          "label", "strategy_ids", "cluster_ids")  # fmt: skip
Call = Callable[[Any, np.ndarray, np.ndarray], Any]
ShowProgress = Callable[[int], object]


@dataclass(frozen=True)
class Shape:
    """How one kind of estimator is called.

    Attributes:
        name: The name in sentences, such as "f(rewards)".
        call: (function, rewards_BN, labels_BN) → advantages of shape (B, N), of any library. It
            may raise an exception, and gives arrays to the function that the function may edit.
        reads_labels: Whether the estimator may use the labels of strategies.
        takes_batches: Whether the function receives several groups at once; if not, B is 1.
        unread: () → the settings that were given and that no call has read.
        mixed: As `call`, with the rows of all groups in another order; None if no argument says
            which group a row is in.
    """

    name: str
    call: Call
    reads_labels: bool = False
    takes_batches: bool = True
    unread: Callable[[], Sequence[str]] = tuple
    mixed: Call | None = None


@dataclass(frozen=True, eq=False)
class CalledEstimator:
    """An advantage function with its shape; it calls the function and checks what comes back.

    Attributes:
        function: The function, or a `Method`.
        shape: How it is called.
        name: Its name in sentences.
        habits: What was noticed in the calls: "edits" if it changed its input, "missing" if it
            returned NaN or infinite numbers, "single" or "half" if it returned float32 or shorter
            floats, "mixes" if a group is paid otherwise next to other groups, "unsteady" if equal
            calls gave other numbers, "draws" if it used a global random generator, "unlike" if it
            takes one group, and pays it otherwise as a batch of one, "either" if it takes one group
            and a batch.
    """

    function: Any
    shape: Shape
    name: str
    habits: set[str] = field(default_factory=set)

    @property
    def is_steady(self) -> bool:
        """Whether equal calls give equal numbers, as far as the calls showed."""
        return not self.habits & {"unsteady", "draws"}

    @property
    def is_whole(self) -> bool:
        """Whether equal calls give equal numbers, and all are finite, as far as they showed."""
        return self.is_steady and "missing" not in self.habits

    @property
    def tolerance(self) -> float:
        """The rounding of its numbers, relative to the largest advantage."""
        return HALF if "half" in self.habits else SINGLE if "single" in self.habits else EXACT

    def advantages(self, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> np.ndarray:
        """Return the advantages of groups, (B, N); NaN where the function returned none.

        Raises:
            ValueError: If the function raises an exception, or returns another shape or no numbers.
        """
        if self.shape.takes_batches and "mixes" not in self.habits:
            return self.of_batch(rewards_BN, labels_BN)
        rows = zip(rewards_BN[:, None], labels_BN[:, None], strict=True)
        return np.concatenate(self.each(rows))

    def of_batch(self, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> np.ndarray:
        """Return the advantages of one call with all these groups."""
        return self.each([(rewards_BN, labels_BN)])[0]

    def each(
        self,
        batches: Iterable[tuple[np.ndarray, np.ndarray]],
        progress: ShowProgress | None = None,
    ) -> list[np.ndarray]:
        """Return the advantages of batches of rewards and labels, one call for each."""
        advantages = []
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of odd groups, such as all wrong
            for batch in batches:
                advantages.append(self._call_and_check(*batch))
                if progress is not None:
                    progress(len(batch[0]))
        return advantages

    def paid(
        self, table: ActionTable, batches_DBN: np.ndarray, progress: ShowProgress | None = None
    ) -> np.ndarray:
        """Return the advantages of batches that are given by their samples' actions, (D, B, N)."""
        if isinstance(self.function, AnyMethod):  # it pays a group the same in any batch
            rows_RN = batches_DBN.reshape(-1, batches_DBN.shape[2])
            values_RN = table.credit(self.function, rows_RN, np.random.default_rng(0)).values_BN
            return np.asarray(values_RN, dtype=np.float64).reshape(batches_DBN.shape)
        return np.array(self.each(zip(*fields(table, batches_DBN), strict=True), progress))

    def twice(
        self, table: ActionTable, batches_DBN: np.ndarray, progress: ShowProgress | None = None
    ) -> np.ndarray:
        """Return the advantages of batches, `cleaned`, and notice whether equal calls agree.

        The calls are repeated in another order, and some several times, if they are groups that
        are alone, or few: a state or chance shows as a difference, unless it is seldom.
        """
        with uses_global_generators() as draws:
            values_DBN = self.paid(table, batches_DBN, progress)
            order = np.random.default_rng(0).permutation(len(batches_DBN))[:REPEATED]
            num_more = max(LEAST - len(order), TIMES * FEW * (batches_DBN.shape[1] == 1), 0)
            order = np.concatenate([order, np.resize(order[:FEW], num_more)])
            try:
                more_DBN = self.paid(table, batches_DBN[order], progress)
            except ValueError:  # it did not fail in the first call
                more_DBN = np.full(batches_DBN[order].shape, np.nan)
        scale = np.abs(cleaned(values_DBN)).max(initial=1e-300)
        if apart(more_DBN, values_DBN[order]).max() > self.tolerance * scale:
            self.habits.add("unsteady")
        if draws:
            self.habits.add("draws")
        return cleaned(values_DBN)

    def _call_and_check(self, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> np.ndarray:
        sent = rewards_BN.copy(), labels_BN.copy()
        try:
            returned = self.shape.call(self.function, *sent)
        except (Exception, SystemExit) as error:  # any function may raise anything
            raise ValueError(
                f"{self.name} raised {type(error).__name__}: {error}; called as {self.shape.name} "
                f"with rewards {rewards_BN[0].tolist()}"
            ) from error
        advantages = self._to_floats(returned)
        if advantages.shape != rewards_BN.shape:
            raise ValueError(
                f"{self.name} must return one advantage for each sample, shape "
                f"{rewards_BN.shape}, got {advantages.shape}; called as {self.shape.name}"
            )
        if sent[0].tobytes() != rewards_BN.tobytes() or sent[1].tobytes() != labels_BN.tobytes():
            self.habits.add("edits")
        if not np.isfinite(advantages).all():
            self.habits.add("missing")
        return advantages

    def _to_floats(self, returned: Any) -> np.ndarray:
        """Return an array of any library as float64, also if it is on a graph of gradients."""
        if type(returned) is np.ndarray and returned.dtype == np.float64:
            return returned.copy()
        detached = returned.detach().cpu() if hasattr(returned, "detach") else returned
        if isinstance(detached, np.ma.MaskedArray):
            detached = np.ma.filled(detached.astype(np.float64), np.nan)
        if habit := SHORT_FLOATS.get(str(getattr(detached, "dtype", "")).removeprefix("torch.")):
            self.habits.add(habit)
            detached = detached.float() if hasattr(detached, "float") else detached
        try:
            array = np.asarray(detached)
            if array.dtype.kind in "biufO":
                return array.astype(np.float64)
        except (TypeError, ValueError):
            pass
        raise ValueError(f"{self.name} must return an array of real numbers, got {returned!r:.80}")


ALIKE = 1e-4  # relative difference of what one group and a batch of one group are paid
REPEATED = 5_000  # calls that are repeated
FEW, TIMES = 16, 3  # calls that are repeated so many times more, for states that change late
LEAST = 150  # calls that are repeated, some of them several times
EXACT, SINGLE, HALF = 1e-9, 1e-5, 4e-3  # rounding, of the largest advantage
SHORT_FLOATS = {"float32": "single", "float16": "half", "bfloat16": "half"}


def fields(table: ActionTable, actions_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rewards and the labels of groups that are given by their samples' actions."""
    labels_A = np.zeros(table.num_actions) if table.strategies is None else table.strategies
    return (
        np.asarray(table.rewards, dtype=np.float64)[actions_BN],
        np.asarray(labels_A, dtype=np.int64)[actions_BN],
    )


def estimator(
    function: Any,
    shape: Shape | None = None,
    name: str | None = None,
    num_samples: int = 4,
    takes: Literal["group", "batch"] | None = None,
) -> CalledEstimator:
    """Return the function with its shape, which is found by its signature and by trying.

    Args:
        function: `f(rewards)` or `f(rewards, strategies)`, of one group (N,) or of a batch (B, N),
            of NumPy or of PyTorch; or a `Method`.
        shape: How it is called, for other functions.
        name: Its name in sentences; by default the function's own.
        num_samples: N of the groups with which shapes are tried.
        takes: Whether it takes one group or a batch. By default it takes batches if it can; a
            function that then mixes groups is called with one group after the other.

    Raises:
        ValueError: If the function fits no shape, with what each shape raised.
    """
    function_name = (
        function.name if isinstance(function, AnyMethod) else getattr(function, "__name__", None)
    )
    name = name or function_name or type(function).__name__
    if isinstance(function, AnyMethod):
        return CalledEstimator(
            function, Shape("a Method", _call_method, _reads_labels(function)), name
        )
    if not callable(function):
        raise ValueError(f"an estimator must be a function or a Method, got {function!r:.80}")
    rewards_BN = (np.arange(4 * num_samples).reshape(4, -1) % 3 == 0) * 1.0
    rewards_BN[2:] = [[0.0], [1.0]]
    groups = rewards_BN, np.arange(4 * num_samples).reshape(4, -1) % 2
    if shape is None:
        return _find_shape(function, name, groups, takes)
    return CalledEstimator(function, shape, name)


def _call_method(method: AnyMethod, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> Any:
    labels: Any = {"strategies": labels_BN} if _reads_labels(method) else {}
    return method.advantages(rewards_BN, rng=0, **labels).values_BN


def _reads_labels(method: AnyMethod) -> bool:
    return "strategies" in method.reads


def _find_shape(
    function: Any, name: str, groups: tuple[np.ndarray, np.ndarray], takes: str | None
) -> CalledEstimator:
    """Try the shapes on four groups; the first that gives as many advantages is the shape.

    A function that takes one group as (N,) and as (1, N) with the same result may be meant for
    either; it is called with batches. With different results it is a function of a group.
    """
    refusals, alone, first_group = [], None, (groups[0][:1], groups[1][:1])
    for shape in _list_shapes(function, name):
        if takes is not None and shape.takes_batches is not (takes == "batch"):
            continue
        if alone is not None and not shape.takes_batches:
            break  # it takes groups of NumPy: tensors need not be tried
        tried = CalledEstimator(function, shape, name)
        try:
            first = tried.of_batch(*first_group)
            tried.advantages(*groups)
        except ValueError as error:
            refusals.append(str(error))
            continue
        tried.habits.clear()
        if alone is not None and _differ_beyond_rounding(
            alone[1], first, alone[0].of_batch(*first_group)
        ):
            alone[0].habits.add("unlike")
            return alone[0]
        if alone is not None or shape.takes_batches or takes:
            tried.habits.update({"either"} if alone is not None else ())
            return tried
        alone = tried, first
    if alone is not None:
        return alone[0]
    raise ValueError("; ".join(dict.fromkeys(refusals)))


def _differ_beyond_rounding(group: np.ndarray, batch: np.ndarray, again: np.ndarray) -> bool:
    """Whether one group is paid otherwise as a batch, and not by chance: again, it is the same."""
    alike = [np.allclose(group, values, rtol=ALIKE, equal_nan=True) for values in (batch, again)]
    return alike == [False, True]


def apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return |one − other|: 0 where both are the same, also NaN; infinity where one is NaN.

    >>> apart(np.array([1.0, np.nan, np.nan, np.inf]), np.array([3.0, np.nan, 0.0, np.inf]))
    array([ 2.,  0., inf,  0.])
    """
    is_same = (one == other) | (np.isnan(one) & np.isnan(other))
    difference = np.abs(np.subtract(one, other, where=~is_same, out=np.zeros(one.shape)))
    return np.where(np.isnan(difference), np.inf, difference)


def cleaned(values: np.ndarray) -> np.ndarray:
    """Return advantages in which NaN and infinite ones are 0, as an audit counts them."""
    return np.nan_to_num(values, posinf=0.0, neginf=0.0)


def _list_shapes(function: Any, name: str) -> list[Shape]:
    """Return how a function with these parameters may want to be called."""
    keyword = _find_label_parameter(function, name)
    arguments = "rewards" if keyword is None else "rewards, strategies"
    reads = keyword is not None
    kinds = ["", *(["tensor "] if "torch" in sys.modules else [])]
    return [
        Shape(
            f"f({kind}{arguments}) of {whole}",
            _make_call(keyword, bool(kind), is_batch),
            reads,
            is_batch,
        )
        for kind in kinds
        for whole, is_batch in (("a group", False), ("a batch", True))
    ]


def _find_label_parameter(function: Any, name: str) -> str | None:
    """Return the parameter that takes the labels of strategies, if the function has one."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a function in C
        return None
    label_names = [parameter.name for parameter in parameters[1:] if parameter.name in LABELS]
    needed = [parameter.name for parameter in parameters if _is_needed(parameter)][1:]
    unknown = [argument for argument in needed if argument not in label_names[:1]]
    if unknown:
        raise ValueError(
            f"{name} needs rewards, {', '.join(needed)}, and an audit has only rewards and labels: "
            "wrap it in a function of rewards, or of rewards and strategies, or give it a shape (a "
            f"parameter that takes labels has one of the names {', '.join(LABELS)})"
        )
    return label_names[0] if label_names else None


def _is_needed(parameter: inspect.Parameter) -> bool:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and parameter.kind not in variadic


def _make_call(keyword: str | None, as_tensor: bool, is_batch: bool) -> Call:
    def call(function: Any, rewards_BN: np.ndarray, labels_BN: np.ndarray) -> Any:
        arguments = [part if is_batch else part[0] for part in (rewards_BN, labels_BN)]
        if as_tensor:
            arguments = [sys.modules["torch"].from_numpy(part) for part in arguments]
        labels = {} if keyword is None else {keyword: arguments[1]}
        returned = function(arguments[0], **labels)
        if is_batch:
            return returned
        if hasattr(returned, "detach"):
            return returned[None]
        return np.asanyarray(returned)[None]  # a mask of samples stays

    return call


UNUSUAL = 2_718_281_828  # a seed that no function sets, so that setting one is noticed


@contextmanager
def uses_global_generators() -> Iterator[list[str]]:
    """Give a list; after the block it names the libraries whose global generator was used.

    The generators continue afterwards as if nothing had been drawn.

    >>> with uses_global_generators() as draws:
    ...     number = random.random()
    >>> draws
    ['Python']
    """
    used: list[str] = []
    generators = _list_generators()
    before = {name: get() for name, (_, get, _) in generators.items()}
    try:
        for seed, *_ in generators.values():
            seed(UNUSUAL)
        start = {name: _state_to_bytes(get()) for name, (_, get, _) in generators.items()}
        yield used
        used.extend(
            name
            for name, (_, get, _) in generators.items()
            if _state_to_bytes(get()) != start[name]
        )
    finally:
        for name, (*_, put) in generators.items():
            put(before[name])


def _state_to_bytes(state: Any) -> bytes:
    return pickle.dumps(state.numpy() if hasattr(state, "numpy") else state)


def _list_generators() -> dict[str, tuple[Any, Any, Any]]:
    """Return name → (seed it, get its state, set its state)."""
    generators: dict[str, tuple[Any, Any, Any]] = {
        "Python": (random.seed, random.getstate, random.setstate),
        "NumPy": (np.random.seed, np.random.get_state, np.random.set_state),
    }
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        seed = torch.default_generator.manual_seed
        generators["PyTorch"] = (seed, torch.get_rng_state, torch.set_rng_state)
    return generators
