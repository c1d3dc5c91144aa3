"""The base class of what can be asked."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism
from privet.privacy import Unit

if TYPE_CHECKING:
    from privet.release.private import PrivateData

__all__ = ["ATTACHED", "DRAWN_UP", "Ask", "digest"]


ATTACHED: Mapping[str, Any] = {"attached": True}
"""The metadata of a field that holds a large public array, such as a table over all people.

Declare it as ``field(default=None, compare=False, repr=False, metadata=ATTACHED)``. It holds the array, or the digest
of an array that is elsewhere (a manifest names digests only), or None as long as the array is not drawn up. Asks are
equal if their other fields are; digests tell arrays apart.
"""

DRAWN_UP: Mapping[str, Any] = {"drawn_up": True}
"""The metadata of a small field that belongs to attached arrays, and is decided with them."""


def digest(array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array's type, shape and little-endian content."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    head = f"{plain.dtype.str} {plain.shape} ".encode()
    return "sha256:" + hashlib.sha256(head + plain.tobytes()).hexdigest()


@dataclass(frozen=True)
class Ask(ABC):
    """A private field and the public function that a device applies to it before it randomises the result.

    The fields of a subclass are the function's public parameters; they travel in the manifest, attached
    arrays by their digest.

    Attributes:
        name: The word for it in manifests, and the key of its answers.
        unit: The unit of privacy: the change of the private field that one answer hides.
        part: The name of the line in a budget.
        subject: The beginning of a sentence to the owner, such as "your answers".
        budget: The name of the setting that holds its epsilon in a system, such as "epsilon_features".
        counted_once: True if the function lets at most one end of each pair answer about it, provided that everybody
            has the same parameters; a relationship then costs as much as one bit of a list.
        instead_of: The names of questions that nobody is asked who is asked this one; the dearest of them is charged.
        other_pairs_than: The names of questions about pairs that this one never counts; the dearest is charged.
    """

    name: ClassVar[str]
    unit: ClassVar[Unit]
    part: ClassVar[str]
    subject: ClassVar[str]
    budget: ClassVar[str]
    counted_once: ClassVar[bool] = False
    instead_of: ClassVar[tuple[str, ...]] = ()
    other_pairs_than: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """Return the names of the function's public parameters."""
        return tuple(each.name for each in fields(cls))

    @classmethod
    def attachments(cls) -> tuple[str, ...]:
        """Return the names of the parameters that are large public arrays."""
        return tuple(each.name for each in fields(cls) if each.metadata.get("attached"))

    @classmethod
    def drawn_up_later(cls) -> tuple[str, ...]:
        """Return the names of the parameters that earlier rounds may decide, which a promise does not depend on."""
        return tuple(each.name for each in fields(cls) if each.metadata.keys() & {"attached", "drawn_up"})

    def attachment(self, name: str) -> NDArray[Any]:
        """Return an attached array; it is an error if it is not here."""
        value = getattr(self, name)
        if isinstance(value, np.ndarray):
            return value
        why = "is not drawn up yet" if value is None else f"with digest {value} was not downloaded"
        raise InvalidData(f"The question '{self.name}' cannot be answered: its public '{name}' {why}; attach it first.")

    def attach(self, **arrays: NDArray[Any]) -> Self:
        """Return this ask with its arrays; one that differs from a digest that is already declared is refused.

        Args:
            arrays: The arrays by the names of their fields.
        """
        ready = replace(self, **arrays)
        for name in arrays:
            declared, found = getattr(self, name), digest(ready.attachment(name))
            if isinstance(declared, str) and declared != found:
                raise InvalidData(f"'{name}' of the question '{self.name}'", f"the one with digest {declared}", found)
        return ready

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values, attached arrays as their digests."""
        values = {name: getattr(self, name) for name in self.parameters()}
        return {name: digest(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def people(self) -> NDArray[np.int64] | None:
        """Return the ids of the people who are asked, where the parameters say so; None leaves it to the system."""
        return None

    def check_beside(self, other: Ask) -> None:
        """Refuse arrays that do not go with another question's, if one price is charged for both."""
        return

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
