"""A pretence: some people pass for members of other classes than their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Pretence"]


@dataclass(frozen=True, eq=False)
class Pretence:
    """Lies about classes, and what liars know: the protocol, public labels and their own class.

    Attributes:
        users: The ids of the liars.
        wanted: The class that each of them passes for.
        own: The class that each of them is of, -1 for people who have none.
        labels: The public class of everybody, -1 where it is not public.
        classes: The number of classes.
    """

    users: NDArray[np.int64]
    wanted: NDArray[np.int64]
    own: NDArray[np.int64]
    labels: NDArray[np.int64]
    classes: int

    def take(self, rows: NDArray[np.integer[Any]]) -> Pretence:
        """Keep some liars."""
        return Pretence(self.users[rows], self.wanted[rows], self.own[rows], self.labels, self.classes)

    def votes(self, classes: NDArray[np.int64]) -> sp.csr_array:
        """Return 1 for one class of each liar, and -1 for all others, liars x classes."""
        return sp.csr_array(np.where(np.arange(self.classes) == classes[:, None], 1.0, -1.0))
