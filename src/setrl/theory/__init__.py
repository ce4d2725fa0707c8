"""Set RL on finite action sets, computed exactly: what the theory states, and where it fails.

Axes, in addition to the library's axes: A actions, O outcomes, R runs, G points of a grid; T is the
steps of a path. A policy is its probabilities, `policy_A`. Every result is a finite sum over all
multisets of actions that a set, or a group, can be.

>>> from setrl import objectives
>>> from setrl.theory import ActionTable, TabularObjective
>>> table = ActionTable([1, 1, 0], strategies=[0, 1, 2])
>>> poly = TabularObjective(objectives.polychromic(), table, set_size=2)
>>> poly.advantages([0.8, 0.1, 0.1]).round(3)
array([-0.025,  0.325, -0.125])
"""

from setrl.theory.definitions import (
    PolychromicConditions,
    diminish,
    policy_grid,
    polychromic_conditions,
    scaffold_values,
    specular_sets,
)
from setrl.theory.policies import entropy, shift_logits, softmax
from setrl.theory.tabular import ActionTable, TabularMethod, TabularObjective

__all__ = [
    "ActionTable",
    "PolychromicConditions",
    "TabularMethod",
    "TabularObjective",
    "diminish",
    "entropy",
    "policy_grid",
    "polychromic_conditions",
    "scaffold_values",
    "shift_logits",
    "softmax",
    "specular_sets",
]
