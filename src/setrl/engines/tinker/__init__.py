"""Set credit through the Tinker protocol.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.engines.tinker.client import SampledTokens as SampledTokens
    from setrl.engines.tinker.client import Sampler as Sampler
    from setrl.engines.tinker.client import Settings as Settings
    from setrl.engines.tinker.client import SetTinkerTrainer as SetTinkerTrainer
    from setrl.engines.tinker.client import TinkerSampler as TinkerSampler
    from setrl.engines.tinker.client import connect_to as connect_to

_MODULES = {
    "SampledTokens": "setrl.engines.tinker.client",
    "Sampler": "setrl.engines.tinker.client",
    "SetTinkerTrainer": "setrl.engines.tinker.client",
    "Settings": "setrl.engines.tinker.client",
    "TinkerSampler": "setrl.engines.tinker.client",
    "connect_to": "setrl.engines.tinker.client",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "tinker")
