"""The published systems: each file reads like its paper's algorithm."""

from typing import TypeAlias

from privet.registry import Registry
from privet.systems.base import LocalSystem, UnsuitableRelease
from privet.systems.central._base import CentralSystem
from privet.systems.central.gap import GAP
from privet.systems.central.heterpoisson import HeterPoisson
from privet.systems.central.ndp import NDP
from privet.systems.central.private_mlp import PrivateMLP
from privet.systems.central.smoothed_mlp import SmoothedMLP
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted
from privet.systems.local._privge_links import LinkFitted
from privet.systems.local.lpgnn import LPGNN
from privet.systems.local.privge import PrivGE
from privet.systems.local.rgnn import RGNN
from privet.systems.local.solitude import Solitude

System = LocalSystem
AnySystem: TypeAlias = LocalSystem | CentralSystem

SYSTEMS: Registry[LocalSystem] = Registry("system", "LocalSystem", ("privet.systems.local",), "privet.systems")
"""Every system by the name that the command line uses."""

CENTRAL_SYSTEMS: dict[str, type[CentralSystem]] = {s.name: s for s in (HeterPoisson, PrivateMLP, SmoothedMLP, NDP, GAP)}
"""The systems of the central model, in which a trusted holder trains."""

__all__ = [
    "CENTRAL_SYSTEMS",
    "GAP",
    "LPGNN",
    "NDP",
    "RGNN",
    "SYSTEMS",
    "AnySystem",
    "CentralSystem",
    "Collected",
    "Fitted",
    "HeterPoisson",
    "LinkFitted",
    "LocalSystem",
    "PrivGE",
    "PrivateMLP",
    "SmoothedMLP",
    "Solitude",
    "System",
    "UnsuitableRelease",
]
