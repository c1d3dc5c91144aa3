"""Everything that a study's server has: answers of all rounds, what a panel shows, and the operator's public data.

Nodes that did not answer sent nothing, which is not the same as zeros: their features come from their neighbours'
reports (:mod:`privet.estimation.missing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.study.chain import Chain
from privet.collection.study.forms import OpenData
from privet.collection.study.manifest import Study
from privet.data import Graph, Split
from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed.reports import PartedReports
from privet.privacy import Unit
from privet.release import Answers
from privet.systems import SYSTEMS, Collected, LocalSystem
from privet.systems.collected import Shown

if TYPE_CHECKING:
    from privet.collection.server.store.store import Store

__all__ = ["Received", "planned_system", "split_labelled"]


@dataclass(frozen=True, eq=False)
class Received:
    """The reports that a study's server holds, and the public data that its manifest binds.

    Attributes:
        chain: The rounds of the study.
        answers: The answers to the questions of all of them.
        shown: What the panel shows; None if there is none.
        graph: The public topology that the manifest binds; None if it binds none.
        labels: The public classes that the manifest binds, -1 where unknown; None if it binds none.
        system: The system of the plan; None if the study has no plan.
        erasures: The number of people whose reports had been erased before.
        erased: Their ids, as far as they are known: an export has their number only.
    """

    chain: Chain
    answers: Answers
    shown: Shown | None = None
    graph: Graph | None = None
    labels: NDArray[np.int64] | None = None
    system: LocalSystem | None = None
    erasures: int = 0
    erased: tuple[int, ...] = ()

    @classmethod
    def of(cls, study: Study, answers: Answers, erasures: int = 0, erased: tuple[int, ...] = ()) -> Self:
        """Return what the answers of one round tell, such as those of an exported file."""
        return cls(Chain((study,)), answers, erasures=erasures, erased=erased)

    @classmethod
    def at(cls, store: Store, before: int | None = None) -> Self:
        """Read everything from the store of any round of a study.

        Args:
            before: The number of the first round that is left out; all rounds are used by default.
        """
        erased = [each.node for each in store.erasures()]  # asked first: a later erasure is one after the training
        rounds = [each for each in store.chain().rounds if before is None or each.round < before]
        first, found = rounds[0], [store.at(each).collected() for each in rounds]
        answers = Answers(replace(first.release, questions=()), {})
        for some, _ in found:
            answers = answers.joined(some)
        edges, labels = first.inputs.edges, first.inputs.labels
        return cls(
            Chain(tuple(rounds)),
            answers,
            _shown([shown for _, shown in found]),
            None if edges is None else Graph.from_edges(store.array(edges).T.astype(np.int64), first.nodes),
            None if labels is None else store.array(labels).astype(np.int64),
            None if first.plan is None else planned_system(first, store),
            len(erased),
            tuple(node for node in erased if node >= 0),  # a public record names nobody
        )

    def collected(
        self,
        system: LocalSystem,
        *,
        graph: Graph | None = None,
        labels: NDArray[np.int64] | None = None,
        validation_share: float = 0.25,
    ) -> Collected:
        """Return what a system learns from, with a random split of the nodes whose class the server sees.

        Args:
            system: The system; its seed is that of the split.
            graph: The public topology, if the manifest binds none and the study does not ask for it.
            labels: Public classes, -1 where unknown, if the manifest binds none and the study does not ask for them.
            validation_share: The share of the labelled nodes that is held out.
        """
        study = self.chain.newest
        if not study.declared.classes:
            raise InvalidData("The study's schema has no classes, so there is nothing to predict.")
        answers = self.answers
        if not any(isinstance(answer.reports, PartedReports) for answer in answers.values()):
            answers = answers.checked()  # parts are checked whenever they are read
        if not len(answers.users) and self.shown is None:
            raise InvalidData("Nobody has reported to the study yet.")
        public = self._topology(graph).replace(
            features=None, split=None, labels=self._labels(labels), schema=study.declared
        )
        collected = Collected(public, answers, self.shown)
        known = np.flatnonzero(collected.seen_labels() >= 0)
        panel = None if self.shown is None else self.shown.users
        split = split_labelled(known, study.nodes, validation_share, seed=system.seed, kept=panel)
        return replace(collected, public=public.replace(split=split))

    def _topology(self, given: Graph | None) -> Graph:
        """Return the public topology, or no edges where they are asked for."""
        study = self.chain.newest
        if self.graph is not None and given is not None:
            raise InvalidData("The study's manifest binds the public topology. Leave it out.")
        if study.planned.asks_about(Unit.NEIGHBOUR_BIT):
            if given is not None:
                raise InvalidData("This study collected private neighbour lists. Leave the public topology out.")
            return Graph(sp.csr_array((study.nodes, study.nodes), dtype=np.float32))
        graph = self.graph if given is None else given
        if graph is None:
            raise InvalidData("This study did not collect neighbour lists. Give the public topology.")
        if graph.num_nodes != study.nodes:
            raise InvalidData(f"The public topology has {graph.num_nodes} nodes, and the study has {study.nodes}.")
        return graph

    def _labels(self, given: NDArray[np.int64] | None) -> NDArray[np.int64]:
        study = self.chain.newest
        if self.labels is not None and given is not None:
            raise InvalidData("The study's manifest binds the public labels. Leave them out.")
        if study.planned.asks_about(Unit.LABEL):
            if given is not None:
                raise InvalidData("This study collected private labels. Leave the public labels out.")
            return np.full(study.nodes, -1, dtype=np.int64)
        labels = self.labels if given is None else given
        if labels is None:
            raise InvalidData("This study did not collect labels. Give the public labels.")
        classes = study.declared.classes
        if labels.shape != (study.nodes,) or labels.min() < -1 or labels.max() >= classes:
            raise InvalidData(
                f"The public labels must be one of {classes} classes, or -1, for each of {study.nodes} nodes."
            )
        return labels.copy()


def planned_system(study: Study, store: Store) -> LocalSystem:
    """Return the system of a study's plan.

    Args:
        study: A round of the study.
        store: The store that has the public data which the plan names.
    """
    if study.plan is None:
        raise InvalidData("The study has no plan: its system is chosen when the model is trained.")
    kind = SYSTEMS.find(study.plan.system)
    if not issubclass(kind, LocalSystem):
        raise InvalidData(f"The study's plan names {kind.name}, which is no system of the local model.")
    bound = {k: v for k, v in study.plan.settings.items() if isinstance(v, str) and v.startswith("sha256:")}
    return kind(**study.plan.settings | {name: store.array(digest) for name, digest in bound.items()})


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
        raise InvalidData(
            f"A model needs labelled nodes, at least one for training and one for validation; it has {len(labelled)}."
        )
    order = np.random.default_rng(seed).permutation(labelled if kept is None else np.setdiff1d(labelled, kept))
    held = min(max(1, round(validation_share * len(order))), len(order), len(labelled) - 1)
    masks = [np.zeros(nodes, dtype=np.bool_) for _ in range(3)]
    masks[0][labelled], masks[0][order[:held]] = True, False
    masks[1][order[:held]] = True
    return Split(*masks)


def _shown(parts: Sequence[OpenData]) -> Shown | None:
    """Return what the panels of all rounds show."""
    some = [part for part in parts if len(part.users)]
    if not some:
        return None
    users = np.concatenate([part.users for part in some])
    features = sp.csr_array(np.concatenate([part.features for part in some]))
    lists = [part.lists for part in some if part.lists is not None]
    whole = sp.csr_array(sp.vstack(lists)) if len(lists) == len(some) else None
    return Shown(users, features, np.concatenate([part.labels for part in some]), whole)
