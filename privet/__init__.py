"""privet: private learning on graphs whose nodes are people.

Every public name is imported when it is first used, so that ``import privet`` is cheap and a device needs no torch.

>>> import privet
>>> privet.Schema.numeric(3, low=0, high=1, classes=2)
Schema(3 features in [0, 1], 2 classes)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.auditing import audit as audit
    from privet.collection.study.manifest import Study as Study
    from privet.data import Graph as Graph
    from privet.data import Schema as Schema
    from privet.data import from_pyg as from_pyg
    from privet.data import load as load
    from privet.data import social_graph as social_graph
    from privet.data import split_nodes as split_nodes
    from privet.evaluation.compare import compare as compare
    from privet.evaluation.evaluate import evaluate as evaluate
    from privet.evaluation.results import Result as Result
    from privet.evaluation.sweep import sweep as sweep
    from privet.privacy import Guarantee as Guarantee
    from privet.systems.central.dpar import DPAR as DPAR
    from privet.systems.central.gap import GAP as GAP
    from privet.systems.central.heterpoisson import HeterPoisson as HeterPoisson
    from privet.systems.central.ndp import NDP as NDP
    from privet.systems.central.private_mlp import PrivateMLP as PrivateMLP
    from privet.systems.central.progap import ProGAP as ProGAP
    from privet.systems.central.smoothed_mlp import SmoothedMLP as SmoothedMLP
    from privet.systems.central.trainer import PrivateTrainer as PrivateTrainer
    from privet.systems.local.inquiry import Inquiry as Inquiry
    from privet.systems.local.lpgnn import LPGNN as LPGNN
    from privet.systems.local.privge import PrivGE as PrivGE
    from privet.systems.local.rgnn import RGNN as RGNN
    from privet.systems.local.solitude import Solitude as Solitude
    from privet.systems.local.structure import Structure as Structure

__version__ = "0.2.0"

_HOME = {
    "DPAR": "privet.systems.central.dpar",
    "GAP": "privet.systems.central.gap",
    "Graph": "privet.data",
    "Guarantee": "privet.privacy",
    "HeterPoisson": "privet.systems.central.heterpoisson",
    "Inquiry": "privet.systems.local.inquiry",
    "LPGNN": "privet.systems.local.lpgnn",
    "NDP": "privet.systems.central.ndp",
    "PrivGE": "privet.systems.local.privge",
    "PrivateMLP": "privet.systems.central.private_mlp",
    "PrivateTrainer": "privet.systems.central.trainer",
    "ProGAP": "privet.systems.central.progap",
    "RGNN": "privet.systems.local.rgnn",
    "Result": "privet.evaluation.results",
    "Schema": "privet.data",
    "SmoothedMLP": "privet.systems.central.smoothed_mlp",
    "Solitude": "privet.systems.local.solitude",
    "Structure": "privet.systems.local.structure",
    "Study": "privet.collection.study.manifest",
    "audit": "privet.auditing",
    "compare": "privet.evaluation.compare",
    "evaluate": "privet.evaluation.evaluate",
    "from_pyg": "privet.data",
    "load": "privet.data",
    "social_graph": "privet.data",
    "split_nodes": "privet.data",
    "sweep": "privet.evaluation.sweep",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    found = getattr(_home_of(name), name)
    globals()[name] = found
    return found


def _home_of(name: str) -> Any:
    try:
        return import_module(_HOME[name])
    except ModuleNotFoundError as error:
        from privet.extras import extra_of, needs

        extra = extra_of(error)
        if extra is None:
            raise
        raise ModuleNotFoundError(needs(f"privet.{name}", extra), name=error.name) from error


def __dir__() -> list[str]:
    return sorted(__all__)
