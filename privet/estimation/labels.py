"""What a server can make of noisy labels: denoising by propagation, forward correction, a guard against overfitting.

A node reports class j with probability T[i, j] if its class is i (:class:`privet.mechanisms.RandomizedResponse`, whose
T has p on the diagonal, q = p / e^epsilon elsewhere). All of this is post-processing of the reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, nll_loss, one_hot

from privet.errors import InvalidData, InvalidParameter
from privet.graph import Operator, kprop
from privet.mechanisms import RandomizedResponse

__all__ = [
    "MajorityLabels",
    "PosteriorLabels",
    "Supervision",
    "class_posterior",
    "corrected_accuracy",
    "forward_correction",
    "majority_label",
    "overfits",
    "propagated_reports",
]


def propagated_reports(reported: Tensor, classes: int, operator: Operator, hops: int) -> Tensor:
    """A^hops Y with Y the reported classes as one-hot rows, and zero rows for nodes that reported none (-1).

    >>> import scipy.sparse as sp
    >>> from privet.graph import mean_operator
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> propagated_reports(torch.tensor([0, -1, 1]), 2, mean_operator(path, self_loops=False), hops=1)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.0000, 0.0000]])
    """
    wrong = (reported < -1) | (reported >= classes)
    if wrong.any():
        row = int(wrong.int().argmax())
        raise InvalidData("reported labels", f"-1 or classes in [0, {classes})", f"{int(reported[row])} in row {row}")
    rows = one_hot(reported.clamp(min=0), classes) * (reported >= 0).unsqueeze(1)
    return kprop(rows.to(operator.matrix.dtype), operator, hops)


def majority_label(propagated: Tensor, reported: Tensor) -> Tensor:
    """The class with the largest propagated weight; a node that nothing reached keeps its own report."""
    return torch.where(propagated.sum(1) > 0, propagated.argmax(1), reported)


def class_posterior(propagated: Tensor, epsilon: float, evidence: float) -> Tensor:
    """The posterior of each node's class if its neighbourhood were ``evidence`` independent reports of that class.

    With f the neighbourhood's shares of the classes and n reports, the log-likelihood of class i is
    n Σ_j f_j log T[i, j] = n f_i log(p / q) + constant, and log(p / q) = epsilon; with a uniform prior the posterior is
    softmax(n epsilon f). A node that nothing reached has the uniform posterior.

    >>> class_posterior(torch.tensor([[3.0, 1.0], [0.0, 0.0]]), epsilon=1.0, evidence=4.0)
    tensor([[0.8808, 0.1192],
            [0.5000, 0.5000]])
    """
    if not 0 < evidence < math.inf:
        raise InvalidParameter("evidence", "class_posterior", "a finite number above 0", evidence)
    total = propagated.sum(1, keepdim=True)
    shares = propagated / torch.where(total > 0, total, 1.0)
    return (evidence * epsilon * shares).softmax(1)


def forward_correction(probabilities: Tensor, transition: Tensor) -> Tensor:
    """The distribution of the reports that goes with class probabilities: P T."""
    return probabilities @ transition


def corrected_accuracy(agreement: float, keep: float, flip: float) -> float:
    """The accuracy on true labels that goes with an agreement with reports, since E[agreement] = q + (p - q) accuracy.

    Unbiased, and therefore possibly below 0 or above 1.

    >>> round(corrected_accuracy(0.6, keep=0.7, flip=0.1), 3)
    0.833
    """
    return (agreement - flip) / (keep - flip)


def overfits(agreement: float, keep: float, reports: int) -> bool:
    """Whether a model agrees with its training reports more than the truth would.

    The true labels agree with n reports at a rate of mean p and deviation sqrt(p (1 - p) / n); what lies more than two
    deviations above p has learned the noise.
    """
    return agreement > keep + 2 * math.sqrt(keep * (1 - keep) / reports)


@dataclass(frozen=True, eq=False)
class Supervision:
    """Public labels: the class that the server sees of each node (-1: none), the nodes to fit, those to choose by."""

    seen: Tensor
    train: Tensor
    validation: Tensor

    def loss(self, logits: Tensor) -> Tensor:
        """What training lowers."""
        return cross_entropy(logits[self.train], self.seen[self.train])

    def validation_loss(self, logits: Tensor) -> Tensor:
        """What the kept model has the least of."""
        return cross_entropy(logits[self.validation], self.seen[self.validation])


@dataclass(frozen=True, eq=False)
class _NoisyLabels(Supervision):
    """Reports of randomised response in the place of labels; a model is chosen by their likelihood, -log (P T)."""

    mechanism: RandomizedResponse

    def validation_loss(self, logits: Tensor) -> Tensor:
        """Infinite once the model has learned the training reports' noise."""
        agreement = float((logits[self.train].argmax(1) == self.seen[self.train]).float().mean())
        if overfits(agreement, self.mechanism.keep, len(self.train)):
            return torch.tensor(math.inf)
        expected = forward_correction(logits[self.validation].softmax(1), self._transition)
        return nll_loss(expected.log(), self.seen[self.validation])

    @property
    def _transition(self) -> Tensor:
        return torch.from_numpy(self.mechanism.transition).float()


@dataclass(frozen=True, eq=False)
class MajorityLabels(_NoisyLabels):
    """LPGNN's: training nodes are fitted to the ``majority`` y of their neighbourhoods, by -log (A^hops P T)[y]."""

    operator: Operator
    hops: int
    majority: Tensor

    def loss(self, logits: Tensor) -> Tensor:
        """A node that nothing reaches is compared by itself."""
        own = forward_correction(logits.softmax(1), self._transition)
        around = kprop(own, self.operator, self.hops)
        expected = torch.where(around.detach().sum(1, keepdim=True) > 0, around, own)
        return nll_loss(expected[self.train].log(), self.majority[self.train])


@dataclass(frozen=True, eq=False)
class PosteriorLabels(_NoisyLabels):
    """All nodes, the unlabelled ones too, are fitted to the ``posterior`` of their class (:func:`class_posterior`)."""

    posterior: Tensor

    def loss(self, logits: Tensor) -> Tensor:
        """Cross-entropy with soft labels."""
        return cross_entropy(logits, self.posterior)
