"""The only place where setrl reads `setrl_grader`, which is a separate distribution."""

from setrl.support.installing import install

try:
    from setrl_grader import ChoiceGrader as ChoiceGrader
    from setrl_grader import ExactGrader as ExactGrader
    from setrl_grader import Gold as Gold
    from setrl_grader import Grade as Grade
    from setrl_grader import Grader as Grader
    from setrl_grader import MathGrader as MathGrader
    from setrl_grader import NumberGrader as NumberGrader
    from setrl_grader import final_boxes as final_boxes
    from setrl_grader import gold_answer as gold_answer
    from setrl_grader import gold_problem as gold_problem
    from setrl_grader import grade as grade
    from setrl_grader import normal_text as normal_text
    from setrl_grader import stated_answer as stated_answer
except ModuleNotFoundError as error:
    raise ImportError(f"grading needs setrl-grader: {install('cli')}") from error
