"""Worth of a randomised answer in bits, by the number of options that are offered. Exact; no data, no randomness."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.estimation.answers.answer_models import KnownAccuracy
from privet.mechanisms import OfferedResponse
from privet.reproduction.measures import Measurement
from privet.systems import Inquiry, LocalSystem

__all__ = ["PRIORS", "answer_worth", "measure_worth"]

PRIORS: Mapping[str, tuple[float, ...]] = {"flat": (1 / 8,) * 8, "sharp": (0.45, 0.4, *(0.025,) * 6)}
"""What the server believes of a person's class before it asks: nothing, or that it is one of two."""


def measure_worth(
    kind: str, system: LocalSystem, graph: Graph, seed: int, prior: str = "flat", options: int = 2
) -> Measurement:
    """Return the bits of an answer at the system's budget; graph and seed are not used.

    Args:
        kind: Not used: there is one figure.
        system: Inquiry, with a budget of the feature question.
        graph: Not used.
        seed: Not used.
        prior: A name in ``PRIORS`` (default "flat").
        options: The number of likeliest classes that are offered (default 2).
    """
    if not isinstance(system, Inquiry):
        raise InvalidParameter("system", "inquiry", system.name)
    return {"test": answer_worth(np.array(PRIORS[prior]), options, system.epsilon_features or 0.0)}


def answer_worth(prior: NDArray[np.float64], options: int, epsilon: float, accuracy: float = 0.9) -> float:
    """Return the mutual information, in bits, of a person's class and the randomised answer.

    Args:
        prior: The probability of each class before the question, the largest first.
        options: The number of likeliest classes that are offered.
        epsilon: The privacy budget of the answer.
        accuracy: The probability that the true answer is the class, where the class is offered (default 0.9).
    """
    response = OfferedResponse(epsilon=epsilon, most=len(prior))
    keep, flip = response.keep[options - 2], response.flip[options - 2]
    truth = KnownAccuracy(accuracy, len(prior)).confusion(tuple(range(options)))
    told = flip + (keep - flip) * truth  # P(randomised answer | class)
    answers = prior @ told
    return float(prior @ (told * np.log2(told)).sum(axis=1) - answers @ np.log2(answers))
