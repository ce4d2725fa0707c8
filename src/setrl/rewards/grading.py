"""The only place where setrl reads `setrl_grader`, which is a separate distribution."""

from setrl.support.installing import install

try:
    from setrl_grader import (
        ChoiceGrader,
        ExactGrader,
        Grade,
        Grader,
        MathGrader,
        NumberGrader,
        final_boxes,
        gold_answer,
        gold_problem,
        grade,
        normal_text,
        stated_answer,
    )
except ModuleNotFoundError as error:
    raise ImportError(f"grading needs setrl-grader: {install('cli')}") from error

__all__ = [
    "ChoiceGrader",
    "ExactGrader",
    "Grade",
    "Grader",
    "MathGrader",
    "NumberGrader",
    "final_boxes",
    "gold_answer",
    "gold_problem",
    "grade",
    "normal_text",
    "stated_answer",
]
