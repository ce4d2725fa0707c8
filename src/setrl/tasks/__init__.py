"""What is trained on and evaluated: a synthetic domain, or a file of problems; both are a `Task`.

Everything above this package (training, evaluation, commands) calls a `Task` and never asks which
of the two it is.
"""

from setrl.models.prompting import PromptForm
from setrl.tasks.base import Strategy, Task
from setrl.tasks.config import from_config, read_config
from setrl.tasks.domains import Problem
from setrl.tasks.from_domain import DomainTask
from setrl.tasks.from_file import FileTask

__all__ = [
    "DomainTask",
    "FileTask",
    "Problem",
    "PromptForm",
    "Strategy",
    "Task",
    "from_config",
    "read_config",
]
