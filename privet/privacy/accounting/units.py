"""The conversion between the noise multiplier and the noise of HeterPoisson's paper, which stands here only.

privet speaks of the noise multiplier as Opacus does: the noise's standard deviation over the clipping norm. The paper
clips gradients to 1/2 and speaks of the standard deviation itself, sigma; so do the privacy losses in this package.
"""

from __future__ import annotations

__all__ = ["noise_multiplier_of", "paper_sigma"]

_CLIP = 0.5


def paper_sigma(noise_multiplier: float) -> float:
    """Return the noise's standard deviation where gradients are clipped to 1/2.

    >>> paper_sigma(4.0), noise_multiplier_of(2.0)
    (2.0, 4.0)
    """
    return _CLIP * noise_multiplier


def noise_multiplier_of(sigma: float) -> float:
    """Return the noise multiplier of a standard deviation that is meant for gradients clipped to 1/2."""
    return sigma / _CLIP
