"""The central model: a trusted holder trains, and what it releases does not betray whether a node took part.

Algorithm 1 of HeterPoisson and DP-SGD are the same loop: draw a batch by independent coins, clip each example's
gradient, add noise to the sum, divide by the *expected* size of a batch, step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Bits, SeededBits, SystemBits
from privet.mechanisms.primitives.noise import Noise
from privet.models import seeded
from privet.models.clipping import perceptron
from privet.models.private_training import Batch, Optimizer, PrivateSteps, train_privately
from privet.privacy import Guarantee, Unit
from privet.privacy.accounting import node_level
from privet.privacy.guarantee import ADJACENCY
from privet.systems.central._training_view import HeldGraph
from privet.systems.checks import check_choices
from privet.systems.fitted import Fitted

__all__ = ["CentralSystem", "predicted"]

_UNPROTECTED = (
    "features, labels and mutual edges of validation and test nodes",
    "the number of nodes",
    "the choice of settings, if training nodes decided it",
)
_SIMULATED = ("anything, from somebody who guesses the seed: a seeded run is a simulation",)


@dataclass(frozen=True, kw_only=True)
class CentralSystem(ABC):
    """Hyper-parameters in the constructor; ``fit`` is the trusted holder.

    The words are those of Opacus: each gradient is clipped to ``max_grad_norm``, and the noise on their sum has the
    standard deviation ``noise_multiplier`` times ``max_grad_norm``. Give it, or a ``target_epsilon`` from which it is
    calibrated. ``delta`` is N^-1.1 by default, ``batch_size`` an expectation: the rate of sampling is
    q = batch_size / N, and there are ceil(``epochs`` / q) steps. N counts all nodes of the graph. Without a ``seed``
    coins and noise come from the operating system; with one (simulation only) a run repeats bit for bit.
    """

    name: ClassVar[str]
    search_space: ClassVar[dict[str, list[Any]]] = {}

    target_epsilon: float | None = None
    noise_multiplier: float | None = None
    delta: float | None = None
    max_grad_norm: float = 0.5
    batch_size: int = 4096
    epochs: float = 9.0
    optimizer: Optimizer = "adam"
    learning_rate: float = 0.01
    hidden_channels: int = 128
    num_layers: int = 2
    noise: Noise = "gaussian"
    batch_norm: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if self.noise == "sml" and self.target_epsilon is not None:
            expected = "None with SML noise, whose published accountant does not hold: give noise_multiplier"
            raise InvalidParameter("target_epsilon", owner, expected, self.target_epsilon)
        if (self.target_epsilon is None) == (self.noise_multiplier is None):
            found = f"target_epsilon={self.target_epsilon} and noise_multiplier={self.noise_multiplier}"
            raise InvalidParameter("target_epsilon", owner, "given if and only if noise_multiplier is not", found)
        if self.batch_norm:
            expected = "False: statistics of a batch make each example's gradient depend on all the others"
            raise InvalidParameter("batch_norm", owner, expected, self.batch_norm)
        check_choices(self, {"noise": Noise, "optimizer": Optimizer})
        rules: list[tuple[str, bool, str]] = [
            ("target_epsilon", _none_or_positive(self.target_epsilon), "a finite number above 0"),
            ("noise_multiplier", self.noise_multiplier is None or 0 <= self.noise_multiplier < math.inf, "at least 0"),
            ("delta", self.delta is None or 0 < self.delta < 1, "between 0 and 1"),
            ("max_grad_norm", self.max_grad_norm > 0, "above 0"),
            ("max_grad_norm", self.noise_multiplier == 0 or self.max_grad_norm < math.inf, "finite with noise"),
            ("batch_size", self.batch_size >= 1, "an integer of at least 1"),
            ("epochs", 0 < self.epochs < math.inf, "a finite number above 0"),
            ("learning_rate", 0 < self.learning_rate < math.inf, "a finite number above 0"),
            ("hidden_channels", self.hidden_channels >= 1, "an integer of at least 1"),
            ("num_layers", self.num_layers >= 1, "an integer of at least 1"),
            ("seed", self.seed is None or self.seed >= 0, "None or an integer of at least 0"),
        ]
        for name, holds, expected in rules:
            if not holds:
                raise InvalidParameter(name, owner, expected, getattr(self, name))

    @abstractmethod
    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Train on the training nodes and predict for those of validation and test.

        The rows of all other nodes are uniform: a prediction for a protected node would read what is protected.
        """

    @abstractmethod
    def infer(self, network: nn.Sequential, held: HeldGraph, bits: Bits) -> NDArray[np.float32]:
        """Class probabilities of the open nodes, in order; no training node is read."""

    def apply(self, fitted: Fitted, graph: Graph) -> NDArray[np.float32]:
        """Class probabilities of a released model for all nodes of another graph, to which nothing is promised."""
        width = fitted.weights["0.weight"].shape[1]
        if graph.features is None:
            raise InvalidData(f"graph given to {type(self).__name__}.apply", "one with features", "one without")
        nobody = np.zeros(graph.num_nodes, dtype=np.bool_)
        nothing = np.full(graph.num_nodes, -1, dtype=np.int64)
        held = HeldGraph(graph, graph.features, nothing, nobody, ~nobody, fitted.probabilities.shape[1])
        if self.input_width(graph.features.shape[1]) != width:
            found = f"{graph.features.shape[1]} features"
            raise InvalidData(f"graph given to {type(self).__name__}.apply", "as wide as the training graph", found)
        network = self.network(graph.features.shape[1], held.classes)
        network.load_state_dict({name: torch.from_numpy(value) for name, value in fitted.weights.items()})
        return self.infer(network, held, self.bits())

    @property
    def picks(self) -> float:
        """M: how many sub-graphs of others a node may be expected in; 0 where training never reads an edge."""
        return 0.0

    def epsilon_of(self, noise_multiplier: float, num_nodes: int, delta: float) -> float:
        """The true epsilon of a run with this noise. The accountant's sigma is for gradients clipped to 1/2."""
        return _epsilon(noise_multiplier / 2, *self._process(num_nodes), delta, num_nodes, noise=self.noise)

    def calibrated(self, target_epsilon: float, num_nodes: int, delta: float) -> float:
        """A noise multiplier whose true epsilon is at most the target."""
        return 2 * _calibrated(target_epsilon, *self._process(num_nodes), delta, num_nodes)

    def published_epsilon(self, noise_multiplier: float, num_nodes: int, delta: float) -> float | None:
        """What the paper claims of the same noise, where that differs."""
        return None

    def _process(self, num_nodes: int) -> tuple[float, float, int]:
        return self.rate(num_nodes), self.picks, self.steps(num_nodes)

    def rate(self, num_nodes: int) -> float:
        """q, the chance of each training node to be in a step."""
        return min(1.0, self.batch_size / num_nodes)

    def steps(self, num_nodes: int) -> int:
        """T = ceil(epochs / q)."""
        return math.ceil(self.epochs / self.rate(num_nodes))

    def delta_for(self, num_nodes: int) -> float:
        """``delta``, or N^-1.1."""
        return float(num_nodes**-1.1) if self.delta is None else self.delta

    def noise_multiplier_for(self, num_nodes: int) -> float:
        """The noise of a run over so many nodes, given or calibrated."""
        if self.noise_multiplier is not None:
            return self.noise_multiplier
        return self.calibrated(_some(self.target_epsilon), num_nodes, self.delta_for(num_nodes))

    def get_epsilon(self, delta: float, *, num_nodes: int) -> float:
        """The true epsilon at a delta of one's choice, for the noise that a run over so many nodes gets."""
        noise = self.noise_multiplier_for(num_nodes)
        return self.epsilon_of(noise, num_nodes, delta) if noise else math.inf

    def guarantee(self, num_nodes: int) -> Guarantee | None:
        """What a run over so many nodes promises; None without noise."""
        noise, delta = self.noise_multiplier_for(num_nodes), self.delta_for(num_nodes)
        if not noise:
            return None
        epsilon = self.epsilon_of(noise, num_nodes, delta)
        if not math.isfinite(epsilon):
            expected = f"so large that epsilon is finite at delta {delta:.2g}"
            raise InvalidParameter("noise_multiplier", type(self).__name__, expected, noise)
        return Guarantee(
            "central",
            Unit.NODE,
            self.adjacency_words,
            epsilon,
            delta,
            published_epsilon=self.published_epsilon(noise, num_nodes, delta),
            unprotected=self.unprotected(),
        )

    def unprotected(self) -> tuple[str, ...]:
        """What an observer learns all the same."""
        return (*_UNPROTECTED, *self.public_facts(), *(_SIMULATED if self.seed is not None else ()))

    @property
    def adjacency_words(self) -> str:
        """Which data sets the guarantee compares."""
        return ADJACENCY[Unit.NODE]

    def public_facts(self) -> tuple[str, ...]:
        """What else about protected nodes the system takes as known to everybody."""
        return ()

    def promise(self, graph: Graph) -> Guarantee | None:
        """What a run on this graph promises; None without noise. Only the number of nodes is read."""
        return self.guarantee(graph.num_nodes)

    def mechanism_names(self, graph: Graph) -> list[str]:
        """What makes the release private."""
        return [f"{self.noise} noise on sums of clipped gradients"]

    def without_privacy(self) -> Self:
        """The same system without noise and clipping: an upper bound that protects nobody."""
        return replace(self, target_epsilon=None, noise_multiplier=0.0, max_grad_norm=math.inf)

    def settings(self) -> dict[str, Any]:
        """The hyper-parameters as plain values."""
        return asdict(self)

    def bits(self) -> Bits:
        """Where coins and noise come from."""
        return SystemBits() if self.seed is None else SeededBits(self.seed)

    def network(self, features: int, classes: int) -> nn.Sequential:
        """A perceptron with ELU; its first weights are independent of the data."""
        with seeded(self.seed):
            return perceptron(self.input_width(features), self.hidden_channels, classes, self.num_layers)

    def input_width(self, features: int) -> int:
        """How wide an example is."""
        return features

    def descend(
        self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits, *, progress: bool
    ) -> None:
        """Train in place: T steps with g = (sum of clipped gradients + noise) / (q N)."""
        self.guarantee(num_nodes)  # refuses too little noise before the work
        multiplier = self.noise_multiplier_for(num_nodes)
        how = PrivateSteps(
            steps=self.steps(num_nodes),
            max_grad_norm=self.max_grad_norm,
            sigma=multiplier * self.max_grad_norm if multiplier else 0.0,
            expected_size=self.rate(num_nodes) * num_nodes,
            noise=self.noise,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
        )
        train_privately(network, batch, how, bits, progress=progress)

    def released(self, network: nn.Sequential, held: HeldGraph, probabilities: NDArray[np.float32]) -> Fitted:
        """The result; ``probabilities`` are those of the open nodes, in order."""
        rows = np.full((held.num_nodes, held.classes), 1 / held.classes, dtype=np.float32)
        rows[held.open_nodes] = probabilities
        return Fitted(
            system=self.name,
            guarantee=self.guarantee(held.num_nodes),
            probabilities=rows,
            settings={name: value for name, value in self.settings().items() if name != "seed"},  # it undoes the noise
            weights={name: value.detach().numpy().copy() for name, value in network.state_dict().items()},
        )


def predicted(network: nn.Sequential, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Class probabilities of rows."""
    with torch.no_grad():
        return np.asarray(network(torch.from_numpy(x)).softmax(dim=1).numpy())


_epsilon = lru_cache(maxsize=64)(node_level.epsilon)
_calibrated = lru_cache(maxsize=64)(node_level.calibrate)  # the accountant takes seconds, and a table asks often


def _none_or_positive(value: float | None) -> bool:
    return value is None or 0 < value < math.inf


def _some(value: float | None) -> float:
    if value is None:
        raise AssertionError("the constructor demands one of the two")
    return value
