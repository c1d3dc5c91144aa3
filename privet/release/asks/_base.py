"""The base class of what can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from privet.data.population import Population
from privet.errors import InvalidParameter
from privet.mechanisms import Mechanism
from privet.privacy import Unit

if TYPE_CHECKING:
    from privet.release.private import PrivateData

__all__ = ["Ask"]


@dataclass(frozen=True)
class Ask(ABC):
    """A private field and the public function that a device applies to it before it randomises the result.

    The fields of a subclass are the function's public parameters; they travel in the manifest.

    Attributes:
        name: The word for it in manifests, and the key of its answers.
        unit: The unit of privacy: the change of the private field that one answer hides.
        part: The name of the line in a budget.
        subject: The beginning of a sentence to the owner, such as "your answers".
        budget: The name of the setting that holds its epsilon in a system, such as "epsilon_features".
    """

    name: ClassVar[str]
    unit: ClassVar[Unit]
    part: ClassVar[str]
    subject: ClassVar[str]
    budget: ClassVar[str]

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """Return the names of the function's public parameters."""
        return tuple(field.name for field in fields(cls))

    @abstractmethod
    def apply(self, private: PrivateData, mechanism: Mechanism) -> Any:
        """Compute, on the device, the value that ``mechanism`` randomises; one row a person."""

    @abstractmethod
    def check(self, private: PrivateData, population: Population) -> None:
        """Refuse answers that do not fit the declaration: found on the device, before anything is spent."""

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not protect this ask's unit."""
        protected = mechanism.guarantee().unit
        if protected != self.unit:
            expected = f"one that protects a {self.unit}"
            raise InvalidParameter("mechanism", f"the question '{self.name}'", expected, mechanism.name)
