"""The graph layers that a network can be made of: one a file, and those of other packages by entry point."""

from __future__ import annotations

from privet.errors import InvalidParameter
from privet.graph.operators import GraphLike
from privet.models.backbones._base import Backbone, Features, Propagation
from privet.registry import Registry

__all__ = ["BACKBONES", "Backbone", "Features", "Propagation", "backbone_operator", "check_backbone"]

BACKBONES: Registry[Backbone] = Registry("backbone", "Backbone", (__name__,), "privet.backbones")
"""Every backbone by the name that systems and the command line use."""


def check_backbone(name: str) -> type[Backbone]:
    """Return the backbone of a name; an unknown name is an error that lists the known ones.

    Args:
        name: The backbone's name, such as ``"gcn"``.
    """
    if name not in BACKBONES:
        raise InvalidParameter("backbone", f"one of {', '.join(sorted(BACKBONES))}", name)
    return BACKBONES[name]


def backbone_operator(graph: GraphLike, backbone: str) -> Propagation:
    """Make what a backbone propagates with, once for each graph.

    Args:
        graph: A graph or a square sparse adjacency matrix.
        backbone: The backbone's name.
    """
    return check_backbone(backbone).operator(graph)
