"""The trust boundary as a function boundary: ``collect`` stands for all devices, ``fit`` is the server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.data.interop import as_graph
from privet.data.population import Population, Public
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.mechanisms import Bits, Mechanism, RandomizedResponse, SeededBits, SystemBits
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import check_epsilon
from privet.privacy.ledger import LedgerLine
from privet.release import Answers, LocalRelease, PrivateData, Question
from privet.release.asks.features import Features
from privet.release.asks.label import Label
from privet.release.screening import screen
from privet.systems.collected import Collected, Showing, Shown, labelled, public_view
from privet.systems.declared import Declared
from privet.systems.fitted import Fitted

if TYPE_CHECKING:
    from privet.systems.controls import Control

__all__ = ["Altered", "C", "LocalSystem", "UnsuitableRelease", "unaltered"]

C = TypeVar("C", bound=Collected)

_FEW_STEPS = (2, 0)  # of averaging, which suit features without noise
_LOST = 1e-4  # an honest report is left out by the screening with at most twice this probability

Altered: TypeAlias = Callable[[Answers], Answers]


def unaltered(answers: Answers) -> Answers:
    """Leave the answers of a round as devices sent them."""
    return answers


class UnsuitableRelease(PrivetError):
    """A system that cannot learn from the answers to a release."""


@dataclass(frozen=True, kw_only=True)
class LocalSystem(Declared, ABC):
    """A system of the local model. Hyper-parameters are fields; private data are arguments of ``collect`` only.

    Attributes:
        epsilon_features: The true budget of a feature report.
        epsilon_labels: The budget of a label report; None if the labels of training and validation nodes are public.
        seed: None draws from the operating system; a number makes a simulation (devices and training) repeat.
        defence: Defences against liars, of those that the system knows; none by default. "screen" leaves out reports
            that honest devices hardly ever send, "trim" leaves out the neighbours who say most and least, "agree"
            believes in a pair only if both ends report it, "bound" limits how much one person's report counts.
    """

    name: ClassVar[str]
    model: ClassVar[str] = "local"
    needs: ClassVar[tuple[str, ...]] = ("features", "schema", "labels", "split")
    """The fields that a graph must have for ``collect``."""
    on_cluster: ClassVar[bool] = False
    """Whether the server only multiplies with the adjacency, so that it may lie in a store on a cluster."""
    search_space: ClassVar[dict[str, list[Any]]] = {}
    """The values that a search over settings tries, by field."""
    defences: ClassVar[tuple[str, ...]] = ()
    """The defences against liars that the system knows."""
    smoothing: ClassVar[str | None] = None
    """The setting with the number of steps over which reports are averaged, if there is one."""

    epsilon_features: float = 1.0
    epsilon_labels: float | None = None
    seed: int | None = None
    defence: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.check_types()
        object.__setattr__(self, "defence", tuple(self.defence))
        unknown = [each for each in self.defence if each not in self.defences]
        if unknown:
            known = " and ".join(self.defences)
            expected = f"one or more of {known}" if known else f"left out: {self.name} has no defences"
            raise InvalidParameter("defence", expected, unknown[0])
        for name in ("epsilon_features", "epsilon_labels", "epsilon_edges"):
            value = getattr(self, name, None)
            if value is not None:
                check_epsilon(value, name=name)

    def feature_mechanism(self, population: Population) -> Mechanism:
        """Return the randomiser of the feature vector; a system that asks for other things has none."""
        raise InvalidData(f"{self.name} does not ask for the feature vector, so nothing randomises it.")

    @abstractmethod
    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Train on what was collected. The result's guarantee is that of the reports: the rest is post-processing."""

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Return what a device is asked in all rounds: its features, and its label where labels are private."""
        asked = [Question(Features(), self.feature_mechanism(population))]
        if self.epsilon_labels is not None:
            asked.append(Question(Label(), RandomizedResponse.declare(population, epsilon=self.epsilon_labels)))
        return tuple(asked)

    def release(self, public: Public) -> LocalRelease:
        """Return everything that leaves the devices.

        Args:
            public: The population: anything with a ``schema`` and ``num_nodes``, such as a graph. Nothing else of it
                is read.
        """
        population = Population.of(public)
        return LocalRelease(self.questions(population), population)

    def guarantee(self, public: Public) -> Guarantee:
        """Return what every device is promised, before anything is collected."""
        return self.release(public).guarantee()

    def lines(self, public: Public) -> tuple[LedgerLine, ...]:
        """Return the parts of the budget."""
        return self.release(public).lines()

    # Rounds: each is a release whose tables are made from what is public after the rounds before.

    def next_round(self, collected: Collected) -> LocalRelease | None:
        """Draw up the next questions from what is public by now; None after the last round.

        By default everything is asked at once. A system that asks in rounds returns some of its :meth:`questions` with
        their public tables. A release without questions asks nobody but the people who show their data, which a
        study waits for.

        Args:
            collected: The answers of the rounds so far, what people show, and what is public. A study calls this for
                its first round before anybody has shown anything.
        """
        waiting = self.waiting(collected)
        return replace(collected.release, questions=waiting) if waiting else None

    def waiting(self, collected: Collected) -> tuple[Question, ...]:
        """Return the questions that no round has asked yet, without their tables."""
        planned = self.questions(collected.release.population)
        return tuple(question for question in planned if question.name not in collected.answers)

    def invited(self, question: Question, collected: Collected) -> NDArray[np.int64] | None:
        """Return the ids of the people who are asked a question, by public facts alone.

        None asks everybody: in a study everybody whom the operator chose, in a simulation everybody who has what is
        asked for.

        Args:
            question: A question of the next round, with its tables.
            collected: Everything that the server holds before that round.
        """
        return question.ask.people()

    def shows(self, graph: Graph) -> Showing | None:
        """Return who shows features and class as they are; None if nobody does.

        A simulation shows what they have. In a study the operator names the people of a ``panel``, a setting that such
        a system has. The release must disclose it.

        Args:
            graph: The people; only public facts of it may be used, such as the split and who has a class.
        """
        return None

    def sums(self, graph: Graph, bits: Bits) -> Any:
        """Play the trusted aggregator, whom the release states; None if there is none.

        Args:
            graph: The people with their private fields.
            bits: The randomness of the noise.
        """
        return None

    def opened(self, public: Graph, shown: Shown | None = None, sums: Any = None) -> Collected:
        """Return what the server holds before the first answers.

        Args:
            public: Schema, and topology and labels where they are public.
            shown: The features and classes of people who show them.
            sums: Noisy sums of a trusted aggregator.
        """
        return Collected(public, Answers(replace(self.release(public), questions=()), {}), shown, sums)

    def collect(self, graph: Graph, bits: Bits | None = None, *, altered: Altered = unaltered) -> Collected:
        """Play every device, round after round, and give the server the answers and what is public.

        Args:
            graph: The people with their private fields.
            bits: The devices' randomness. By default it is the operating system's, or that of ``seed`` where one is
                given.
            altered: Changes the answers of each round before the server sees them: for controls and for simulated
                liars.
        """
        self.check(graph)
        drawn, showing = self.bits() if bits is None else bits, self.shows(graph)
        shown = None if showing is None else Shown.of(graph, showing)
        collected = self.opened(public_view(graph, self.release(graph)), shown, self.sums(graph, drawn))
        able = np.flatnonzero(labelled(graph))
        while (release := self.next_round(collected)) is not None:
            asked = {question.name: self.asked(question, collected, able) for question in release.questions}
            if not asked:
                raise InvalidData(f"{self.name} draws up a round without a question although everybody has answered.")
            collected.answers.check_next(release, asked)  # before anything is spent
            collected = collected.joined(altered(release.perturb(PrivateData.of(graph), drawn, asked)))
        return collected

    def asked(self, question: Question, collected: Collected, able: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of the people whom a simulation asks a question.

        Args:
            question: The question with its tables.
            collected: Everything that the server holds before.
            able: The ids of training and validation nodes that have a class, who alone can tell it.
        """
        chosen = self.invited(question, collected)
        if chosen is not None:
            return chosen
        if question.name != Label.name:
            return np.arange(collected.num_nodes)
        shown = collected.shown
        return able if shown is None else np.setdiff1d(able, shown.users[shown.labels >= 0])  # they show it

    def defended(self, collected: C) -> C:
        """Leave out reports that honest devices hardly ever send, if "screen" is among the defences."""
        if "screen" not in self.defence:
            return collected
        return replace(collected, answers=screen(collected.answers).kept(collected.answers, _LOST))

    def topology(self, collected: Collected) -> Graph:
        """Return the graph that the server learns on: the public one."""
        return collected.topology

    def dealt(self, collected: Collected) -> Collected:
        """Deal the reports whose worth is in question to other people at random: a control that needs no raw data."""
        from privet.systems.controls import shuffled_reports

        return shuffled_reports(collected, self.seed)

    @classmethod
    def cluster_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return some settings with those added that a topology in a store needs."""
        return dict(settings)

    def fitted(self, collected: Collected, probabilities: NDArray[np.float32], **rest: Any) -> Fitted:
        """Return the result of training; ``rest`` are further fields of :class:`Fitted`."""
        promise, lines = collected.guarantee(), collected.lines()
        settings = {name: value for name, value in self.settings().items() if name != "seed"}  # it undoes the noise
        return Fitted(self.name, promise, probabilities, settings=settings, lines=lines, **rest)

    @classmethod
    def from_release(cls, release: LocalRelease, **settings: Any) -> Self:
        """Make the system that learns from the answers to a release.

        Mechanisms and budgets are the release's. A system whose own release would be another one cannot learn from it,
        and that is an error.

        Args:
            release: The questions that devices were asked.
            **settings: Other settings of the system.
        """
        decided = cls.decided_by(release)
        unknown = sorted(settings.keys() - {field.name for field in fields(cls)})
        if unknown:
            raise InvalidParameter(unknown[0], "one of its settings", settings[unknown[0]])
        taken = sorted(settings.keys() & decided.keys())
        if taken:
            raise InvalidParameter(taken[0], f"the release's, {decided[taken[0]]!r}", settings[taken[0]])
        names = ", ".join(f"{question.name} ({question.mechanism.name})" for question in release.questions)
        refusal = f"{cls.name} cannot learn from a study that asks for {names}."
        try:
            system = cls(**settings, **decided)
            fits = system.release(release.population).matches(release)
        except (TypeError, InvalidData, InvalidParameter) as error:
            if settings and cls.learns_from(release):
                raise  # the other settings are at fault
            raise UnsuitableRelease(refusal) from error
        if not fits:
            raise UnsuitableRelease(refusal)
        return system

    @classmethod
    def decided_by(cls, release: LocalRelease) -> dict[str, Any]:
        """Return the settings that a release decides: budgets, mechanisms and the parameters of both."""
        known = {field.name for field in fields(cls)}
        decided: dict[str, Any] = {name: None for name in ("epsilon_labels", "epsilon_edges") if name in known}
        for question in release.questions:
            ask = question.ask
            declared = {name: getattr(ask, name) for name in ask.parameters() if name not in ask.drawn_up_later()}
            parameters = declared | question.mechanism.parameters()
            decided[question.ask.budget] = parameters.pop("epsilon")
            if question.name == Features.name and "mechanism" in known:
                decided["mechanism"] = question.mechanism.name
            decided |= {name: value for name, value in parameters.items() if name in known}
        return decided

    @classmethod
    def learns_from(cls, release: LocalRelease) -> bool:
        """Tell whether the system can learn from the answers to a release."""
        try:
            cls.from_release(release)
        except UnsuitableRelease:
            return False
        return True

    def controls(self) -> tuple[Control, ...]:
        """Return the figures that stand beside the system's own."""
        from privet.systems import controls as known

        return (
            known.STRUCTURE_ONLY,
            known.STRUCTURE,
            known.LABEL_PROPAGATION,
            known.FEATURES_ONLY,
            known.MAJORITY,
            known.NON_PRIVATE,
        )

    def without_privacy(self) -> Self:
        """Return the same system with everything public that it can take as public, which protects nobody."""
        return replace(self, epsilon_labels=None)

    def on_raw_data(self) -> tuple[Self, ...]:
        """Return the variants among which validation labels choose on raw data, the system as it is first.

        Many steps of averaging remove noise from reports, but blur raw features.
        """
        name = self.smoothing
        if name is None:
            return (self,)
        changes: list[dict[str, Any]] = [{name: steps} for steps in _FEW_STEPS if steps < getattr(self, name)]
        return (self, *(replace(self, **each) for each in changes))

    def figures(self, public: Public) -> dict[str, float]:
        """Return public figures of the training that a reader may want to know."""
        return {}

    def settings(self) -> dict[str, Any]:
        """Return the hyper-parameters as plain values."""
        return asdict(self) | {"defence": list(self.defence)}

    def bits(self) -> Bits:
        """Return the source of the devices' randomness."""
        return SystemBits() if self.seed is None else SeededBits(self.seed)

    def check(self, graph: Graph) -> None:
        """Refuse a graph that the system cannot work on, before anything is collected or trained."""
        owner = type(self).__name__
        as_graph(graph, owner).require(*self.needs, owner=owner)
        hidden = graph.schema is not None and graph.schema.private_edges
        if hidden and not self.release(graph).asks_about(Unit.NEIGHBOUR_BIT):
            raise InvalidData(
                f"{owner} needs public edges, and the schema says that edges are private. Use a system that asks about "
                "them, such as solitude."
            )

    def _check_least(self, **bounds: int) -> None:
        for name, bound in bounds.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise InvalidParameter(name, f"an integer of at least {bound}", value)

    def _check_positive(self, *names: str) -> None:
        for name in names:
            if not getattr(self, name) > 0:
                raise InvalidParameter(name, "a number above 0", getattr(self, name))
