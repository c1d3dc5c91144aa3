"""A device that takes part: it trusts nobody, least of all the server that it reports to.

It reports only for a manifest whose SHA-256 is the id that its owner was given, only after its owner was shown what is
asked, only within its owner's lifetime limit, and only once: every repetition is the same bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np

from privet.collection.device.charges import Refusal
from privet.collection.device.ledger import Ledger, Withdrawal
from privet.collection.device.preparation import Prepared, prepare
from privet.collection.study.directory import Directory
from privet.collection.study.forms import OpenForm
from privet.collection.study.manifest import Study
from privet.collection.study.tokens import node_of
from privet.data import Feature, Interval, Schema, code_answers
from privet.errors import InvalidData, InvalidReports, OutOfRangeWarning
from privet.mechanisms import Bits, SystemBits
from privet.release import PrivateData

__all__ = ["Participant", "PrivateAnswers", "Refusal", "Reply"]


@dataclass(frozen=True)
class PrivateAnswers:
    """The owner's raw answers. They exist on the device only.

    Attributes:
        features: The answers, in the order of the schema: numbers, names of categories, lists of choices, and None for
            "prefer not to say" where that is an answer.
        label: The owner's class, by number or name, if the study asks for it.
        neighbours: The ids of the owner's neighbours, if the study asks for them.
    """

    features: Sequence[float | str] = field(default=(), repr=False)
    label: int | str | None = field(default=None, repr=False)
    neighbours: Sequence[int] = field(default=(), repr=False)

    def checked(self, prepared: Prepared) -> PrivateData:
        """Return the answers as the round's questions read them; bad ones are found before anything is spent.

        Answers outside their range are moved to its nearest end, also for questions that would not do so themselves.
        """
        study, node = prepared.study, prepared.node
        features, label = self._coded(study)
        for number, value in enumerate(features):
            if not _is_number(value):
                raise InvalidData(_about_answer(study, number))
        if not all(_is_count(other) and 0 <= other < study.nodes for other in self.neighbours):
            raise InvalidData(f"Each of your neighbours must be another person's id from 0 to {study.nodes - 1}.")
        if label is not None and not (_is_count(label) and 0 <= label < max(study.declared.classes, 1)):
            raise InvalidData(_about_class(study))
        private = PrivateData.one(node, study.nodes, features, label, [int(each) for each in self.neighbours])
        prepared.release.check(private)
        if len(features) != study.declared.dimension:  # nothing is asked about them
            return replace(private, features=None)
        return replace(private, features=np.clip(private.features, study.declared.low, study.declared.top))

    def shown(self, study: Study, node: int) -> bytes:
        """Return the answers as they are, which a member of the panel agrees to show.

        Args:
            study: The study.
            node: The owner's own number.
        """
        features, label = self._coded(study)
        domains, low, top = study.declared.features, study.declared.low, study.declared.top
        for number, (value, domain) in enumerate(zip(features, domains, strict=False)):
            whole = isinstance(domain, Interval) or (_is_number(value) and float(value).is_integer())
            if not (_is_number(value) and whole and low[number] <= value <= top[number]):
                raise InvalidData(_about_answer(study, number))
        if not _is_count(label) or not 0 <= label < study.declared.classes:
            raise InvalidData(_about_class(study))
        try:
            return OpenForm.of(study).pack(features, -1 if label is None else label, self.neighbours, node)
        except (InvalidReports, ValueError, TypeError) as error:
            raise InvalidData(f"What you would show cannot be sent: {error}") from None

    def _coded(self, study: Study) -> tuple[list[Any], Any]:
        """Return features and class with codes in place of names; errors name the question, and no answer."""
        schema = study.declared
        try:
            features = code_answers(schema, self.features)
        except InvalidData:
            raise InvalidData(_about_answer(study, _first_wrong(schema, self.features))) from None
        try:
            return features, schema.class_code(self.label)
        except InvalidData:
            raise InvalidData(_about_class(study)) from None

    def outside(self, study: Study) -> list[tuple[int, float]]:
        """Return the number of each answer outside its declared range, and the end of it that it would count as."""
        found = []
        for column, (domain, value) in enumerate(zip(study.declared.features, self.features, strict=False)):
            if isinstance(domain, Interval) and _is_number(value) and not domain.low <= float(value) <= domain.high:
                found.append((column, domain.low if float(value) < domain.low else domain.high))
        return found


@dataclass(frozen=True)
class Reply:
    """A report that is stored on the device and may be sent.

    Attributes:
        study: The study that it answers.
        body: The bytes that are sent.
        shows: True if they are a panel member's answers as they are.
    """

    study: Study
    body: bytes
    shows: bool = False

    def symbols(self) -> dict[str, object]:
        """Return the report as plain values: all that anybody else will see."""
        if self.shows:
            data = OpenForm.of(self.study).unpack([-1], [self.body])
            friends = {} if data.lists is None else {"neighbours": data.lists.indices.tolist()}
            return {"features": data.features[0].tolist(), "label": int(data.labels[0]), **friends}
        return self.study.release.wire.to_json(self.body)


class Deliverer(Protocol):
    """Anything that takes a report to a collector, such as :class:`privet.collection.device.client.Collector`."""

    def send(self, reply: Reply, token: str) -> str:
        """Deliver a report; "stored", or "repeated" where the collector had it already."""


class Receiver(Deliverer, Protocol):
    """Anything that can also be asked first, such as :class:`privet.collection.device.client.Collector`."""

    def why_refused(self, study_id: str, token: str) -> str | None:
        """Say why a report of this person would be refused; None if it would be taken."""


class Eraser(Protocol):
    """Anything that asks a collector to erase, such as :class:`privet.collection.device.client.Collector`."""

    def withdraw(self, token: str) -> None:
        """Have all erased that a person sent in the study."""


class Participant:
    """One owner's device with its ledger.

    Args:
        ledger: The owner's ledger.
        bits: The source of randomness; the operating system's by default, another one only in a simulation.
    """

    def __init__(self, ledger: Ledger, bits: Bits | None = None) -> None:
        self.ledger = ledger
        self._bits = SystemBits() if bits is None else bits

    def check(self, manifest: bytes, pinned: str) -> Study:
        """Return the study in a manifest that a server sent, if it is the one that the owner was told of.

        Args:
            manifest: The bytes that the server sent.
            pinned: The id that the owner was given, from elsewhere than from the server.
        """
        found = hashlib.sha256(manifest).hexdigest()
        if not hmac.compare_digest(found.encode(), pinned.strip().lower().encode()):
            raise Refusal(
                f"The server describes the study {found}, but you were invited to {pinned}. Nothing was made."
            )
        return Study.from_bytes(manifest)

    def check_directory(self, study: Study, directory: Directory) -> None:
        """Refuse a list of participants that is not the one that the study's manifest binds."""
        if study.directory is None:
            raise Refusal("The study binds no list of participants, so there is nothing to check yours against.")
        if directory.digest != study.directory or len(directory) != study.nodes:
            raise Refusal("Your list of participants is not the one that the study binds. Nothing was made.")

    def agree(self, study: Study, *, shows: bool = False) -> None:
        """Remember that the owner was shown this study (:mod:`privet.collection.device.consent`) and agreed.

        Args:
            shows: True if the owner agreed, apart from everything else, to show answers as they are.
        """
        self.ledger.show(study, shows=shows)

    def take_part(
        self,
        study: Study,
        private: PrivateAnswers,
        collector: Receiver,
        token: str,
        directory: Directory | None = None,
        prepared: Prepared | None = None,
    ) -> Reply:
        """Ask the collector whether it would take this person's report; only then draw it once, store it and send it.

        Nothing is drawn or charged for a mistyped token, an old round, or a person who answered on another device or
        was erased. A report that was drawn before, and never left, is destroyed and refunded then.

        Args:
            study: The study, as :meth:`check` returned it.
            private: The owner's raw answers.
            collector: Where the report goes.
            token: The owner's enrolment token, which names the owner's number.
            directory: As for :meth:`answer`.
            prepared: As for :meth:`answer`.
        """
        node = node_of(token)
        refused = None if self.ledger.withdrew(study) else collector.why_refused(study.id, token)
        if refused is not None:
            self.stop(study, node, refused)
        reply = self.answer(study, node, private, directory=directory, prepared=prepared)
        self.deliver(reply, collector, token)
        return reply

    def stop(self, study: Study, node: int, why: str) -> None:
        """End without a report for a study that takes none, and refund one that never left the device.

        A report that was sent before goes on: the collector may have it, and acknowledges it even after closing.

        Args:
            study: The study, as :meth:`check` returned it.
            node: The number of the owner.
            why: The collector's sentence.
        """
        if self.ledger.report(study, node) is None:
            raise Refusal(f"{why} No report was made, and nothing was spent.")
        entry = next(each for each in self.ledger.entries() if each.study == study.id)
        if entry.tried is None:
            returned = self.ledger.refund(study.id, f"The report was never sent: {why}")
            raise Refusal(f"{why} Your report was never sent; it is destroyed, and {returned:g} is refunded.")

    def answer(
        self,
        study: Study,
        node: int,
        private: PrivateAnswers,
        now: datetime | None = None,
        directory: Directory | None = None,
        prepared: Prepared | None = None,
    ) -> Reply:
        """Perturb once, store, and from then on give the same report, whatever is asked.

        No collector is asked; :meth:`take_part` does that first. The order matters: what was made is given again even
        after the study has closed; nothing is made for a study that was not shown, is not open or costs too much, nor
        for a round that does not follow the ones answered.

        Args:
            study: The study, as :meth:`check` returned it.
            node: The number of the owner.
            private: The owner's raw answers.
            now: The time; the clock's by default.
            directory: The list of participants, if the owner has it. It must be the one that the study binds.
            prepared: What :func:`privet.collection.device.preparation.prepare` made of the study for this owner; a
                study of one round without public tables needs none.
        """
        if self.ledger.withdrew(study):
            raise Refusal("You withdrew from this study, and the collector takes no report of yours any more.")
        known = self.ledger.report(study, node)
        if known is not None:
            return Reply(study, known, self.ledger.shows(study.id))
        self._require_shown(study)
        moment = datetime.now(UTC) if now is None else now
        if not study.is_open(moment):
            raise Refusal(f"{study.window} It is {moment:%Y-%m-%d %H:%M} UTC now. No report was made.")
        if directory is not None:
            self.check_directory(study, directory)
        ready = prepare(study, node) if prepared is None else prepared
        if (ready.study.id, ready.node) != (study.id, node):
            raise InvalidData("The round was prepared for another study or person. Prepare it again for this one.")
        if ready.shows:
            if not self.ledger.agreed_to_show(study.id):
                raise Refusal(
                    "You are in the panel of this study, which asks you to show your answers as they are, and you have "
                    "not agreed to that. Nothing was made."
                )
            body = private.shown(study, node)
            return Reply(study, self.ledger.reserve(ready.chain, node, lambda: body, shows=True), shows=True)
        checked = private.checked(ready)
        return Reply(study, self.ledger.reserve(ready.chain, node, lambda: self._perturb(ready, checked)))

    def deliver(self, reply: Reply, collector: Deliverer, token: str) -> str:
        """Send a report, and remember that it left the device and that the collector has it.

        Args:
            collector: Where it goes.
            token: The owner's enrolment token.

        Returns:
            "stored", or "repeated" where the collector had it already.
        """
        self.ledger.sending(reply.study.id, reply.body)
        outcome = collector.send(reply, token)
        self.ledger.acknowledge(reply.study.id)
        return outcome

    def withdraw(self, study: Study, collector: Eraser, token: str) -> Withdrawal:
        """Have all erased that was sent in a study, in all its rounds, and make no report for it any more.

        What was sent stays charged, because somebody has seen it. What never left the device is destroyed and refunded.

        Args:
            study: The study, or one of its rounds, as :meth:`check` returned it.
            collector: Where the reports were sent.
            token: The owner's enrolment token.
        """
        collector.withdraw(token)
        return self.ledger.withdraw(study)

    def _perturb(self, prepared: Prepared, private: PrivateData) -> bytes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutOfRangeWarning)  # clipped on purpose; the owner sees it beforehand
            answers = prepared.release.perturb(private, self._bits)
        (body,) = prepared.release.wire.pack(answers)
        return body

    def _require_shown(self, study: Study) -> None:
        if self.ledger.was_shown(study.id):
            return
        for other in self.ledger.shown():
            if other.title == study.title and other.operator == study.operator:
                raise Refusal(
                    f"{_difference(study, other)} You agreed to another study of this name. Nothing was made."
                )
        raise Refusal(f"You have not agreed to the study '{study.title}' yet. Nothing was made.")


