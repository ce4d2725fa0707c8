"""What can go wrong outside of an answer: no answer raises, whatever it is."""


class GoldError(ValueError):
    """A gold cannot be used for grading: the message names it, and why."""
