"""The calculator as an environment of the verifiers library (0.4), with its two tools.

    task: {verifiers: calculator_env, strategy: {function: calculator:strategy}}

The problems, the tools and the check come from calculator.py.
"""

import calculator
import verifiers.v1 as vf

__all__ = ["Calculations"]


class SumData(vf.TaskData):
    """A sum, and its result."""

    result: int


class Tools(vf.Toolset):
    """A calculator."""

    TOOL_PREFIX = None

    @vf.tool
    def add(self, a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: The first one.
            b: The second one.
        """
        return calculator.add(a, b)

    @vf.tool
    def multiply(self, a: int, b: int) -> int:
        """Multiply two numbers.

        Args:
            a: The first one.
            b: The second one.
        """
        return calculator.multiply(a, b)


class Sum(vf.Task[SumData]):
    """A sum to be calculated with the tools."""

    @classmethod
    def toolsets(cls, config):
        """Return the calculator."""
        return [Tools(vf.ToolsetConfig())]

    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        """1 if the conversation ends with the result."""
        return float(trace.last_reply == str(self.data.result))


class Calculations(vf.Taskset[Sum]):
    """All sums of the training split."""

    def load(self):
        """Yield the sums in their fixed order."""
        for one in calculator.problems("train"):
            [message] = one.prompt
            yield Sum(SumData(prompt=message["content"], result=one.result))
