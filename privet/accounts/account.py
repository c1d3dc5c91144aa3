"""Accounts: the promise of a mechanism or a system for given parameters, its price and its worth."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import InvalidParameter, UnknownParameter
from privet.mechanisms import MECHANISMS, Mechanism, SeededBits
from privet.privacy import Guarantee
from privet.privacy.accounting.losses import paper_sigma
from privet.privacy.accounting.processes import Comparison, Explanation, Part
from privet.privacy.ledger import LedgerLine
from privet.release.central import CentralRelease

if TYPE_CHECKING:
    from privet.estimation.averages import AverageError
    from privet.systems import CentralSystem, LocalSystem

__all__ = [
    "CentralAccount",
    "LocalAccount",
    "MechanismAccount",
    "account",
    "account_mechanism",
    "check_known",
    "mechanism_from",
    "system_kind",
]

_NOT_A_SUM = "No person pays all of these parts, so epsilon is less than their sum."


@dataclass(frozen=True)
class MechanismAccount:
    """The promise of one report of a mechanism, and what the report is worth.

    Attributes:
        mechanism: The mechanism that is priced.
        guarantee: Its promise.
        bytes_per_report: The size of a report.
        worst_standard_deviation: The largest standard deviation of one user's estimate.
        users_for_error_one_tenth_of_range: The users whose estimates must be averaged for such an error.
        influence: The largest change that one report can make to one estimated number.
    """

    mechanism: Mechanism
    guarantee: Guarantee
    bytes_per_report: int
    worst_standard_deviation: float
    users_for_error_one_tenth_of_range: int
    influence: float

    @property
    def sampled(self) -> int | None:
        """The number of features in a report; None where the mechanism does not sample."""
        return getattr(self.mechanism, "sampled", None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "mechanism": self.mechanism.name,
            "parameters": asdict(self.mechanism),
            "sampled": self.sampled,
            "guarantee": self.guarantee.to_dict(),
            "in_words": self.guarantee.in_words(),
            "bytes_per_report": self.bytes_per_report,
            "worst_standard_deviation": self.worst_standard_deviation,
            "users_for_error_one_tenth_of_range": self.users_for_error_one_tenth_of_range,
            "influence": self.influence,
            "one_liar": self.mechanism.one_liar(),
        }


@dataclass(frozen=True)
class LocalAccount:
    """The joint promise of all that a device sends for a local system.

    Attributes:
        system: The system's name.
        guarantee: The promise.
        lines: The parts of the budget, with those that a trusted aggregator spends; empty if nothing is asked for.
        average: The error of an average over a person's neighbours, where their number was given.
    """

    system: str
    guarantee: Guarantee
    lines: tuple[LedgerLine, ...]
    average: AverageError | None = field(default=None, kw_only=True)

    @property
    def explanation(self) -> Explanation:
        """The parts of the budget, each with its unit."""
        words = {line: f"{line.part} by {line.mechanism}, for one {line.unit}" for line in self.lines}
        epsilon = tuple(Part(line.part, line.epsilon, words[line]) for line in self.lines if line.epsilon)
        delta = tuple(Part(line.part, line.delta, words[line]) for line in self.lines if line.delta)
        adds = math.isclose(sum(part.value for part in epsilon), self.guarantee.epsilon, rel_tol=1e-9)
        return Explanation(epsilon, delta, () if adds else (_NOT_A_SUM,))

    @property
    def in_words(self) -> str:
        """The promise as a sentence."""
        if not self.lines and not self.guarantee.epsilon:
            return "Nothing is asked of anybody: no report says anything about anyone."
        return self.guarantee.in_words()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "system": self.system,
            "guarantee": self.guarantee.to_dict(),
            "in_words": self.in_words,
            **({"ledger": [line.to_dict() for line in self.lines]} if self.lines else {}),
            **({} if self.average is None else {"average": self.average.to_dict()}),
            "explanation": self.explanation.to_dict(),
        }


@dataclass(frozen=True)
class CentralAccount(LocalAccount):
    """The promise of a central release, with the figures around it.

    Attributes:
        release: The release, whose own guarantee this is.
        comparisons: Further figures of the same run.
        published_epsilon: A paper's claim about its own noise of the same standard deviation; None without one.
        claim: A sentence that says what that claim is about.
    """

    release: CentralRelease
    comparisons: tuple[Comparison, ...] = ()
    published_epsilon: float | None = None
    claim: str = ""

    @property
    def explanation(self) -> Explanation:
        """The parts of epsilon and delta, as the process tells them."""
        release = self.release
        return release.process.explain(release.noise_multiplier, release.delta, release.noise)

    @property
    def sigma(self) -> float:
        """The noise in the units of HeterPoisson's paper."""
        return paper_sigma(self.release.noise_multiplier)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        claimed = {} if self.published_epsilon is None else {"published_epsilon": self.published_epsilon}
        return {
            "epsilon": self.guarantee.epsilon,
            **{each.key: each.value for each in self.comparisons},
            **claimed,
            **({"claim": self.claim} if claimed else {}),
            "sigma": self.sigma,
            "noise_multiplier": self.release.noise_multiplier,
            "noise": self.release.noise,
            "delta": self.release.delta,
            "process": self.release.process.to_dict(),
            **super().to_dict(),
        }


