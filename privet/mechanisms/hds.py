"""HDS, the square wave for many features (PrivGE, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, ClassVar

from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.window import SlidingWindow

__all__ = ["HDS"]


@dataclass(frozen=True, kw_only=True)
class HDS(SlidingWindow):
    """Report m of d coordinates by the square wave: a value within b of the true one is e^z times as likely.

    On [-1, 1], with z = epsilon / m, the half width is b = (z e^z - e^z + 1) / (e^z (e^z - z - 1)) and the output lies
    in [-1 - b, 1 + b]. The paper uses the output as it is (:meth:`raw_output`), which shrinks values towards the
    middle by the factor C = m/d * b (e^z - 1) / (b e^z + 1); :meth:`estimate` divides by C and is unbiased. (The
    paper's Lemma 3.2 misplaces the brackets in C's denominator; its equation 7 has them right.) m defaults to 1, the
    paper's k is ``sample``.

    Formal guarantee: epsilon-LDP, see SlidingWindow.
    """

    name = "hds"
    words = (
        "a few features are drawn at random, and each is answered with a number near the true one or, with "
        "some probability, anywhere in its range"
    )
    small: ClassVar[Mapping[str, Any]] = {"steps": 16}

    def _best_sample(self) -> int:
        return 1

    @property
    def window_ratio(self) -> float:
        """b, computed with enough digits that small budgets do not cancel."""
        with localcontext() as context:
            context.prec = 80
            z = Decimal(self.share.numerator) / Decimal(self.share.denominator)
            grown = z.exp()
            return float((z * grown - grown + 1) / (grown * (grown - z - 1)))

    @property
    def shrinkage(self) -> float:
        """C, by which the paper's output shrinks values towards the middle."""
        return self.sampled * self.slope / (self.dimension * self.steps)

    def raw_output(self, reports: Reports) -> AffineFeatures:
        """The paper's output: the reported value where sampled, the middle of the range elsewhere. Biased."""
        symbols = self.validate(reports).to_sparse()
        # One step of the window is 1/steps of the range, and symbols count half steps.
        return AffineFeatures(symbols, (self._high - self._low) / (2 * self.steps), self._middle)
