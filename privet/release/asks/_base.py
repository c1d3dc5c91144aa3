"""The base class of what can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism
from privet.privacy import Unit
from privet.release.blobs import array_digest, array_of, blob_of, new_salt, salt_of
from privet.release.pretence import Pretence
from privet.release.tree import tree_root

if TYPE_CHECKING:
    from privet.release.private import PrivateData

__all__ = ["ATTACHED", "DRAWN_UP", "PER_PERSON", "Ask", "OwnRow"]


ATTACHED: Mapping[str, Any] = {"attached": True}
"""The metadata of a field that holds a large public array, such as a table over all people.

Declare it as ``field(default=None, compare=False, repr=False, metadata=ATTACHED)``. It holds the array, or the digest
of an array that is elsewhere (a manifest names digests only), or None as long as the array is not drawn up. Asks are
equal if their other fields are; digests tell arrays apart.
"""

PER_PERSON: Mapping[str, Any] = {"attached": True, "per_person": True}
"""The metadata of an attached array whose row i is for person i alone.

A manifest names the root of a hash tree over its rows, so that a device needs its own row and a proof only
(:mod:`privet.release.tree`).
"""

DRAWN_UP: Mapping[str, Any] = {"drawn_up": True}
"""The metadata of a small field that belongs to attached arrays, and is decided with them."""


@dataclass(frozen=True, eq=False)
class OwnRow:
    """The row of one person in an array that the device does not have: it was proved to be in the declared one.

    Attributes:
        person: The person's id.
        row: The row.
        people: The number of rows of the whole array.
    """

    person: int
    row: NDArray[Any]
    people: int

    def __getitem__(self, users: NDArray[np.int64]) -> NDArray[Any]:
        """Return the rows of some people, who must all be this person."""
        if (np.asarray(users) != self.person).any():
            raise InvalidData(f"This device has only the row of person {self.person} of a public table.")
        return np.repeat(self.row[None], len(users), axis=0)

    def __len__(self) -> int:
        return self.people


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
        instead_of: The names of questions that nobody is asked who is asked this one; the dearest of them is charged.
        other_pairs_than: The names of questions about pairs that this one never counts; the dearest is charged.
        publishes_classes: True if every participant is given a table of the classes that people reported or showed.
        weighs_friends: True if the function weighs friends beside features: a panel from which it is learned then shows
            its friends as well.
        salts: The salts of attached arrays by name. They are part of what digests are made of and of no manifest:
            whoever has a manifest alone cannot try out what an array might have been.
    """

    name: ClassVar[str]
    unit: ClassVar[Unit]
    part: ClassVar[str]
    subject: ClassVar[str]
    budget: ClassVar[str]
    instead_of: ClassVar[tuple[str, ...]] = ()
    other_pairs_than: ClassVar[tuple[str, ...]] = ()
    publishes_classes: ClassVar[bool] = False
    weighs_friends: ClassVar[bool] = False
    salts: Mapping[str, bytes] = field(default_factory=dict, kw_only=True, compare=False, repr=False)

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """Return the names of the function's public parameters."""
        return tuple(each.name for each in fields(cls) if each.name != "salts")

    @classmethod
    def attachments(cls) -> tuple[str, ...]:
        """Return the names of the parameters that are large public arrays."""
        return tuple(each.name for each in fields(cls) if each.metadata.get("attached"))

    @classmethod
    def drawn_up_later(cls) -> tuple[str, ...]:
        """Return the names of the parameters that earlier rounds may decide, which a promise does not depend on."""
        return tuple(each.name for each in fields(cls) if each.metadata.keys() & {"attached", "drawn_up"})

    @classmethod
    def per_person(cls) -> tuple[str, ...]:
        """Return the names of the attachments of which a device needs one row only."""
        return tuple(each.name for each in fields(cls) if each.metadata.get("per_person"))

    def needs(self, name: str) -> bool:
        """Tell whether an attached array is part of the function that these parameters declare."""
        return True

    def attachment(self, name: str) -> NDArray[Any]:
        """Return an attached array; it is an error if it is not here."""
        value = getattr(self, name)
        if isinstance(value, np.ndarray):
            return value
        why = "is not drawn up yet" if value is None else f"with digest {value} was not downloaded"
        raise InvalidData(f"The question '{self.name}' cannot be answered: its public '{name}' {why}; attach it first.")

    def rows(self, name: str, users: NDArray[np.int64]) -> NDArray[Any]:
        """Return the rows of some people in an attached array; on a device, its owner's."""
        value = getattr(self, name)
        return value[users] if isinstance(value, OwnRow) else self.attachment(name)[users]

    def attach(self, **arrays: NDArray[Any] | bytes) -> Self:
        """Return this ask with its arrays; one that differs from a digest that is already declared is refused.

        Args:
            arrays: The arrays by the names of their fields, or the blobs in which they are published with their salts.
        """
        blobs = {name: given for name, given in arrays.items() if isinstance(given, bytes)}
        salts = {name: salt for name, salt in self.salts.items() if name not in arrays}
        salts |= {name: salt_of(blob) for name, blob in blobs.items()}
        ready = replace(self, **arrays | {name: array_of(blob) for name, blob in blobs.items()}, salts=salts)
        for name in arrays:
            declared = getattr(self, name)
            if isinstance(declared, str) and declared != (found := ready.digest(name)):
                raise InvalidData(f"'{name}' of the question '{self.name}'", f"the one with digest {declared}", found)
        return ready

    def sealed(self, salts: Mapping[str, bytes] | None = None) -> Self:
        """Return this ask with a salt for each attached array, so that a manifest's digests can be published.

        Args:
            salts: The salts by the names of their fields; new ones from the operating system by default.
        """
        return replace(self, salts={name: new_salt() for name in self.attachments()} if salts is None else salts)

    def digest(self, name: str) -> str:
        """Return the digest of an attached array, by which a manifest names it."""
        array, salt = self.attachment(name), self.salts.get(name, b"")
        return tree_root(array, salt) if name in self.per_person() else array_digest(array, salt)

    def blob(self, name: str) -> bytes:
        """Return an attached array as it is published, with its salt."""
        return blob_of(self.attachment(name), self.salts.get(name, b""))

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values, attached arrays as their digests."""
        values = {name: getattr(self, name) for name in self.parameters()}
        return {name: self.digest(name) if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def people(self) -> NDArray[np.int64] | None:
        """Return the ids of the people who are asked, where the parameters say so; None leaves it to the system."""
        return None

    def asks(self, person: int) -> bool:
        """Tell whether a person is asked, where the attached arrays say so."""
        chosen = self.people()
        return chosen is None or bool((chosen == person).any())

    def check_row(self, name: str, mechanism: Mechanism, population: Population) -> None:
        """Refuse an owner's row of an attached array that the question cannot have.

        Args:
            name: The name of the attachment.
            mechanism: The mechanism of the question.
            population: The public facts about the people.
        """
        return

    def check_answers(self, users: NDArray[np.int64], reports: Any, mechanism: Mechanism) -> None:
        """Refuse reports that these people cannot have sent, where the attached arrays tell.

        Args:
            users: The people's ids.
            reports: Their reports, which the mechanism could have made.
            mechanism: The mechanism.
        """
        return

    def check_beside(self, other: Ask) -> None:
        """Refuse arrays that do not go with another question's, if one price is charged for both."""
        return

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> sp.csr_array | None:
        """Return the directions in which estimates move if their owners pass for other classes, liars x columns.

        None if what an answer says about a class is for a model to learn; liars then have to teach it a code.

        Args:
            pretence: The lies.
            mechanism: The mechanism of the question.
        """
        return None

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
            raise InvalidParameter(
                f"The question '{self.name}' needs a mechanism that protects a {self.unit}; {mechanism.name} does not."
            )
