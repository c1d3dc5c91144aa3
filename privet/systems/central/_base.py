"""The central model: a trusted holder trains, and what it releases does not betray whether a node took part.

Algorithm 1 of HeterPoisson and DP-SGD are the same loop: draw a batch by independent coins, clip each example's
gradient, add noise to the sum, divide by the *expected* size of a batch, step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph, public_projection
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Bits, SeededBits, SystemBits
from privet.mechanisms.primitives.noise import Noise
from privet.models import seeded
from privet.models.clipping import perceptron
from privet.models.clipping.rows import SparseRows, outputs
from privet.models.private_training import Batch, Optimizer, PrivateSteps, train_privately
from privet.privacy import Guarantee
from privet.privacy.accounting.processes import Process
from privet.privacy.delta import Delta, chosen_delta
from privet.privacy.ledger import LedgerLine
from privet.release.central import CentralRelease
from privet.systems.central._public_axes import PublicAxes
from privet.systems.central._training_view import TrainingView
from privet.systems.checks import check_choices
from privet.systems.fitted import Fitted

if TYPE_CHECKING:
    from privet.systems.controls import Control

__all__ = ["CentralSystem", "Sized", "predicted"]


class Sized(Protocol):
    """Anything with a public number of nodes, for example a graph."""

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the whole graph."""


