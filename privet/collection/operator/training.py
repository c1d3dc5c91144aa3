"""From the answers of a study to a trained model: only reports, public topology and public labels are read.

Questions and budgets are the manifest's. Beside the model stands a control, the same training on the same reports dealt
to other people at random, which shows whether the reports helped, and label propagation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privet.collection.operator.facts import facts_of
from privet.collection.operator.models import TrainedModel
from privet.collection.operator.received import Received
from privet.collection.study.manifest import Study
from privet.data import Graph
from privet.errors import InvalidData
from privet.systems import SYSTEMS, LocalSystem, UnsuitableRelease
from privet.systems.controls import label_propagation

__all__ = ["systems_for", "train"]


def systems_for(study: Study) -> list[str]:
    """Name the systems that can learn from a study's answers."""
    local = (kind for kind in SYSTEMS.values() if issubclass(kind, LocalSystem))
    return [kind.name for kind in local if kind.learns_from(study.release)]


def train(
    received: Received,
    system: LocalSystem | None = None,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    validation_share: float = 0.25,
    place: Callable[[Graph], Graph] = lambda graph: graph,
    predict_erased: bool = False,
    progress: bool = False,
) -> TrainedModel:
    """Train on a study's answers, and once more on the same reports dealt to other people at random.

    Args:
        received: Everything that the study's server has, of all rounds so far.
        system: A system that was made from the study's questions (``LocalSystem.from_release``); by default that of the
            study's plan.
        graph: The public topology; left out if the manifest binds it or the study asked for neighbour lists.
        labels: Public classes, -1 where unknown; left out if the manifest binds them or the study asked for the class.
        validation_share: The share of the labelled nodes that is held out.
        place: Moves the public topology to where it is computed on, such as a cluster.
        predict_erased: True to predict also the people whose reports were erased.
        progress: Show a progress bar.
    """
    chain, chosen = received.chain, received.system if system is None else system
    if chosen is None:
        raise InvalidData("The study has no plan that names a system. Choose one that fits its questions.")
    if system is not None and not system.release(chain.newest).matches(chain.release):
        raise UnsuitableRelease(f"{system.name} with these settings asks other questions than the study did.")
    collected = received.collected(chosen, graph=graph, labels=labels, validation_share=validation_share)
    collected = replace(collected, public=place(collected.public))
    fitted = chosen.fit(collected, progress=progress)
    control = chosen.fit(chosen.dealt(collected), progress=progress)
    topology = chosen.topology(collected)
    propagated = label_propagation(collected, topology) if topology.num_edges else None
    facts = facts_of(collected, topology, fitted, control, propagated)
    left_out = () if predict_erased else received.erased
    promised = replace(fitted.without(left_out), guarantee=chain.guarantee(), lines=chain.release.lines())
    told = replace(facts, erasures=received.erasures, erased_left_out=len(left_out))
    return TrainedModel(chain, promised, told)
