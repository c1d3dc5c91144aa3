"""A sum by two servers: a device gives each of them a share, and only the noisy sum ever exists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Bits
from privet.mechanisms.primitives.gaussian import LEAST_SCALE, RoundedGaussian
from privet.privacy import Guarantee
from privet.privacy.guarantee import ADJACENCY
from privet.privacy.ledger import LedgerLine
from privet.privacy.rounding import at_most
from privet.release.central import CentralRelease
from privet.release.price import Aggregate
from privet.release.private import PrivateData
from privet.release.tallies import Tally

if TYPE_CHECKING:
    from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
    from privet.vdaf import Prio3, Report

__all__ = ["Sum"]

_LARGEST_SUM = 2**61  # so that sums with the noise of two servers stay below 2^62, far from half of any field's prime
_REACH = 64  # noise is never more than so many standard deviations

_UNPROTECTED = (
    "what the user sent, from both servers together: if they pool what they have, they see it",
    "what the user sent, from a server that breaks the cryptography, also later, in what it kept",
    "that the user took part",
    "how many people are in the sum",
)
_MECHANISM = "gaussian noise of each server"
_HOW = "your numbers are divided among two servers that see random numbers each, and each adds random noise to the sum"


@dataclass(frozen=True)
class Sum:
    """A private field, a public function, a circuit that checks it, and the noise that each server adds.

    Formal guarantee: exchanging one person's field for another moves the sum by at most the tally's change
    (:class:`~privet.release.tallies.Tally`). Each server adds the *whole* noise: a rounded Gaussian on a grid of 2^-k,
    which is exact up to errors that the accountant charges. So epsilon and delta hold towards everybody who does not
    control both servers, and towards either server, which knows its own noise and nothing of the other's. They do not
    depend on proofs: these protect the result from dishonest devices.

    Attributes:
        tally: The field, the function and the circuit.
        noise: The noise of each server, in multiples of the tally's change, with its delta and the people it counts on.
    """

    tally: Tally
    noise: CentralRelease

    def __post_init__(self) -> None:
        if not self.noise.noise_multiplier:
            raise InvalidParameter("A sum by two servers needs noise. Make it with Sum.calibrated.")
        if self.noise.noise != "gaussian" or self.noise.process != _everybody(self.people):
            raise InvalidParameter(
                "Everybody is in a sum by two servers, once, and its noise is Gaussian. Make it with Sum.calibrated."
            )
        if self._largest >= _LARGEST_SUM:
            raise InvalidParameter(
                f"The sum over {self.people:,} people may grow too large for its grid. Use fewer bits or less epsilon."
            )

    @classmethod
    def calibrated(cls, tally: Tally, epsilon: float, people: int, delta: float | None = None) -> Sum:
        """Return a sum with as little noise by each server as an epsilon takes.

        Args:
            tally: The field, the function and the circuit.
            epsilon: The epsilon that holds towards either server.
            people: The most people whose reports are summed.
            delta: The delta; 1 / (10 people) by default.
        """
        return cls(tally, CentralRelease.calibrated(_everybody(people), epsilon, delta))

    @property
    def people(self) -> int:
        """The most people whose reports are summed."""
        return self.noise.process.num_nodes

    @property
    def deviation(self) -> float:
        """The standard deviation of each server's noise, in the sum's integers."""
        return self.tally.change * self.noise.noise_multiplier

    @property
    def error(self) -> float:
        """The standard deviation of the published sum: the noise of both servers."""
        return math.sqrt(2) * self.deviation

    @property
    def shift(self) -> int:
        """The grid of the noise is 2 to minus this power: fine enough for the exact sampler."""
        return max(0, math.ceil(math.log2(LEAST_SCALE / self.deviation)))

    @property
    def _largest(self) -> float:
        return 2.0**self.shift * (self.people * self.tally.most + 2 * _REACH * self.deviation)

    # What is promised.

    @cached_property
    def promise(self) -> Guarantee:
        """Return the promise towards everybody who does not control both servers."""
        found = self.noise.guarantee()
        if found is None:
            raise AssertionError("a sum without noise")
        unit = self.tally.unit
        return Guarantee("two servers", unit, ADJACENCY[unit], found.epsilon, found.delta, unprotected=_UNPROTECTED)

    def guarantee(self) -> Guarantee:
        """Return the promise."""
        return self.promise

    def aggregate(self) -> Aggregate:
        """Return the sum as a part of a release, whose price it adds to."""
        return Aggregate(f"{self.tally.part} (two servers)", _MECHANISM, _HOW, self.promise)

    def line(self) -> LedgerLine:
        """Return the sum's line in a budget."""
        return self.aggregate().line()

    def sends(self) -> str:
        """Tell the owner what leaves the device, and what the two servers could do together."""
        price = f"epsilon {at_most(self.promise.epsilon)}, delta {at_most(self.promise.delta)}"
        warning = "Neither server learns your numbers by itself; both together could."
        return f"{self.tally.subject}: {_HOW} ({price}). {warning}"

    def influence(self) -> float:
        """Return how far one dishonest device can move the sum, in standard deviations of its error.

        Its proof holds, so that each entry is within the range that the circuit allows.
        """
        return self.tally.lie / self.error

    # A device, a server, and whoever puts the result together.

    @cached_property
    def prio3(self) -> Prio3:
        """The shares and the proofs."""
        from privet.vdaf import variant
        from privet.vdaf.circuits import best_chunk_length

        name, parameters = self.tally.circuit
        plain = variant(name, **parameters, chunk_length=1)
        return variant(name, **parameters, chunk_length=best_chunk_length(plain.circuit.input_length))

    def shard(self, private: PrivateData, context: bytes) -> list[Report]:
        """Return a report of each person, on the device: the only code that reads private data.

        Args:
            private: The raw values of some people; one row on a real device.
            context: What the reports are for; servers that expect something else refuse them.
        """
        return self.prio3.shard(context, self.tally.measure(private))

    def with_noise(self, aggregate_share: bytes, bits: Bits) -> bytes:
        """Return a server's aggregate share with the noise of that server, on the grid of the noise.

        Args:
            aggregate_share: The sum of its shares of the valid reports.
            bits: Its source of randomness.
        """
        field, length = self.prio3.circuit.field, self.tally.width
        share = field.integers(field.read([aggregate_share], length, "aggregate share")[0])
        drawn = self.draw(bits).tolist()
        noisy = [x * 2**self.shift + k for x, k in zip(share, drawn, strict=True)]
        return bytes(field.encode(field.of([noisy]))[0])

    def draw(self, bits: Bits) -> NDArray[np.int64]:
        """Draw the noise of one server, in steps of the grid."""
        return RoundedGaussian(self.deviation * 2.0**self.shift).draw(self.tally.width, bits)

    def result(self, noisy_shares: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the noisy sum.

        Args:
            noisy_shares: The noisy aggregate share of each server.
        """
        field = self.prio3.circuit.field
        total = field.read([self.prio3.merge(noisy_shares)], self.tally.width, "aggregate share")
        signed = [x - field.modulus if x > field.modulus // 2 else x for x in field.integers(total[0])]
        if max(map(abs, signed)) > self._largest:
            raise InvalidData("The two servers' sums do not belong together: they are not of the same reports.")
        return np.array(signed, dtype=np.float64) / 2.0**self.shift

    def simulated(self, private: PrivateData, bits: Bits) -> NDArray[np.float64]:
        """Return the noisy sum of a simulation without shares: it has the same distribution, at a fraction of the time.

        Args:
            private: The raw values of all people.
            bits: The source of both servers' randomness.
        """
        if len(private) > self.people:
            raise InvalidData(f"The noise of this sum counts on at most {self.people:,} people, not {len(private):,}.")
        noisy = self.tally.total(private) * 2**self.shift + self.draw(bits) + self.draw(bits)
        return np.asarray(noisy / 2.0**self.shift)


def _everybody(people: int) -> PoissonSampling:
    """Return the only process whose price is that of a sum: everybody is in it, once."""
    from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling

    return PoissonSampling(rate=1.0, steps=1, num_nodes=people)
