"""The base class of questions whose answer is the best of a few classes that a person is offered."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import Mechanism, OfferedResponse
from privet.release.asks._base import PER_PERSON, Ask, OwnRow
from privet.release.pretence import Pretence
from privet.release.private import PrivateData

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice(Ask):
    """The class of largest score among the classes that a person is offered; of equal ones the first.

    Formal guarantee: the answer is a public function of what the scores read, so a choice that is randomised among the
    offered classes protects all of that with its epsilon, whatever scores and offers are, and whatever the server
    learned before from others.

    Attributes:
        offers: The classes that each person is offered, ascending, N x columns, filled up with -1; whoever is offered
            fewer than two is not asked.
    """

    offers: Any = field(default=None, compare=False, repr=False, metadata=PER_PERSON)

    def __post_init__(self) -> None:
        if isinstance(self.offers, np.ndarray):
            object.__setattr__(self, "offers", _checked_offers(self.offers))
        elif isinstance(self.offers, OwnRow):
            _checked_offers(self.offers.row[None])

    @abstractmethod
    def score(self, private: PrivateData) -> NDArray[np.float64]:
        """Score each class for each person, by a public function of the private data alone."""

    def people(self) -> NDArray[np.int64] | None:
        """Return the people who are offered two classes or more."""
        return np.flatnonzero(self.options() > 1) if isinstance(self.offers, np.ndarray) else None

    def options(self) -> NDArray[np.int64]:
        """Return the number of classes that each person is offered."""
        return np.asarray((self.attachment("offers") >= 0).sum(axis=1))

    def apply(self, private: PrivateData, mechanism: Mechanism) -> NDArray[np.int64]:
        """Return the position of the best offered class, and the number of classes that were offered."""
        offers = self.rows("offers", private.users)
        options = (offers >= 0).sum(axis=1)
        if len(options) and options.min() < 2:
            raise InvalidData("Somebody who is asked is offered fewer than two classes.")
        scores = self.score(private)
        if offers.size and offers.max() >= scores.shape[1]:
            expected = f"classes below {scores.shape[1]}, which have a score"
            raise InvalidData("offered classes", expected, int(offers.max()))
        offered = np.take_along_axis(scores, np.maximum(offers, 0), axis=1)
        best = np.where(offers >= 0, offered, -np.inf).argmax(axis=1)
        return np.stack([best, options], axis=1)

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> sp.csr_array:
        """Choose the other class if it is offered, and else any but the own one."""
        offers = self.rows("offers", pretence.users)
        told = (offers == pretence.wanted[:, None]).astype(np.float64) - 0.5 * (offers == pretence.own[:, None])
        columns = mechanism.most  # type: ignore[attr-defined]
        return sp.csr_array(np.pad(told, ((0, 0), (0, max(columns - told.shape[1], 0))))[:, :columns])

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand an offer of at least two known classes."""
        own = self.rows("offers", private.users[:1])
        if len(self.offers) != population.num_nodes or (own.size and own.max() >= population.classes):
            raise InvalidData(
                f"The offered classes must be below {population.classes}, for each of {population.num_nodes} people."
            )
        if (own >= 0).sum() < 2:
            raise InvalidData("You are offered fewer than two classes, so you are not asked.")

    def asks(self, person: int) -> bool:
        """Tell whether a person is offered two classes or more."""
        return bool((self.rows("offers", np.array([person])) >= 0).sum() > 1)

    def check_row(self, name: str, mechanism: Mechanism, population: Population) -> None:
        """Refuse offers of unknown classes, and of more classes than the mechanism chooses among."""
        row = self.offers.row
        if row.size and row.max() >= population.classes:
            raise InvalidData("offered classes", f"below {population.classes}", int(row.max()))
        if (row >= 0).sum() > mechanism.most:  # type: ignore[attr-defined]
            raise InvalidData("offered classes", f"at most {mechanism.most}", int((row >= 0).sum()))  # type: ignore[attr-defined]

    def check_answers(self, users: NDArray[np.int64], reports: Any, mechanism: Mechanism) -> None:
        """Refuse answers among more or fewer classes than a person was offered."""
        if not isinstance(self.offers, np.ndarray):
            return
        _, options = mechanism.decode(reports)  # type: ignore[attr-defined]
        if not np.array_equal(options, (self.offers[users] >= 0).sum(axis=1)):
            raise InvalidReports(f"The answers to '{self.name}' must be among the classes that were offered.")

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not choose among offered options; any two of its inputs are adjacent."""
        if not isinstance(mechanism, OfferedResponse):
            expected = f"'{OfferedResponse.name}'"
            raise InvalidParameter("mechanism", expected, mechanism.name)


def _checked_offers(offers: NDArray[Any]) -> NDArray[np.int16]:
    if offers.ndim != 2 or not np.issubdtype(offers.dtype, np.integer):
        raise InvalidParameter("offers", "a matrix of classes", f"{offers.ndim}-d {offers.dtype}")
    before, after = offers[:, :-1], offers[:, 1:]
    if offers.size and (
        offers.min() < -1
        or offers.max() > np.iinfo(np.int16).max
        or ((after >= 0) & (after <= before) | (before < 0) & (after >= 0)).any()
    ):
        raise InvalidParameter("offers must be ascending classes in each row, each once, filled up with -1.")
    return offers.astype(np.int16)
