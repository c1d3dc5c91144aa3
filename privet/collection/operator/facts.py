"""Facts about a model trained from a study: who answered, how good it is, whether the reports helped.

Accuracy is measured on held-out nodes. Where their classes are private reports, agreement with them is turned into
accuracy on true classes, E[agreement] = q + (p - q) accuracy, and every interval contains the noise of the labels.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.estimation.labels import corrected_accuracy
from privet.systems import Collected, Fitted

__all__ = ["Accuracy", "Facts", "facts_of"]

_Z = 1.96  # 95 % confidence
TOLD_WITHIN = 0.10
"""An accuracy whose interval is wider than this on either side cannot be told from so few labels."""


@dataclass(frozen=True)
class Accuracy:
    """An accuracy on true classes, estimated without bias from labels that may be randomised.

    Attributes:
        estimate: The estimate; it may lie below 0 or above 1.
        low: The lower end of its 95 % interval.
        high: The upper end.
        labels: The number of labels behind it.
    """

    estimate: float
    low: float
    high: float
    labels: int

    @classmethod
    def of(cls, hits: NDArray[np.bool_], keep: float = 1.0, flip: float = 0.0) -> Accuracy:
        """Estimate from agreements with labels (Wilson's interval of the agreement, mapped to true classes).

        Args:
            hits: Whether each prediction agrees with its label.
            keep: The probability that a label is the true class.
            flip: The probability that it is a given other one.
        """
        count = len(hits)
        if not count:
            return cls(math.nan, 0.0, 1.0, 0)
        share, shrink = float(hits.mean()), 1 + _Z**2 / count
        centre = (share + _Z**2 / (2 * count)) / shrink
        half = _Z * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2)) / shrink
        ends = (corrected_accuracy(centre + sign * half, keep, flip) for sign in (-1, 1))
        low, high = (min(max(end, 0.0), 1.0) for end in ends)
        return cls(corrected_accuracy(share, keep, flip), low, high, count)

    @property
    def told(self) -> bool:
        """True if the interval reaches at most 10 points to either side."""
        return self.high - self.low <= 2 * TOLD_WITHIN

    def in_words(self) -> str:
        """Return the estimate with its interval, or that there are too few labels for one."""
        if not self.told:
            return f"cannot be told from {self.labels:,} labels: {self.low:.0%} to {self.high:.0%} with 95 % confidence"
        return f"{min(max(self.estimate, 0.0), 1.0):.1%} ({self.low:.1%} to {self.high:.1%} with 95 % confidence)"


@dataclass(frozen=True)
class Facts:
    """Figures about a trained model and the answers behind it.

    Attributes:
        nodes: The people of the study.
        respondents: Those who answered.
        features_from_neighbours: Those whose features come from what people near them reported.
        features_unknown: Those about whom nothing is known.
        training_nodes: The labelled nodes that were trained on.
        validation_nodes: The labelled nodes that were held out.
        accuracy: The model's accuracy on the held-out nodes.
        accuracy_respondents: The same for those of them who answered; None if everybody did.
        accuracy_others: The same for those who did not.
        control_accuracy: The accuracy of the control: the same training on the same reports, dealt at random.
        label_propagation_accuracy: The accuracy of label propagation, which needs no reports of features; None
            if no topology is known.
        gain: The model's accuracy minus the control's, on the same nodes.
        gain_margin: The half-width of the gain's 95 % interval.
        classes_predicted: The number of classes that the model predicts for anybody.
        erasures: The people whose reports had been erased before the training; none of their answers is in the model.
        erased_left_out: Those of them for whom the model makes no prediction.
    """

    nodes: int
    respondents: int
    features_from_neighbours: int
    features_unknown: int
    training_nodes: int
    validation_nodes: int
    accuracy: Accuracy
    accuracy_respondents: Accuracy | None
    accuracy_others: Accuracy | None
    control_accuracy: Accuracy
    label_propagation_accuracy: Accuracy | None
    gain: float
    gain_margin: float
    classes_predicted: int
    erasures: int = 0
    erased_left_out: int = 0

    @property
    def response_rate(self) -> float:
        """The share of the people who answered."""
        return self.respondents / self.nodes

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Facts:
        """Read what :meth:`to_dict` wrote."""
        read: dict[str, Any] = {k: Accuracy(**v) if isinstance(v, dict) else v for k, v in values.items()}
        return cls(**read)


def facts_of(
    collected: Collected, topology: Graph, fitted: Fitted, control: Fitted, propagated: Fitted | None
) -> Facts:
    """Measure a model.

    Args:
        collected: What the server held.
        topology: The graph that it learned on.
        fitted: The model.
        control: The same training on the same reports, dealt to other people at random.
        propagated: Label propagation; None if no topology is known.
    """
    asked = collected.release.asks("features")
    distances = collected.distances(topology.adjacency) if asked else np.zeros(0, dtype=np.int64)
    held, answered = collected.validation, collected.answered()
    response = collected.label_response
    chances = (1.0, 0.0) if response is None else (response.keep, response.flip)
    seen = collected.seen_labels()
    hits, by_chance = (model.predict() == seen for model in (fitted, control))

    def accuracy(correct: NDArray[np.bool_], part: NDArray[np.bool_] = held) -> Accuracy:
        return Accuracy.of(correct[part], *chances)

    apart = not answered.all()
    gain, margin = _gain(hits[held], by_chance[held], chances[0] - chances[1])
    return Facts(
        nodes=collected.num_nodes,
        respondents=int(answered.sum()),
        features_from_neighbours=int(np.count_nonzero(distances > 0)),
        features_unknown=int(np.count_nonzero(distances < 0)),
        training_nodes=int(collected.train.sum()),
        validation_nodes=int(held.sum()),
        accuracy=accuracy(hits),
        accuracy_respondents=accuracy(hits, held & answered) if apart and (held & answered).any() else None,
        accuracy_others=accuracy(hits, held & ~answered) if apart and (held & ~answered).any() else None,
        control_accuracy=accuracy(by_chance),
        label_propagation_accuracy=None if propagated is None else accuracy(propagated.predict() == seen),
        gain=gain,
        gain_margin=margin,
        classes_predicted=len(np.unique(fitted.predict()[fitted.predicted()])),
    )


def _gain(hits: NDArray[np.bool_], control: NDArray[np.bool_], slope: float) -> tuple[float, float]:
    """Return the difference of two accuracies on the same nodes, and the half-width of its 95 % interval.

    The half-width is Bonett and Price's for paired shares: one more node is counted for either side, so that two models
    that agree on every node of a few are not taken for equal.
    """
    count = len(hits)
    better, worse = int((hits & ~control).sum()), int((~hits & control).sum())
    up, down = (better + 1) / (count + 2), (worse + 1) / (count + 2)
    half = _Z * math.sqrt((up + down - (up - down) ** 2) / (count + 2))
    return (better - worse) / count / slope, half / slope
