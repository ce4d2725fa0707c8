"""Imports where Windows lacks functions of Python: nothing fails that does not need them."""

import subprocess
import sys

HIDING = """
import numpy, os, signal, sys, typing  # numpy asks for the system with uname
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("fork", "register_at_fork", "sysconf", "killpg", "sched_getaffinity"):
    delattr(os, name)
for name in ("SIGKILL", "SIGVTALRM", "SIGPROF", "setitimer", "pthread_kill", "pthread_sigmask"):
    delattr(signal, name)
"""
IMPORTING = """
import setrl.rewards, setrl.train.scoring, setrl.evaluate, setrl.tasks  # all read the grader
from setrl_grader import MathGrader
grader = MathGrader()
assert grader.grade(r"\\boxed{0.5}", "1/2").correct
assert grader.grade(r"\\boxed{\\sin(x)^2}", r"1-\\cos(x)^2").correct
"""


def test_all_answers_are_graded_where_nothing_can_fork():
    subprocess.run([sys.executable, "-c", HIDING + IMPORTING], check=True)
