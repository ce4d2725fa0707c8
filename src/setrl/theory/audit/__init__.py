"""What an estimator of advantages optimises, exact on every small group.

>>> from setrl.theory.audit import audit
>>> found = audit(lambda rewards: rewards - rewards.mean(), name="dr_grpo")
>>> str(found.objective), found.pays["unbiased"]
('3·∇pass@1', True)
"""

from setrl.theory.audit.audit import Audit, audit, kinds
from setrl.theory.audit.calling import Shape
from setrl.theory.audit.laws import Law
from setrl.theory.audit.shapes import TRAINERS, Trainer, trainer_shape

__all__ = [
    "TRAINERS",
    "Audit",
    "Law",
    "Shape",
    "Trainer",
    "audit",
    "kinds",
    "trainer_shape",
]
