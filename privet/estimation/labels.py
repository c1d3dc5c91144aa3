"""Learning from noisy labels: denoising by propagation, forward correction, a guard against overfitting.

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
    "majority_label",
    "overfits",
    "propagated_reports",
    "report_loss",
    "report_probabilities",
]

_SMALLEST = 1e-12  # a probability of 0, by rounding, has no finite logarithm


def propagated_reports(reported: Tensor, classes: int, operator: Operator, hops: int) -> Tensor:
    """Propagate the reports: A^hops Y with Y the reported classes as one-hot rows, zero where there is no report.

    Args:
        reported: Each node's reported class, -1 where there is none.
        classes: The number of classes.
        operator: A, an operator over the graph.
        hops: The number of propagations.

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
        raise InvalidData("reported labels", f"-1 or from 0 to {classes - 1}", f"{int(reported[row])} in row {row}")
    rows = one_hot(reported.clamp(min=0), classes) * (reported >= 0).unsqueeze(1)
    return kprop(rows.to(operator.matrix.dtype), operator, hops)


def majority_label(propagated: Tensor, reported: Tensor) -> Tensor:
    """Return each node's class of the largest propagated weight; a node that nothing reached keeps its own report.

    Args:
        propagated: The weights of the classes around each node, N x C.
        reported: Each node's reported class, -1 where there is none.
    """
    return torch.where(propagated.sum(1) > 0, propagated.argmax(1), reported)


def class_posterior(propagated: Tensor, epsilon: float, evidence: float) -> Tensor:
    """Return each node's class posterior, as if its neighbourhood were ``evidence`` independent reports of its class.

    With f the neighbourhood's shares of the classes and n reports, the log-likelihood of class i is
    n Σ_j f_j log T[i, j] = n f_i log(p / q) + constant, and log(p / q) = epsilon; with a uniform prior the posterior is
    softmax(n epsilon f). A node that nothing reached has the uniform posterior.

    Args:
        propagated: The weights of the classes around each node, N x C.
        epsilon: The budget of a label report.
        evidence: The number of reports, n, that a neighbourhood counts for.

    >>> class_posterior(torch.tensor([[3.0, 1.0], [0.0, 0.0]]), epsilon=1.0, evidence=4.0)
    tensor([[0.8808, 0.1192],
            [0.5000, 0.5000]])
    """
    if not 0 < evidence < math.inf:
        raise InvalidParameter("evidence", "a finite number above 0", evidence)
    total = propagated.sum(1, keepdim=True)
    shares = propagated / torch.where(total > 0, total, 1.0)
    return (evidence * epsilon * shares).softmax(1)


def report_probabilities(logits: Tensor, response: RandomizedResponse | None) -> Tensor:
    """Return the distribution of each node's report that a model predicts: softmax(logits) T (forward correction).

    Args:
        logits: The model's output, one row for each node.
        response: The mechanism of the reports; None if they are the true classes, T = I.
    """
    probabilities = logits.softmax(1)
    if response is None:
        return probabilities
    return probabilities @ torch.from_numpy(response.transition).to(logits.dtype)


def report_loss(logits: Tensor, reports: Tensor, response: RandomizedResponse | None) -> Tensor:
    """Return the mean negative log-likelihood of reports, -log (softmax(logits) T)[report].

    Args:
        logits: The model's output, one row for each report.
        reports: The reported classes.
        response: The mechanism of the reports; None if they are the true classes, for which this is cross-entropy.

    >>> sure, report = torch.tensor([[9.0, 0.0]]), torch.tensor([1])
    >>> report_loss(sure, report, None), report_loss(sure, report, RandomizedResponse(epsilon=1.0, classes=2))
    (tensor(9.0001), tensor(1.3130))
    """
    if response is None:
        return cross_entropy(logits, reports)
    return nll_loss(report_probabilities(logits, response).clamp_min(_SMALLEST).log(), reports)


