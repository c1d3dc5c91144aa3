"""Several sources of evidence about classes, weighed by a few weights that all classes share.

The logit of class c for person i is sum_m w_m e_im(c) + b_c: one weight a source and one offset a class, a dozen
parameters that a few hundred people of known class determine without overfitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

__all__ = ["SharedWeights"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SharedWeights:
    """Weights of some sources of evidence, and an offset for each class.

    Attributes:
        weights: The weight of each source.
        offsets: The offset of each class.
    """

    weights: Array
    offsets: Array

    @classmethod
    def fit(cls, evidence: Array, likelihood: Array, expected: Sequence[float], penalty: float) -> SharedWeights:
        """Maximise the probability of what is known about some people's classes, less a quadratic penalty.

        Args:
            evidence: Log-likelihoods or other scores, people x sources x classes.
            likelihood: The probability of what is known about each person given each class, people x classes: one-hot
                rows for known classes, a column of the transition matrix for a randomised report.
            expected: The weights that are right if the evidence is calibrated; the penalty pulls towards them.
            penalty: The pull towards the expected weights and towards offsets of 0.
        """
        sources = evidence.shape[1]
        start = np.concatenate([np.asarray(expected, dtype=np.float64), np.zeros(evidence.shape[2])])

        def loss(point: Array) -> tuple[float, Array]:
            logits = np.einsum("imc,m->ic", evidence, point[:sources]) + point[sources:]
            predicted = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
            joint = predicted * likelihood
            seen = np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
            slope = predicted - joint / seen
            away = point - start
            gradient = np.concatenate([np.einsum("ic,imc->m", slope, evidence), slope.sum(axis=0)])
            return float(-np.log(seen).sum() + penalty * (away @ away) / 2), gradient + penalty * away

        found = minimize(loss, start, jac=True, method="L-BFGS-B").x
        return cls(found[:sources], found[sources:])

    @classmethod
    def choose(
        cls,
        evidence: Array,
        likelihood: Array,
        expected: Sequence[float],
        penalties: Sequence[float],
        *,
        seed: int,
        instead: Sequence[float] | None = None,
    ) -> tuple[SharedWeights, float]:
        """Fit with the penalty whose held-out likelihood is best in five-fold cross-validation, and return both.

        Args:
            evidence: As for :meth:`fit`.
            likelihood: As for :meth:`fit`.
            expected: As for :meth:`fit`.
            penalties: The penalties to choose from; a large one keeps the expected weights.
            seed: The seed of the folds.
            instead: Other weights to consider with the largest penalty, such as those of a model that does without
                some evidence (default: none).
        """
        fold = np.random.default_rng(seed).permutation(len(evidence)) % 5
        candidates = [(expected, penalty) for penalty in penalties]
        candidates += [] if instead is None else [(instead, max(penalties))]
        scores = [
            sum(
                cls.fit(evidence[fold != k], likelihood[fold != k], *candidate).score(
                    evidence[fold == k], likelihood[fold == k]
                )
                for k in range(5)
            )
            for candidate in candidates
        ]
        best = candidates[int(np.argmax(scores))]
        return cls.fit(evidence, likelihood, *best), best[1]

    def logits(self, evidence: Array) -> Array:
        """Return the weighted evidence, people x classes."""
        return np.asarray(np.einsum("imc,m->ic", evidence, self.weights) + self.offsets)

    def score(self, evidence: Array, likelihood: Array) -> float:
        """Return the log-probability of what is known about some people's classes."""
        logits = self.logits(evidence)
        predicted = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
        return float(np.log(np.maximum((predicted * likelihood).sum(axis=1), 1e-300)).sum())