def _about_answer(study: Study, number: int) -> str:
    """Say what an answer must be, without the answer itself."""
    if number >= study.declared.dimension:
        return f"The study asks for {study.declared.dimension} features. Leave out answer {number + 1}."
    return f"Answer {number + 1}, '{study.question(number)}', must be {study.allowed(number)}."


def _first_wrong(schema: Schema, answers: Sequence[Any]) -> int:
    """Return the number of the first answer that is no answer to its question."""
    for number in range(len(answers)):
        try:
            code_answers(schema, answers[: number + 1])
        except InvalidData:
            return number
    return len(answers)


def _about_class(study: Study) -> str:
    """Say what the class must be, without the answer itself."""
    asked = "Your class" if study.class_question is None else f"Your answer to '{study.class_question}'"
    return f"{asked} must be {study.allowed_classes}."


def _difference(study: Study, shown: Study) -> str:
    """Say in one sentence what a study asks that a manifest of the same name did not."""
    asked, seen = study.declared.features, shown.declared.features
    for column in range(max(len(asked), len(seen))):
        if column >= len(seen):
            return f"The study asks for {len(asked)} features, and you were shown {len(seen)}."
        if column >= len(asked) or asked[column] != seen[column]:
            found = _domain(asked[column]) if column < len(asked) else "nothing"
            name = shown.question(column)
            return f"The range of {name} is {found}, and you were shown {_domain(seen[column])}."
    if study.price.epsilon != shown.price.epsilon:
        return f"The study costs an epsilon of {study.price.epsilon:g}, and you were shown {shown.price.epsilon:g}."
    return f"The study is {study.id}, and you were shown {shown.id}."


def _domain(domain: Feature) -> str:
    if isinstance(domain, Interval):
        return f"[{domain.low:g}, {domain.high:g}]"
    return f"{domain.count} categories" if domain.names is None else ", ".join(domain.names)


def _is_number(value: object) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(-1e300 < value < 1e300)  # an integer may have more digits than a float can hold


def _is_count(value: object) -> bool:
    """Tell whether a value is a whole number: True is none, and neither is 3.0."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
