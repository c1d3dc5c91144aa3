"""The settings of a private training, their checks and their price: what central systems and PrivateTrainer share."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphSampler
from privet.mechanisms import Bits, SeededBits, SystemBits
from privet.mechanisms.primitives.noise import Noise
from privet.models.private_training import Optimizer, PrivateSteps
from privet.privacy import Guarantee
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.delta import Delta, chosen_delta
from privet.release.central import CentralRelease
from privet.systems.central._training_view import TrainingView
from privet.systems.declared import Declared

__all__ = ["PrivateTraining", "Setting", "Sized", "SubgraphTraining"]

Setting: TypeAlias = Literal["inductive", "transductive"]


class Sized(Protocol):
    """Anything with a public number of nodes, for example a graph."""

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the whole graph."""


@dataclass(frozen=True, kw_only=True)
class PrivateTraining(Declared):
    """The settings of a private training; the words are those of Opacus.

    Args:
        target_epsilon: The largest epsilon of a run; give either this or ``noise_multiplier``.
        noise_multiplier: The standard deviation of the noise on a sum of gradients, over ``max_grad_norm``.
        delta: The probability that the bound may fail with (default 1 / (10 N), N being the nodes of the whole graph;
            "paper" is HeterPoisson's N^-1.1).
        max_grad_norm: The norm that each gradient is clipped to (default 0.5).
        batch_size: N times the sampling rate q of each training node, N being all nodes of the graph, protected or not
            (default 4096); in a graph of fewer nodes every step takes all of them.
        epochs: The number of passes; there are ceil(epochs / q) steps (default 9).
        optimizer: "adam" (default) or "sgd".
        learning_rate: The optimizer's (default 0.01).
        seed: None draws coins and noise from the operating system; a number (simulation only) repeats bit for bit.
    """

    process_kind: ClassVar[type[Process]]
    """The sampling process of the training; its parameters are fields or properties of the settings."""
    budgets: ClassVar[tuple[str, ...]] = ("target_epsilon", "noise_multiplier")
    """The settings of which exactly one says how much noise there is."""

    target_epsilon: float | None = None
    noise_multiplier: float | None = None
    delta: Delta | None = None
    max_grad_norm: float = 0.5
    batch_size: int = 4096
    epochs: float = 9.0
    optimizer: Optimizer = "adam"
    learning_rate: float = 0.01
    seed: int | None = None

    def __post_init__(self) -> None:
        self.check_types()
        given = [name for name in self.budgets if getattr(self, name) is not None]
        if len(given) != 1:
            known, words = ([f"'{each}'" for each in names] for names in (self.budgets, given))
            told = " and ".join(words) or "none of them"
            raise InvalidParameter(f"Give exactly one of {', '.join(known)}, not {told}.")
        self.delta_for(1)  # refuses what is no delta
        epsilon, noise = self.target_epsilon, self.noise_multiplier
        self.require("target_epsilon", epsilon is None or 0 < epsilon < math.inf, "finite and above 0")
        self.require("noise_multiplier", noise is None or 0 <= noise < math.inf, "at least 0")
        self.require("max_grad_norm", self.max_grad_norm > 0, "above 0")
        self.require("max_grad_norm", noise == 0 or self.max_grad_norm < math.inf, "finite with noise")
        self.require_counts("batch_size")
        for name in ("epochs", "learning_rate"):
            self.require(name, 0 < getattr(self, name) < math.inf, "a finite number above 0")
        self.require("seed", self.seed is None or self.seed >= 0, "None or an integer of at least 0")

    def require(self, name: str, holds: bool, expected: str) -> None:
        """Refuse the value of a setting unless a condition holds.

        Args:
            name: The setting.
            holds: The condition.
            expected: The allowed values in words.
        """
        if not holds:
            raise InvalidParameter(name, expected, getattr(self, name))

    def require_counts(self, *names: str) -> None:
        """Refuse settings that are no integers of at least 1."""
        for name in names:
            self.require(name, getattr(self, name) >= 1, "an integer of at least 1")

    @property
    def noise_kind(self) -> Noise:
        """The kind of noise."""
        return "gaussian"

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
            noise=self.noise_kind,
            simulated=simulated,
        )

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
        return self.process(num_nodes).epsilon(noise_multiplier, delta, self.noise_kind)

    def private_steps(self, num_nodes: int) -> PrivateSteps:
        """Return the steps of a run over so many nodes; too little noise is refused here, before any work."""
        release = self.release(_Nodes(num_nodes))
        release.guarantee()
        return PrivateSteps(
            steps=release.process.steps,
            max_grad_norm=self.max_grad_norm,
            sigma=release.noise_multiplier * self.max_grad_norm if release.noise_multiplier else 0.0,
            expected_size=release.process.rate * num_nodes,
            noise=self.noise_kind,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
        )

    def bits(self) -> Bits:
        """Return the source of coins and noise."""
        return SystemBits() if self.seed is None else SeededBits(self.seed)

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)

    def without_seed(self) -> dict[str, Any]:
        """Return the settings that may stand beside a result: a seed would undo its noise."""
        return {name: value for name, value in self.settings().items() if name != "seed"}


@dataclass(frozen=True, kw_only=True)
class SubgraphTraining(PrivateTraining):
    """The settings of a training on sub-graphs, which are sampled as in Algorithms 2 and 3 of HeterPoisson.

    Args:
        multiplier: The paper's M, the expected number of other sub-graphs that a training node is in; 0 (default)
            takes unprotected neighbours only.
        setting: In the "transductive" setting (default) sub-graphs also contain the unprotected neighbours of their
            centre, which need no sampling; in the "inductive" one training does not know them.
        test_neighbours: The most unprotected neighbours that a prediction uses; None is all of them (default 13). It
            never uses a training node.
    """

    process_kind: ClassVar[type[Process]] = HeterogeneousPoisson

    multiplier: float = 0.0
    setting: Setting = "transductive"
    test_neighbours: int | None = 13

    def __post_init__(self) -> None:
        super().__post_init__()
        finite = self.noise_multiplier == 0 or self.multiplier < math.inf
        self.require("multiplier", self.multiplier >= 0 and finite, "at least 0, and finite where noise is added")
        few = self.test_neighbours is None or self.test_neighbours >= 0
        self.require("test_neighbours", few, "None or at least 0")

    @property
    def reads_degrees(self) -> bool:
        """True where training reads degrees of the whole graph."""
        return False

    @property
    def knows_unprotected(self) -> bool:
        """True in the transductive setting."""
        return self.setting == "transductive"

    def sampler(self, view: TrainingView) -> SubgraphSampler:
        """Return the sampler of Algorithms 2 and 3 over the training nodes."""
        visible = view.unprotected_nodes if self.knows_unprotected else None
        rate = self.rate(view.num_nodes)
        return SubgraphSampler(view.graph.adjacency, view.members, rate, self.multiplier, visible)


@dataclass(frozen=True)
class _Nodes:
    num_nodes: int