def corrected_accuracy(agreement: float, keep: float, flip: float) -> float:
    """Estimate the accuracy on true labels from an agreement with reports: E[agreement] = q + (p - q) accuracy.

    The estimate is unbiased, and therefore possibly below 0 or above 1.

    Args:
        agreement: The share of reports that equal the prediction.
        keep: p, the probability that a report is the true class.
        flip: q, the probability of each other class.

    >>> round(corrected_accuracy(0.6, keep=0.7, flip=0.1), 3)
    0.833
    """
    return (agreement - flip) / (keep - flip)


def overfits(agreement: float, keep: float, reports: int) -> bool:
    """Return True if a model agrees with its training reports more than the truth would.

    The true labels agree with n reports at a rate of mean p and deviation sqrt(p (1 - p) / n); a model that lies more
    than two deviations above p has learned the noise.

    Args:
        agreement: The share of reports that equal the prediction.
        keep: p, the probability that a report is the true class.
        reports: The number of reports, n.
    """
    return agreement > keep + 2 * math.sqrt(keep * (1 - keep) / reports)


@dataclass(frozen=True, eq=False)
class Supervision:
    """Public labels.

    Attributes:
        seen: The class of each node that the server sees, -1 where it sees none.
        train: The nodes to fit.
        validation: The nodes to choose among models by.
    """

    seen: Tensor
    train: Tensor
    validation: Tensor

    def loss(self, logits: Tensor) -> Tensor:
        """Return the loss that training lowers.

        Args:
            logits: The model's output for all nodes.
        """
        return cross_entropy(logits[self.train], self.seen[self.train])

    def validation_loss(self, logits: Tensor) -> Tensor:
        """Return the loss by which the best model is chosen.

        Args:
            logits: The model's output for all nodes.
        """
        return cross_entropy(logits[self.validation], self.seen[self.validation])


@dataclass(frozen=True, eq=False)
class _NoisyLabels(Supervision):
    """Reports of randomised response in the place of labels; a model is chosen by their likelihood.

    Attributes:
        mechanism: The mechanism of the reports.
    """

    mechanism: RandomizedResponse

    def validation_loss(self, logits: Tensor) -> Tensor:
        """Return the loss of the validation reports; infinity once the model has learned the training reports' noise.

        Args:
            logits: The model's output for all nodes.
        """
        agreement = float((logits[self.train].argmax(1) == self.seen[self.train]).float().mean())
        if overfits(agreement, self.mechanism.keep, len(self.train)):
            return torch.tensor(math.inf)
        return report_loss(logits[self.validation], self.seen[self.validation], self.mechanism)


@dataclass(frozen=True, eq=False)
class MajorityLabels(_NoisyLabels):
    """LPGNN's denoising: training nodes are fitted to the majority y around them, by -log (A^hops P T)[y].

    Attributes:
        operator: A, the operator that the reports were propagated with.
        hops: The number of propagations.
        majority: Each node's y, from :func:`majority_label`.
    """

    operator: Operator
    hops: int
    majority: Tensor

    def loss(self, logits: Tensor) -> Tensor:
        """Return the loss on training nodes; a node that nothing reaches is compared by its own probabilities.

        Args:
            logits: The model's output for all nodes.
        """
        own = report_probabilities(logits, self.mechanism)
        around = kprop(own, self.operator, self.hops)
        expected = torch.where(around.detach().sum(1, keepdim=True) > 0, around, own)
        return nll_loss(expected[self.train].log(), self.majority[self.train])


@dataclass(frozen=True, eq=False)
class PosteriorLabels(_NoisyLabels):
    """Denoising by posterior: all nodes, the unlabelled ones too, are fitted to soft labels.

    Attributes:
        posterior: Each node's class posterior, from :func:`class_posterior`.
    """

    posterior: Tensor

    def loss(self, logits: Tensor) -> Tensor:
        """Return the cross-entropy with the soft labels.

        Args:
            logits: The model's output for all nodes.
        """
        return cross_entropy(logits, self.posterior)
