"""The prompts of one arm and seed as the data set that TRL's trainer takes."""

from __future__ import annotations

from collections.abc import Sequence

from datasets import Dataset
from pyarrow import ArrowException

from setrl.support.errors import DataError
from setrl.tasks import Problem, Task


def training_prompts(task: Task, problems: Sequence[Problem], *, is_chat: bool = False) -> Dataset:
    """Return the prompts of every step in order, so that the order does not depend on epochs.

    Args:
        task: The task.
        problems: Its problems, in the order in which they are trained on.
        is_chat: Whether the model gets messages.

    Raises:
        DataError: If a column of a file holds values that no column of a data set can hold.
    """
    names = dict.fromkeys(key for one in problems for key in one.columns)  # as they first appear
    columns = {key: [one.columns.get(key) for one in problems] for key in names}
    for key, values in columns.items():
        try:
            Dataset.from_dict({key: values})
        except (ArrowException, OverflowError):
            raise DataError(
                f"{task.name}: the field {key!r} holds a number of more than 64 bits, or values of "
                "two kinds: write one kind in all rows, or leave the field out"
            ) from None
    prompts = [task.form.prompt(one.prompt, is_chat) for one in problems]
    return Dataset.from_dict({"prompt": prompts, **columns})
