"""Why a sample is wrong, by the grader of maths, where its gold is known."""

from __future__ import annotations

from setrl.rewards.grading import grade
from setrl.samples.types import Group, Sample


def why_wrong(group: Group, sample: Sample) -> str | None:
    """Return why a wrong sample's answer is not the gold; None if the grader does not find that.

    Other rewards may decide differently: where the grader accepts the answer, or finds none in the
    text, there is nothing to say.
    """
    if sample.correct is not False or not group.gold or not sample.text:
        return None
    found = grade(sample.text, group.gold, prompt=group.prompt)
    return None if found.correct or found.finding is None else found.why
