"""The paper's grid tasks on MiniGrid and BabyAI, where Poly-PPO gained nothing; arXiv:2509.25424.

A config names them: {name: "studies.grids:FourRoomsTask"}, {name: "studies.grids:BabyAI", level:
goto}. Their results are in docs/results/control. On JAX {name:
"studies.grids.xminigrid:XMiniGrid", level: four_rooms} has the same settings.
"""

from studies.grids.babyai import BabyAI
from studies.grids.four_rooms import FourRoomsTask

__all__ = ["BabyAI", "FourRoomsTask"]