def account(name: str, parameters: Mapping[str, Any]) -> MechanismAccount | LocalAccount:
    """Return the account of the mechanism or system of a name; an unknown name lists the known ones.

    Args:
        name: For example "multi-bit" or "heterpoisson".
        parameters: Values by the names of the mechanism's fields; of a local system's fields and of a population
            (``dimension``, ``low``, ``high``, ``classes``, ``num_nodes``); or see
            :func:`~privet.accounts.systems.account_central`.
    """
    if name in MECHANISMS:
        return account_mechanism(mechanism_from(MECHANISMS[name], parameters))
    from privet.accounts.systems import account_system  # imports torch, which a mechanism needs not

    return account_system(system_kind(name, MECHANISMS), parameters)


def account_mechanism(mechanism: Mechanism) -> MechanismAccount:
    """Return the account of a mechanism."""
    values = mechanism.worst_values()
    reports = mechanism.perturb(values, SeededBits(0))
    deviation = float(np.sqrt(np.max(mechanism.variance(values))))
    return MechanismAccount(
        mechanism=mechanism,
        guarantee=mechanism.guarantee(),
        bytes_per_report=math.ceil((len(reports.to_bytes()) - 32) / len(reports)),
        worst_standard_deviation=deviation,
        users_for_error_one_tenth_of_range=math.ceil((deviation / (0.1 * mechanism.span)) ** 2),
        influence=mechanism.influence(),
    )


def mechanism_from(kind: type[Mechanism], parameters: Mapping[str, Any], *, small: bool = False) -> Mechanism:
    """Return a mechanism; what is not given comes from the class's ``example`` and its own defaults.

    Args:
        kind: The mechanism's class.
        parameters: Values by the names of its fields.
        small: True for a version whose reports an audit can list (default False).
    """
    check_known(kind.name, parameters, [field.name for field in fields(kind)])
    return kind(**{**kind.example, **(kind.small if small else {}), **parameters})


def system_kind(name: str, others: Collection[str] = ()) -> type[LocalSystem | CentralSystem]:
    """Return the system of a name; an unknown one is an error that also lists ``others``."""
    from privet.systems import SYSTEMS  # imports torch, which a mechanism does not need

    if name not in SYSTEMS:
        raise InvalidParameter("name", "one of " + ", ".join([*others, *SYSTEMS]), name)
    return SYSTEMS[name]


def check_known(owner: str, parameters: Collection[str], known: Collection[str]) -> None:
    """Refuse a parameter that is not among the known ones."""
    for name in parameters:
        if name not in known:
            raise UnknownParameter(name, owner, known)