@dataclass(frozen=True, kw_only=True)
class CentralSystem(ABC):
    """A system of the central model: hyper-parameters in the constructor, and ``fit`` is the trusted holder.

    The words are those of Opacus. Give either ``noise_multiplier`` or a ``target_epsilon`` from which it is calibrated.

    Args:
        target_epsilon: The largest epsilon of a run.
        noise_multiplier: The standard deviation of the noise on a sum of gradients, over ``max_grad_norm``.
        delta: The probability that the bound may fail with (default 1 / (10 N), N being the nodes of the whole graph;
            "paper" is HeterPoisson's N^-1.1).
        max_grad_norm: The norm that each gradient is clipped to.
        batch_size: N times the sampling rate q of each training node, N being all nodes of the graph.
        epochs: The number of passes; there are ceil(epochs / q) steps.
        optimizer: "adam" or "sgd".
        learning_rate: The optimizer's.
        hidden_channels: The width of hidden layers.
        num_layers: The number of linear layers.
        noise: "gaussian", or "sml" for the noise of HeterPoisson's paper.
        axes: The number of columns that wider features are reduced to: coordinates on the principal axes of the
            features of validation and test nodes, which are not protected (default 0: features stay as they are).
        batch_norm: False; statistics of a batch would void the guarantee.
        seed: None draws coins and noise from the operating system; a number (simulation only) repeats bit for bit.
    """

    name: ClassVar[str]
    model: ClassVar[str] = "central"
    search_space: ClassVar[dict[str, list[Any]]] = {}
    process_kind: ClassVar[type[Process]]
    """The sampling process of the training; its parameters are fields or properties of the system."""
    baseline: ClassVar[str | None] = None
    """A title, if every central system is compared with this one."""
    baseline_short: ClassVar[str] = ""
    """The same for a narrow column."""
    baseline_question: ClassVar[str | None] = None
    """The data whose worth a lead over this baseline shows."""

    target_epsilon: float | None = None
    noise_multiplier: float | None = None
    delta: Delta | None = None
    max_grad_norm: float = 0.5
    batch_size: int = 4096
    epochs: float = 9.0
    optimizer: Optimizer = "adam"
    learning_rate: float = 0.01
    hidden_channels: int = 128
    num_layers: int = 2
    noise: Noise = "gaussian"
    axes: int = 0
    batch_norm: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        check_choices(self, {"noise": Noise, "optimizer": Optimizer})
        if self.noise not in self.process_kind.noises:
            expected = f"{' or '.join(self.process_kind.noises)}, the only one accounted for"
            raise InvalidParameter("noise", expected, self.noise)
        if self.noise == "sml" and self.target_epsilon is not None:
            expected = "None with SML noise, whose published accountant does not hold: give noise_multiplier"
            raise InvalidParameter("target_epsilon", expected, self.target_epsilon)
        if (self.target_epsilon is None) == (self.noise_multiplier is None):
            found = f"target_epsilon={self.target_epsilon} and noise_multiplier={self.noise_multiplier}"
            raise InvalidParameter("target_epsilon", "given if and only if noise_multiplier is not", found)
        if self.batch_norm:
            expected = "False: statistics of a batch make each example's gradient depend on all the others"
            raise InvalidParameter("batch_norm", expected, self.batch_norm)
        self.delta_for(1)  # refuses what is no delta
        rules: list[tuple[str, bool, str]] = [
            ("target_epsilon", self.target_epsilon is None or 0 < self.target_epsilon < math.inf, "finite and above 0"),
            ("noise_multiplier", self.noise_multiplier is None or 0 <= self.noise_multiplier < math.inf, "at least 0"),
            ("max_grad_norm", self.max_grad_norm > 0, "above 0"),
            ("max_grad_norm", self.noise_multiplier == 0 or self.max_grad_norm < math.inf, "finite with noise"),
            ("batch_size", self.batch_size >= 1, "an integer of at least 1"),
            ("epochs", 0 < self.epochs < math.inf, "a finite number above 0"),
            ("learning_rate", 0 < self.learning_rate < math.inf, "a finite number above 0"),
            ("hidden_channels", self.hidden_channels >= 1, "an integer of at least 1"),
            ("num_layers", self.num_layers >= 1, "an integer of at least 1"),
            ("axes", self.axes >= 0, "an integer of at least 0"),
            ("seed", self.seed is None or self.seed >= 0, "None or an integer of at least 0"),
        ]
        for name, holds, expected in rules:
            if not holds:
                raise InvalidParameter(name, expected, getattr(self, name))

    @abstractmethod
    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Train on the training nodes and predict for those of validation and test.

        The rows of all other nodes are NaN: a prediction for a protected node would read what is protected.

        Args:
            graph: A graph with features, a schema, labels and a split.
            progress: Show a bar on a terminal (default False).
        """

    @abstractmethod
    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Return class probabilities of the unprotected nodes, in order; no training node is read."""

    def apply(self, fitted: Fitted, graph: Graph) -> NDArray[np.float32]:
        """Return class probabilities of a released model for all nodes of another graph, which is not protected."""
        if graph.features is None:
            raise InvalidData(f"graph given to {type(self).__name__}.apply", "one with features", "one without")
        if graph.split is not None and graph.split.train.any():
            raise InvalidData(
                f"{type(self).__name__}.apply is for another graph; this one has training nodes, which are protected. "
                "Use fitted.predict_proba() for its validation and test nodes."
            )
        axes = PublicAxes.of_weights(fitted.weights)
        fits = axes is None or len(axes.directions) == graph.features.shape[1]
        features = self._reduced(graph, axes) if fits else graph.features
        if not fits or self.input_width(features.shape[1]) != fitted.weights["0.weight"].shape[1]:
            found = f"{graph.features.shape[1]} features"
            raise InvalidData(f"graph given to {type(self).__name__}.apply", "as wide as the training graph", found)
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

    def rate(self, num_nodes: int) -> float:
        """Return q, the probability of each training node to be in a step."""
        return min(1.0, self.batch_size / num_nodes)

    def steps(self, num_nodes: int) -> int:
        """Return T = ceil(epochs / q)."""
        return math.ceil(self.epochs / self.rate(num_nodes))

    def delta_for(self, num_nodes: int) -> float:
        """Return ``delta`` as a number."""
        return chosen_delta(self.delta, num_nodes)

    def process(self, num_nodes: int) -> Process:
        """Return the sampling process of a run over so many nodes."""
        shared: dict[str, Any] = {"rate": self.rate(num_nodes), "steps": self.steps(num_nodes), "num_nodes": num_nodes}
        own = {each.name: getattr(self, each.name) for each in fields(self.process_kind) if each.name not in shared}
        return self.process_kind(**shared, **own)

    def release(self, public: Sized) -> CentralRelease:
        """Return what a run gives out, with its promise; of ``public`` only the number of nodes is read."""
        process, delta = self.process(public.num_nodes), self.delta_for(public.num_nodes)
        simulated = self.seed is not None
        if self.noise_multiplier is None:
            return CentralRelease.calibrated(process, self.target_epsilon or 0.0, delta, simulated=simulated)
        return CentralRelease(
            process=process,
            noise_multiplier=self.noise_multiplier,
            delta=delta,
            noise=self.noise,
            simulated=simulated,
        )

    def lines(self, public: Any) -> tuple[LedgerLine, ...]:
        """Return the parts of the budget."""
        return self.release(public).lines()

    def guarantee(self, public: Sized | int) -> Guarantee | None:
        """Return what a run promises; None without noise. ``public`` is a graph or a number of nodes."""
        return self.release(_Nodes(public) if isinstance(public, int) else public).guarantee()

    def noise_multiplier_for(self, num_nodes: int) -> float:
        """Return the noise multiplier of a run over so many nodes, given or calibrated."""
        return self.release(_Nodes(num_nodes)).noise_multiplier

    def get_epsilon(self, delta: float, *, num_nodes: int) -> float:
        """Return the true epsilon at a delta of one's choice, for the noise that a run over so many nodes gets."""
        noise_multiplier = self.noise_multiplier_for(num_nodes)
        if not noise_multiplier:
            return math.inf
        return self.process(num_nodes).epsilon(noise_multiplier, delta, self.noise)

    @classmethod
    def preset_condition(cls, settings: Mapping[str, Any]) -> str | None:
        """Name the variant of a preset that some settings call for; None for the usual one."""
        return None

    def controls(self) -> tuple[Control, ...]:
        """Return the figures that stand beside the system's own: the baselines among the registered systems."""
        from privet.systems import SYSTEMS
        from privet.systems.controls import MAJORITY, NON_PRIVATE, rival

        kinds = (kind for kind in SYSTEMS.values() if issubclass(kind, CentralSystem) and kind.name != self.name)
        return (*(rival(kind) for kind in kinds if kind.baseline is not None), MAJORITY, NON_PRIVATE)

    def figures(self, public: Sized) -> dict[str, float]:
        """Return the noise, the number of steps and the sampling rate of a run."""
        release = self.release(public)
        process = release.process
        return {"noise_multiplier": release.noise_multiplier, "steps": process.steps, "rate": process.rate}

    def without_privacy(self) -> Self:
        """Return the same system without noise and clipping, which protects nobody."""
        return replace(self, target_epsilon=None, noise_multiplier=0.0, max_grad_norm=math.inf)

    def settings(self) -> dict[str, Any]:
        """Return the hyper-parameters as plain values."""
        return asdict(self)

    def bits(self) -> Bits:
        """Return the source of coins and noise."""
        return SystemBits() if self.seed is None else SeededBits(self.seed)

    def network(self, features: int, classes: int) -> nn.Sequential:
        """Return a perceptron with ELU; its first weights are independent of the data."""
        with seeded(self.seed):
            return perceptron(self.input_width(features), self.hidden_channels, classes, self.num_layers)

    def input_width(self, features: int) -> int:
        """Return the width of an example."""
        return features

    def descend(
        self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits, *, progress: bool
    ) -> None:
        """Train in place: T steps with g = (sum of clipped gradients + noise) / (q N)."""
        release = self.release(_Nodes(num_nodes))
        release.guarantee()  # refuses too little noise before the work
        how = PrivateSteps(
            steps=release.process.steps,
            max_grad_norm=self.max_grad_norm,
            sigma=release.noise_multiplier * self.max_grad_norm if release.noise_multiplier else 0.0,
            expected_size=release.process.rate * num_nodes,
            noise=self.noise,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
        )
        train_privately(network, batch, how, bits, progress=progress)

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
            settings={name: value for name, value in self.settings().items() if name != "seed"},  # it undoes the noise
            weights={
                **{name: value.detach().numpy().copy() for name, value in network.state_dict().items()},
                **({} if view.axes is None else view.axes.weights()),
            },
        )


def predicted(network: nn.Sequential, x: SparseRows | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return class probabilities of rows."""
    rows = x if isinstance(x, SparseRows) else torch.from_numpy(x)
    return np.asarray(outputs(network, rows).softmax(dim=1).numpy(), dtype=np.float32)


@dataclass(frozen=True)
class _Nodes:
    num_nodes: int
