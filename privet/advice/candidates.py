"""What advice chooses from: systems that protect what is asked, with their mechanism, hops and split of a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from privet.data import Categories, Graph, Schema
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.systems import LPGNN, RGNN, Fitted, PrivGE, Solitude, System
from privet.systems.controls import features_only, label_propagation, structure_only

__all__ = ["PROTECTABLE", "SPLITS", "Candidate", "candidates", "without"]

PROTECTABLE = ("features", "features,labels", "features,edges")
SPLITS = {"features": (1.0,), "features,labels": (0.5, 0.25, 0.75), "features,edges": (0.25, 0.1, 0.5)}
"""Shares of the budget that features may get, the one to begin with first."""

_QUICK: dict[str, Any] = {"max_epochs": 100, "patience": 20}
_LPGNN: dict[str, Any] = {"label_hops": 4, "label_evidence": 20.0}
_PRIVGE: dict[str, Any] = {
    "alpha": 0.05,
    "r": 0.0,
    "scale": 10.0,
    "dropout": 0.1,
    "weight_decay": 0.0,
    "hidden_channels": 32,
}
_RGNN: dict[str, Any] = {
    "input_label_hops": 8,
    "label_hops": 4,
    "soft_labels": True,
}  # a person's own answers count too
_WALK = f"{(1 - _PRIVGE['alpha']) / _PRIVGE['alpha']:.0f}"  # the mean number of steps of PageRank's walk

Kind = Literal["system", "structure", "propagation", "perceptron"]


@dataclass(frozen=True)
class Candidate:
    """A way to spend the budget. ``share`` is the features' part of it, ``hops`` how far the system looks.

    The other kinds of training are controls: the same system on reports without information, label propagation, and a
    perceptron that knows no edge.
    """

    system: System
    share: float
    hops: str
    kind: Kind = "system"

    @property
    def name(self) -> str:
        """What is trained."""
        controls = {
            "structure": f"{self.system.name} on the structure",
            "propagation": "label propagation",
            "perceptron": "a perceptron that sees no graph",
        }
        return controls.get(self.kind, self.system.name)

    @property
    def mechanism(self) -> str:
        """The mechanism of the features; none where they are not collected."""
        if not self.share:
            return "none"
        fixed = "sampled-response" if isinstance(self.system, RGNN) else "multi-bit"
        return str(self.system.settings().get("mechanism", fixed))

    @property
    def epsilons(self) -> dict[str, float]:
        """The budget of each part that is collected."""
        parts = {
            "features": self.system.epsilon_features if self.share else None,
            "labels": self.system.epsilon_labels,
            "edges": self.system.epsilon_edges if isinstance(self.system, Solitude) else None,
        }
        return {name: value for name, value in parts.items() if value is not None}

    def with_share(self, protect: str, budget: float, share: float) -> Candidate:
        """The same with another split of the budget."""
        return replace(self, system=_split(self.system, protect, budget, share), share=share)

    def trained(self, people: Graph, seed: int) -> Fitted:
        """Collect and fit on a draw of a world."""
        system, bits = replace(self.system, seed=seed), SeededBits(seed)
        if self.kind == "structure":
            return structure_only(system, people, bits)
        collected = system.collect(people, bits)
        if self.kind == "propagation":
            return label_propagation(collected)
        return features_only(collected, seed=seed) if self.kind == "perceptron" else system.fit(collected)


def candidates(protect: str, budget: float, schema: Schema) -> list[Candidate]:
    """Systems, mechanisms and hops, all with the first split."""
    if protect not in PROTECTABLE:
        expected = " or ".join(PROTECTABLE) + " (no system protects labels and edges at once)"
        raise InvalidParameter("--protect", "privet advise", expected, protect)
    if not 0 < budget < math.inf:
        raise InvalidParameter("--budget", "privet advise", "a finite number above 0", budget)
    found: list[tuple[System, str]] = []
    if protect == "features,edges":
        found += [(Solitude(feature_hops=hops, **_QUICK), str(hops)) for hops in (2, 8)]
    else:
        found += [(LPGNN(hops=hops, **_LPGNN, **_QUICK), str(hops)) for hops in (2, 8, 16)]
        found += [(PrivGE(mechanism="hds", **_PRIVGE, **_QUICK), _WALK)]
        found += [(PrivGE(mechanism="piecewise", **_PRIVGE, **_QUICK), _WALK)]
        if all(isinstance(feature, Categories) for feature in schema.features):
            samples = sorted({1, min(4, schema.dimension)})
            found += [(RGNN(hops=hops, sample=sample, **_RGNN), str(hops)) for sample in samples for hops in (0, 4)]
    share = SPLITS[protect][0]
    return [Candidate(_split(system, protect, budget, share), share, hops) for system, hops in found]


def without(best: Candidate, protect: str, budget: float) -> dict[str, list[Candidate]]:
    """By what is not collected: ways to do without it, with the whole budget for the rest."""
    structure = replace(best.with_share(protect, budget, 0.0), kind="structure")
    found = {"features": [structure, replace(structure, kind="propagation", hops="")]}
    if isinstance(best.system, Solitude):
        alone = replace(best.system, epsilon_features=budget, epsilon_edges=None)
        found["edges"] = [Candidate(alone, 1.0, "", "perceptron")]
    return found


def _split(system: System, protect: str, budget: float, share: float) -> System:
    """The system with a share of the budget for features and the rest for labels or edges."""
    features = share * budget
    others = budget - features
    while Fraction(features) + Fraction(others) > Fraction(budget):  # composition rounds up, and so would exceed it
        others = math.nextafter(others, 0.0)
    own: dict[str, Any] = {"epsilon_features": features or budget}  # reports without information cost nothing
    if protect == "features,labels":
        own["epsilon_labels"] = others
    if protect == "features,edges":
        own["epsilon_edges"] = others
    return replace(system, **own)
