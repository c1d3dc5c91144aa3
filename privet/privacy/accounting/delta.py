"""The delta of a run that names none."""

from __future__ import annotations

from privet.errors import InvalidParameter

__all__ = ["default_delta"]

_LARGEST = 0.05


def default_delta(num_nodes: int, owner: str = "default_delta") -> float:
    """Return N^-1.1 as in HeterPoisson's paper; a graph so small that this protects nobody is refused.

    Args:
        num_nodes: N, the number of nodes of the whole graph.
        owner: The system or command that an error names.

    >>> round(default_delta(22_470), 7)
    1.63e-05
    """
    delta = float(num_nodes**-1.1)
    if delta > _LARGEST:
        expected = (
            f"given for a graph of {num_nodes} nodes, for which the default N^-1.1 is {delta:.2g}: a mechanism may "
            "betray a node outright with that probability"
        )
        raise InvalidParameter("delta", owner, expected, None)
    return delta
