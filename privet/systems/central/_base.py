"""The central model: a trusted holder trains, and the released model is private for each training node.

Algorithm 1 of HeterPoisson and DP-SGD are the same loop: draw a batch by independent coins, clip each example's
gradient, add noise to the sum, divide by the *expected* size of a batch, step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph, public_projection
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Bits
from privet.mechanisms.primitives.noise import Noise
from privet.models import seeded
from privet.models.clipping import perceptron
from privet.models.clipping.rows import SparseRows, outputs
from privet.models.private_training import Batch, train_privately
from privet.privacy.ledger import LedgerLine
from privet.systems.central._public_axes import PublicAxes
from privet.systems.central._settings import PrivateTraining, Sized
from privet.systems.central._training_view import TrainingView
from privet.systems.fitted import Fitted

if TYPE_CHECKING:
    from privet.systems.controls import Control

__all__ = ["CentralSystem", "Sized", "predicted"]


@dataclass(frozen=True, kw_only=True)
class CentralSystem(PrivateTraining, ABC):
    """A system of the central model: hyper-parameters in the constructor, and ``fit`` is the trusted holder.

    Args:
        hidden_channels: The width of hidden layers.
        num_layers: The number of linear layers.
        noise: "gaussian", or "sml" for the noise of HeterPoisson's paper.
        axes: The number of columns that wider features are reduced to: coordinates on the principal axes of the
            features of validation and test nodes, which are not protected (default 0: features stay as they are).
        batch_norm: False; statistics of a batch would void the guarantee.
    """

    name: ClassVar[str]
    model: ClassVar[str] = "central"
    search_space: ClassVar[dict[str, list[Any]]] = {}
    baseline: ClassVar[str | None] = None
    """A title, if every central system is compared with this one."""
    baseline_short: ClassVar[str] = ""
    """The same for a narrow column."""
    baseline_question: ClassVar[str | None] = None
    """The data whose worth a lead over this baseline shows."""

    hidden_channels: int = 128
    num_layers: int = 2
    noise: Noise = "gaussian"
    axes: int = 0
    batch_norm: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise not in self.process_kind.noises:
            expected = f"{' or '.join(self.process_kind.noises)}, the only one accounted for"
            raise InvalidParameter("noise", expected, self.noise)
        if self.noise == "sml" and self.target_epsilon is not None:
            raise InvalidParameter(
                "SML noise cannot be calibrated to a true epsilon, because its published accountant does not hold. "
                "Give 'noise_multiplier', or HeterPoisson's 'claimed_epsilon', instead of 'target_epsilon'."
            )
        if self.batch_norm:
            expected = "False: statistics of a batch make each example's gradient depend on all the others"
            raise InvalidParameter("batch_norm", expected, self.batch_norm)
        self.require_counts("hidden_channels", "num_layers")
        self.require("axes", self.axes >= 0, "an integer of at least 0")

    @property
    def noise_kind(self) -> Noise:
        """The kind of noise."""
        return self.noise

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Train on the training nodes and predict for those of validation and test.

        The rows of all other nodes are NaN: a prediction for a protected node would read what is protected.

        Args:
            graph: A graph with features, a schema, labels and a split.
            progress: Show a bar on a terminal (default False).
        """
        view, bits = self.view(graph), self.bits()
        network = self.network(view.features.shape[1], view.classes)
        self.descend(network, self.batches(view, bits), view.num_nodes, bits, progress=progress)
        return self.released(network, view, self.infer(network, view, bits))

    def batches(self, view: TrainingView, bits: Bits) -> Callable[[], Batch]:
        """Return a function that draws the examples of a step and their classes; a system has this or its own ``fit``.

        Args:
            view: The holder's side of the graph.
            bits: The source of coins, and of the noise on whatever is released before the steps.
        """
        raise NotImplementedError

    @abstractmethod
    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Return class probabilities of the unprotected nodes, in order; no training node is read."""

    def apply(self, fitted: Fitted, graph: Graph) -> NDArray[np.float32]:
        """Return class probabilities of a released model for all nodes of another graph, which is not protected."""
        if graph.features is None:
            name = type(self).__name__
            raise InvalidData(f"The graph given to {name}.apply has no features. Give it those that training had.")
        if graph.split is not None and graph.split.train.any():
            raise InvalidData(
                f"{type(self).__name__}.apply is for another graph; this one has training nodes, which are protected. "
                "Use fitted.predict_proba() for its validation and test nodes."
            )
        axes = PublicAxes.of_weights(fitted.weights)
        fits = axes is None or len(axes.directions) == graph.features.shape[1]
        features = self._reduced(graph, axes) if fits else graph.features
        if not fits or self.input_width(features.shape[1]) != fitted.weights["0.weight"].shape[1]:
            raise InvalidData(
                f"The graph given to {type(self).__name__}.apply has {graph.features.shape[1]} features, and must be "
                "as wide as the training graph. Use the same schema for both."
            )
        nobody = np.zeros(graph.num_nodes, dtype=np.bool_)
        nothing = np.full(graph.num_nodes, -1, dtype=np.int64)
        view = TrainingView(graph, features, nothing, nobody, ~nobody, fitted.probabilities.shape[1], axes)
        network = self.network(features.shape[1], view.classes)
        own = {name: torch.from_numpy(value) for name, value in fitted.weights.items() if name not in PublicAxes.NAMES}
        network.load_state_dict(own)
        return self.infer(network, view, self.bits())

    def check(self, graph: Graph) -> None:
        """Refuse a graph that the system cannot work on, before anything is trained."""
        TrainingView.of(graph, type(self).__name__)

    def view(self, graph: Graph) -> TrainingView:
        """Return the holder's side of a graph, its features reduced to ``axes`` columns if there are more."""
        view = TrainingView.of(graph, type(self).__name__)
        if not 0 < self.axes < view.features.shape[1]:
            return view
        known = view.unprotected_nodes if self.knows_unprotected else view.unprotected_nodes & False
        axes = PublicAxes.of(view.features[known], self.axes) if known.any() else None
        return replace(view, features=self._reduced(graph, axes), axes=axes)

    @property
    def knows_unprotected(self) -> bool:
        """True where training may read the features of unprotected nodes."""
        return True

    def _reduced(self, graph: Graph, axes: PublicAxes | None) -> sp.csr_array | NDArray[np.float32]:
        """Return the features of all nodes on the axes; without such, by public random signs if they are too many."""
        features = graph.features
        if features is None or not 0 < self.axes < features.shape[1]:
            return features
        return public_projection(graph, self.axes).features if axes is None else axes.coordinates(features)

    def lines(self, public: Sized) -> tuple[LedgerLine, ...]:
        """Return the parts of the budget."""
        return self.release(public).lines()

    def controls(self) -> tuple[Control, ...]:
        """Return the figures that stand beside the system's own: the baselines among the registered systems."""
        from privet.systems import SYSTEMS
        from privet.systems.controls import MAJORITY, NON_PRIVATE, rival

        kinds = (kind for kind in SYSTEMS.values() if issubclass(kind, CentralSystem) and kind.name != self.name)
        return (*(rival(kind) for kind in kinds if kind.baseline is not None), MAJORITY, NON_PRIVATE)

    def shared(self) -> dict[str, Any]:
        """Return the settings that every central system has, for one that is compared with this one."""
        return {field.name: getattr(self, field.name) for field in fields(CentralSystem)}

    def figures(self, public: Sized) -> dict[str, float]:
        """Return the noise, the number of steps and the sampling rate of a run."""
        release = self.release(public)
        process = release.process
        return {"noise_multiplier": release.noise_multiplier, "steps": process.steps, "rate": process.rate}

    def without_privacy(self) -> Self:
        """Return the same system without noise and clipping, which protects nobody."""
        return replace(self, target_epsilon=None, noise_multiplier=0.0, max_grad_norm=math.inf)

    def network(self, features: int, classes: int) -> nn.Sequential:
        """Return a perceptron with ELU; its first weights are independent of the data."""
        with seeded(self.seed):
            return perceptron(self.input_width(features), self.hidden_channels, classes, self.num_layers)

    def input_width(self, features: int) -> int:
        """Return the width of an example."""
        return features

    def release_noise(self, num_nodes: int) -> float:
        """Return the standard deviation of the noise on what is released before the steps."""
        return self.noise_multiplier_for(num_nodes) * self.process(num_nodes).sensitivity

    def descend(
        self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits, *, progress: bool
    ) -> None:
        """Train in place: T steps with g = (sum of clipped gradients + noise) / (q N)."""
        train_privately(network, batch, self.private_steps(num_nodes), bits, progress=progress)

    def released(self, network: nn.Sequential, view: TrainingView, probabilities: NDArray[np.float32]) -> Fitted:
        """Return the result; ``probabilities`` are those of the unprotected nodes, in order."""
        rows = np.full((view.num_nodes, view.classes), np.nan, dtype=np.float32)
        rows[view.unprotected_nodes] = probabilities
        release = self.release(view)
        return Fitted(
            system=self.name,
            guarantee=release.guarantee(),
            probabilities=rows,
            lines=release.lines(),
            settings=self.without_seed(),
            weights={
                **{name: value.detach().numpy().copy() for name, value in network.state_dict().items()},
                **({} if view.axes is None else view.axes.weights()),
            },
        )


def predicted(network: nn.Sequential, x: SparseRows | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return class probabilities of rows."""
    rows = x if isinstance(x, SparseRows) else torch.from_numpy(x)
    return np.asarray(outputs(network, rows).softmax(dim=1).numpy(), dtype=np.float32)
