"""Sums on a public integer grid: they are exact, so their sensitivity is, and noise on them is integer too."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.gaussian import LEAST_SCALE, RoundedGaussian
from privet.mechanisms.primitives.noise import Noise, sml_noise
from privet.privacy.accounting.program import MOST_DRAWS

__all__ = ["GridSum", "unit_rows_on_grid"]

_BITS = 38  # of an entry of a row of norm 1; sums of 2^24 rows stay below 2^62
_SHRUNK = 1 - 2.0**-20  # rounding must not lift a row above norm 1


@dataclass(frozen=True, eq=False)
class GridSum:
    """An exact sum of vectors whose entries are multiples of a public unit.

    Formal guarantee: let two data sets give sums whose difference has norm at most D. Then :meth:`with_noise` is the
    Gaussian mechanism of sensitivity D and deviation sigma, rounded to the grid, up to the errors that
    :mod:`privet.privacy.accounting.program` charges. No bit of it tells more.

    Attributes:
        values: The sum in units.
        unit: The grid's step.
    """

    values: NDArray[np.int64]
    unit: float

    def exact(self) -> NDArray[np.float64]:
        """Return the sum without noise."""
        return np.asarray(self.values * self.unit, dtype=np.float64)

    def with_noise(self, sigma: float, bits: Bits, *, noise: Noise = "gaussian") -> NDArray[np.float64]:
        """Return the sum with noise of standard deviation ``sigma`` in each coordinate.

        Args:
            sigma: The standard deviation, at least 2^30 units; 0 for none.
            bits: The source of randomness.
            noise: "gaussian" (default), or "sml", which is in double precision and for reproduction only.
        """
        if not 0 <= sigma < math.inf:
            raise InvalidParameter("sigma", "a finite number of at least 0", sigma)
        if sigma == 0:
            return self.exact()
        if noise == "sml":
            return self.exact() + sml_noise(self.values.shape, sigma, bits)
        if sigma < LEAST_SCALE * self.unit:
            expected = f"at least {LEAST_SCALE * self.unit:.2g}: so little noise on this grid protects nobody"
            raise InvalidParameter("sigma", expected, sigma)
        if self.values.size > MOST_DRAWS:
            raise InvalidParameter("values", "at most 2^32, which are accounted for", self.values.size)
        noisy = RoundedGaussian(sigma / self.unit).draw(self.values.size, bits).reshape(self.values.shape)
        noisy += self.values
        return GridSum(noisy, self.unit).exact()


def unit_rows_on_grid(rows: sp.csr_array | NDArray[np.floating]) -> tuple[sp.csr_array, float]:
    """Scale rows to norm 1 or a little less and round them to the grid, so that no row's norm exceeds 1.

    Args:
        rows: The rows; a row of zeros, or one that is not finite, becomes zeros.

    Returns:
        The rows in units, as 64-bit integers, and the unit, 2^-38.
    """
    stored = sp.csr_array(rows, dtype=np.float64)
    norms = np.sqrt(np.asarray(stored.multiply(stored).sum(axis=1)).ravel())
    usable = np.isfinite(norms) & (norms > 1e-150)
    scale = np.where(usable, _SHRUNK * 2.0**_BITS / np.where(usable, norms, 1.0), 0.0)
    data = np.rint(np.nan_to_num(stored.data, posinf=0.0, neginf=0.0) * np.repeat(scale, np.diff(stored.indptr)))
    integers = sp.csr_array((data.astype(np.int64), stored.indices, stored.indptr), shape=stored.shape)
    return integers, 2.0**-_BITS
