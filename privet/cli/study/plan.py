"""The options of ``privet study new`` for a study in rounds: the system, its public data, and who is asked first."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from privet.collection.operator.declaration import Declared
    from privet.data import Schema
    from privet.systems.local.inquiry import Inquiry

__all__ = ["Sources", "first_round", "planned_system", "refuse_without_system"]

_SEED = 0  # public: anybody can draw the same lots


@dataclass(frozen=True)
class Sources:
    """The files and shares that a first round is drawn up from, as options give them.

    Attributes:
        graph: A file of public edges.
        labels: A file of public classes.
        panel: A share of people, or a file of nodes.
        ask_class: A share of people, or a file of nodes.
    """

    graph: Path | None
    labels: Path | None
    panel: str | None
    ask_class: str | None


def refuse_without_system(**given: Any) -> None:
    """Refuse options that only a study in rounds has."""
    name = next((name for name, value in given.items() if value is not None), None)
    if name is not None:
        option = "--set" if name == "settings" else f"--{name.replace('_', '-')}"
        raise InvalidParameter(option, "given with --system, for a study in rounds", "alone")


def planned_system(name: str, budgets: dict[str, float | None], other: list[str], *, panel: bool) -> Inquiry:
    """Return the system whose rule the rounds follow."""
    from privet.cli.options import parse_settings
    from privet.systems import SYSTEMS
    from privet.systems.local.inquiry import Inquiry

    kind = SYSTEMS.find(name)
    if not issubclass(kind, Inquiry):
        raise InvalidParameter("--system", "one that asks in rounds, such as inquiry", name)
    settings = parse_settings(other)
    unknown = sorted(settings.keys() - {each.name for each in fields(kind)})
    if unknown:
        raise InvalidParameter("--set", f"a setting of {name}", unknown[0])
    chosen: dict[str, Any] = {"seed": _SEED, **budgets, **settings}
    if panel:
        chosen["panel"] = 0.5  # the manifest says who they are
    elif not chosen.keys() & {"pilot", "scorer"}:
        chosen["epsilon_features"] = None  # nothing to make a scorer from: features are not asked about
    return kind(**chosen)


def first_round(document: dict[str, Any], schema: Schema, system: Inquiry, sources: Sources) -> Declared:
    """Draw up the first round from the operator's files."""
    from privet.collection.operator.declaration import declare
    from privet.collection.operator.public_data import read_graph, read_labels
    from privet.data.population import Population

    nodes = int(document["nodes"])
    order = np.random.default_rng(_SEED).permutation(nodes)
    panel = _chosen(sources.panel, order, nodes)
    others = order if panel is None else order[~np.isin(order, panel)]
    public = Population(schema, nodes)
    return declare(
        document,
        schema,
        system,
        graph=None if sources.graph is None else read_graph(sources.graph, public),
        labels=None if sources.labels is None else read_labels(sources.labels, public),
        panel=panel,
        people=_chosen(sources.ask_class, others, nodes),
    )


def _chosen(given: str | None, order: NDArray[np.int64], nodes: int) -> NDArray[np.int64] | None:
    """Return the people whom an option names: a share of all in a random order, or those of a file."""
    if given is None:
        return None
    try:
        share = float(given)
    except ValueError:
        return _listed(Path(given), nodes)
    if not 0 < share < 1:
        raise InvalidParameter("share", "above 0 and below 1", given)
    return np.sort(order[: max(1, round(share * nodes))])


def _listed(path: Path, nodes: int) -> NDArray[np.int64]:
    from privet.collection.operator.public_data import read_nodes

    found = read_nodes(path)
    if not len(found) or found.min() < 0 or found.max() >= nodes:
        raise InvalidData(f"column 'node' of '{path.name}'", f"from 0 to {nodes - 1}", "others")
    return np.unique(found)
