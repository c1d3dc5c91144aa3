"""The systems: each file reads like its paper's algorithm. One file, or an entry point, is one system."""

from typing import TypeAlias

from privet.registry import Registry
from privet.systems.base import LocalSystem, UnsuitableRelease
from privet.systems.central._base import CentralSystem
from privet.systems.central.dpar import DPAR
from privet.systems.central.gap import GAP
from privet.systems.central.heterpoisson import HeterPoisson
from privet.systems.central.ndp import NDP
from privet.systems.central.private_mlp import PrivateMLP
from privet.systems.central.progap import ProGAP
from privet.systems.central.smoothed_mlp import SmoothedMLP
from privet.systems.central.trainer import PrivateTrainer
from privet.systems.collected import Collected
from privet.systems.controls import MAJORITY, Control, shuffled_reports, structure_only
from privet.systems.fitted import Fitted
from privet.systems.local._privge_links import LinkFitted
from privet.systems.local.inquiry import Inquiry
from privet.systems.local.lpgnn import LPGNN
from privet.systems.local.privge import PrivGE
from privet.systems.local.rgnn import RGNN
from privet.systems.local.solitude import Solitude, count_noise
from privet.systems.local.structure import Structure

System: TypeAlias = LocalSystem | CentralSystem
"""Something that learns from people's data, and whose hyper-parameters are its constructor's."""

SYSTEMS: Registry[System] = Registry(
    "system", "LocalSystem or CentralSystem", ("privet.systems.local", "privet.systems.central"), "privet.systems"
)
"""Every system by the name that the command line uses."""

__all__ = [
    "DPAR",
    "GAP",
    "LPGNN",
    "MAJORITY",
    "NDP",
    "RGNN",
    "SYSTEMS",
    "CentralSystem",
    "Collected",
    "Control",
    "Fitted",
    "HeterPoisson",
    "Inquiry",
    "LinkFitted",
    "LocalSystem",
    "PrivGE",
    "PrivateMLP",
    "PrivateTrainer",
    "ProGAP",
    "SmoothedMLP",
    "Solitude",
    "Structure",
    "System",
    "UnsuitableRelease",
    "count_noise",
    "shuffled_reports",
    "structure_only",
]
