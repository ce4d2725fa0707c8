"""What can go wrong outside of an answer; no answer raises."""


class GoldError(ValueError):
    """A gold cannot be used for grading: the message names it, and why."""


class WorkersError(RuntimeError):
    """The processes that compare roots and functions cannot be started."""
