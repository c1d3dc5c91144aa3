"""From the answers of a study to a trained model: only reports, public topology and public labels are read.

Questions and budgets are the manifest's. Nodes that did not answer sent nothing, which is not the same as zeros: their
features come from their neighbours' reports (:mod:`privet.estimation.missing`). Beside the model stands a control, the
same training on the same reports dealt to other people at random, which shows whether the reports helped, and label
propagation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.operator.facts import facts_of
from privet.collection.operator.models import TrainedModel
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import Study
from privet.data import Graph, Split
from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed.reports import PartedReports
from privet.privacy import Unit
from privet.release import Answers
from privet.systems import SYSTEMS, Collected, LocalSystem, UnsuitableRelease
from privet.systems.controls import label_propagation

__all__ = ["collected_from", "split_labelled", "systems_for", "train_model", "trained_on"]


def systems_for(study: Study) -> list[str]:
    """Name the systems that can learn from a study's answers."""
    local = (kind for kind in SYSTEMS.values() if issubclass(kind, LocalSystem))
    return [kind.name for kind in local if kind.learns_from(study.release)]


def train_model(
    study: Study,
    answers: Answers,
    system: LocalSystem,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    validation_share: float = 0.25,
    erasures: int = 0,
    left_out: Sequence[int] = (),
    progress: bool = False,
) -> TrainedModel:
    """Train on a study's answers, and once more on the same reports dealt to other people at random.

    Args:
        study: The manifest.
        answers: The answers of those who took part.
        system: A system that was made from the study's release (``LocalSystem.from_release``).
        graph: The public topology; left out if the study asked for neighbour lists.
        labels: Public classes, -1 where unknown; left out if the study asked for the class.
        validation_share: The share of the labelled nodes that is held out.
        erasures: The number of people whose reports had been erased before the answers were read.
        left_out: Those of them for whom no prediction is made.
        progress: Show a progress bar.
    """
    collected = collected_from(study, answers, system, graph=graph, labels=labels, validation_share=validation_share)
    chain = Chain((study,))
    return trained_on(chain, collected, system, erasures=erasures, left_out=left_out, progress=progress)


def trained_on(
    chain: Chain,
    collected: Collected,
    system: LocalSystem,
    *,
    erasures: int = 0,
    left_out: Sequence[int] = (),
    progress: bool = False,
) -> TrainedModel:
    """Train on what was collected in all rounds, and once more on the same reports dealt to other people at random.

    Args:
        chain: The rounds of the study.
        collected: What the server holds after them.
        system: The system.
        erasures: The number of people whose reports had been erased before the answers were read.
        left_out: Those of them for whom no prediction is made.
        progress: Show a progress bar.
    """
    fitted = system.fit(collected, progress=progress)
    control = system.fit(system.dealt(collected), progress=progress)
    topology = system.topology(collected)
    propagated = label_propagation(collected, topology) if topology.num_edges else None
    facts = facts_of(collected, topology, fitted, control, propagated)
    promised = replace(fitted.without(left_out), guarantee=chain.guarantee(), lines=chain.release.lines())
    return TrainedModel(chain, promised, replace(facts, erasures=erasures, erased_left_out=len(left_out)))


def collected_from(
    study: Study,
    answers: Answers,
    system: LocalSystem,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    validation_share: float = 0.25,
) -> Collected:
    """Return what the server holds after a study, with a random split of the nodes whose class it sees.

    The parameters are those of :func:`train_model`.
    """
    if not system.release(study).matches(study.release):
        raise UnsuitableRelease(f"{system.name} with these settings asks other questions than the study did.")
    if not any(isinstance(answer.reports, PartedReports) for answer in answers.values()):
        answers = answers.checked()  # parts are checked whenever they are read
    if not len(answers.users):
        raise InvalidData("study's reports", "those of at least one node", "none")
    if not study.declared.classes:
        raise InvalidData("study", "one whose schema has classes to predict", "one without")
    nothing = np.full(study.nodes, -1, dtype=np.int64)
    known = _public_labels(study, labels, nothing)
    public = _topology(study, graph).replace(features=None, split=None, labels=known, schema=study.declared)
    seen = Collected(public, answers).seen_labels()
    split = split_labelled(np.flatnonzero(seen >= 0), study.nodes, validation_share, seed=system.seed)
    return Collected(public.replace(split=split), answers)


def _topology(study: Study, graph: Graph | None) -> Graph:
    """Return the public topology, or no edges where they were asked for."""
    if study.release.asks_about(Unit.NEIGHBOUR_BIT):
        if graph is not None:
            raise InvalidData("public topology", "left out: this study collected private neighbour lists", "one")
        return Graph(sp.csr_array((study.nodes, study.nodes), dtype=np.float32))
    if graph is None:
        raise InvalidData("public topology", "given: this study did not collect neighbour lists", "none")
    if graph.num_nodes != study.nodes:
        raise InvalidData("public topology", f"of the study's {study.nodes} nodes", graph.num_nodes)
    return graph


def _public_labels(study: Study, labels: NDArray[np.int64] | None, nothing: NDArray[np.int64]) -> NDArray[np.int64]:
    if study.release.asks("label"):
        if labels is not None:
            raise InvalidData("public labels", "left out: this study collected private labels", "some")
        return nothing
    if labels is None:
        raise InvalidData("public labels", "given: this study did not collect labels", "none")
    if labels.shape != (study.nodes,) or labels.min() < -1 or labels.max() >= study.declared.classes:
        expected = f"one of {study.declared.classes} classes, or -1, for each of {study.nodes} nodes"
        raise InvalidData("public labels", expected, "others")
    return labels.copy()


def split_labelled(
    labelled: NDArray[np.int64],
    nodes: int,
    validation_share: float = 0.25,
    *,
    seed: int | None = None,
    kept: NDArray[np.int64] | None = None,
) -> Split:
    """Split the nodes whose class is seen into training and validation nodes at random.

    Args:
        labelled: Their ids.
        nodes: The number of all nodes.
        validation_share: The share that is held out.
        seed: The seed of the draw.
        kept: Those that are never held out, such as a panel, whose classes are not randomised as others' are.
    """
    if not 0 < validation_share < 1:
        raise InvalidParameter("validation_share", "above 0 and below 1", validation_share)
    if len(labelled) < 2:
        raise InvalidData("labelled nodes", "at least one for training and one for validation", len(labelled))
    order = np.random.default_rng(seed).permutation(labelled if kept is None else np.setdiff1d(labelled, kept))
    held = min(max(1, round(validation_share * len(order))), len(order), len(labelled) - 1)
    masks = [np.zeros(nodes, dtype=np.bool_) for _ in range(3)]
    masks[0][labelled], masks[0][order[:held]] = True, False
    masks[1][order[:held]] = True
    return Split(*masks)
