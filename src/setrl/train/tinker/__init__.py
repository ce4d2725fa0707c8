"""Set credit through the Tinker protocol.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from setrl.support.names import imported_on_demand

if TYPE_CHECKING:
    from setrl.train.tinker.client import ClientSettings as ClientSettings
    from setrl.train.tinker.client import SampledTokens as SampledTokens
    from setrl.train.tinker.client import ServerSampler as ServerSampler
    from setrl.train.tinker.client import SetTinkerTrainer as SetTinkerTrainer
    from setrl.train.tinker.client import TinkerSampler as TinkerSampler
    from setrl.train.tinker.client import connect_to as connect_to

_MODULES = {
    "SampledTokens": "setrl.train.tinker.client",
    "ServerSampler": "setrl.train.tinker.client",
    "SetTinkerTrainer": "setrl.train.tinker.client",
    "ClientSettings": "setrl.train.tinker.client",
    "TinkerSampler": "setrl.train.tinker.client",
    "connect_to": "setrl.train.tinker.client",
}
__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "tinker")
