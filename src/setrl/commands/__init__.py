"""The commands of `setrl`, one file each: parse → config → call.

A command's signature is its options and its docstring their help. Everything heavy is imported in
the body, so that `setrl --help` stays quick.
"""

from setrl.commands.compare import compare
from setrl.commands.control import control
from setrl.commands.control_watch import watch
from setrl.commands.credit import credit
from setrl.commands.evaluate import evaluate
from setrl.commands.experiments import experiments
from setrl.commands.import_samples import import_samples
from setrl.commands.judge import judge
from setrl.commands.judge_audit import judge_audit
from setrl.commands.report import report
from setrl.commands.train import train
from setrl.commands.train_judge import train_judge
from setrl.commands.validate_data import validate_data
from setrl.commands.verify import verify

__all__ = [
    "compare",
    "control",
    "credit",
    "evaluate",
    "experiments",
    "import_samples",
    "judge",
    "judge_audit",
    "report",
    "train",
    "train_judge",
    "validate_data",
    "verify",
    "watch",
]
