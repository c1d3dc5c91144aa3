"""Inquiry's settings, and everything that follows from them before anybody is asked: questions, promise, budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.data.population import Population
from privet.errors import InvalidParameter
from privet.mechanisms import Counts, MultiBit, OfferedResponse, RandomizedResponse, SubsetResponse
from privet.release import LocalRelease, Question
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.label import Label
from privet.release.asks.person import Person
from privet.release.asks.person_again import PersonAgain
from privet.release.asks.resemblance import Resemblance
from privet.release.blobs import array_digest
from privet.release.price import Aggregate
from privet.systems.base import LocalSystem
from privet.systems.local.inquiry.sums import (
    class_sums_aggregate,
    class_sums_release,
    server_sums_aggregate,
    server_sums_of,
)

__all__ = ["InquirySettings"]

READS = ("everything", "friends", "features")
_SOURCES = ("panel", "pilot", "class_sums", "server_sums", "scorer")
_PANEL = 0.1  # the share of people in a panel where no other source of a scorer is named
_MOST_OPTIONS = 255
_MOST_SUBSETS = 15  # there are up to 6,435 subsets of 15 options


@dataclass(frozen=True, kw_only=True)
class InquirySettings(LocalSystem):
    """The settings of :class:`~privet.systems.Inquiry`, and the questions and the promise that follow from them.

    Attributes:
        epsilon_features: The budget of the feature question; None if features are not asked about. 1 by default where
            friends are not asked about either.
        epsilon_edges: The budget of the friend question: of a list bit, half of a relationship's; None if the topology
            is public.
        epsilon_person: The budget of the person question: of everything on the device together, features and whole
            friend list; None if it is not asked. It takes the place of the other two questions.
        reads: What the person question reads: "everything" (default), "friends" or "features".
        waves: The number of waves of the person question, 1 (default) or 2. The second wave's devices count friends
            over a fuller table; everybody answers in one of them.
        subsets: True to answer with several of the offered classes at once where that tells more about many classes,
            which suits small budgets and answers that are combined with others'.
        panel: The people who show their features and class (and friends, for a person question that reads both): a
            share of all people, drawn among training nodes, or their ids, or a mask. 0.1 by default where no other
            source of a scorer is named.
        pilot: The share of people, among training nodes, who spend the budget on a noisy feature vector instead.
        class_sums: The central epsilon of class sums from a trusted aggregator of labelled people's features.
        server_sums: The epsilon of class sums by two servers, neither of which sees anybody's features.
        scorer: A public scorer: a matrix of (features + 1) x classes, or a function of a feature matrix.
        public_features: True if everybody's features are public and only friend lists are private.
        calibrators: The share of labelled people who answer too, so that the weights of answers can be fitted.
        everybody: True to ask also those whose answer could not change a prediction.
        cap: The largest number of friends in a class that a device reports.
        thorough: True to spend minutes on the certificate of predictions from counts of friends, which is then
            exact for more than one false class.
    """

    epsilon_features: float | None = None  # type: ignore[assignment]
    epsilon_edges: float | None = None
    epsilon_person: float | None = None
    reads: str = "everything"
    waves: int = 1
    subsets: bool = False
    panel: Any = None
    pilot: float | None = None
    class_sums: float | None = None
    server_sums: float | None = None
    scorer: Any = None
    public_features: bool = False
    calibrators: float = 0.3
    everybody: bool = False
    cap: int = 64
    thorough: bool = False

    def __post_init__(self) -> None:
        if self.epsilon_features is None and self.epsilon_edges is None and self.epsilon_person is None:
            object.__setattr__(self, "epsilon_features", 1.0)
        if self.scorer is not None and not callable(self.scorer):
            object.__setattr__(self, "scorer", np.asarray(self.scorer))
        super().__post_init__()
        self._check_person()
        if self.public_features and (self.asks_features or not self.hides_edges):
            raise InvalidParameter(
                "Where features are public, only friends can be asked about. Give epsilon_edges, or epsilon_person "
                'with reads="friends", and no epsilon_features.'
            )
        named = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(named) > 1:
            raise InvalidParameter(f"A scorer has one source. Give {named[0]} or {named[1]}, not both.")
        if named and not self.asks_features:
            raise InvalidParameter(
                f"{named[0]} makes a scorer for the question about features, which is not asked. Give "
                f"epsilon_features, or no {named[0]}."
            )
        if not named and self.asks_features:
            object.__setattr__(self, "panel", _PANEL)
        self._check_shares()
        self._check_least(cap=1)

    @property
    def asks_features(self) -> bool:
        """True if answers depend on features."""
        return self.epsilon_features is not None or (self.epsilon_person is not None and self.reads != "friends")

    @property
    def _shows_lists(self) -> bool:
        """True if a panel shows its friends too."""
        return self.epsilon_person is not None and self.panel is not None and self.reads == "everything"

    @property
    def hides_edges(self) -> bool:
        """True if friend lists are private."""
        return self.epsilon_edges is not None or (self.epsilon_person is not None and self.reads != "features")

    def _check_person(self) -> None:
        if self.reads not in READS:
            raise InvalidParameter("reads", f"of {', '.join(READS)}", self.reads)
        if self.waves not in (1, 2):
            raise InvalidParameter("waves", "1 or 2", self.waves)
        if self.epsilon_person is None:
            if self.waves > 1 or self.reads != "everything":
                raise InvalidParameter(
                    "Waves, and what is read, are settings of the person question. Give epsilon_person."
                )
            return
        if self.epsilon_features is not None or self.epsilon_edges is not None:
            raise InvalidParameter(
                "The person question is about everything on the device and takes the place of the other two. Give "
                "epsilon_person alone."
            )
        if self.waves > 1 and self.reads == "features":
            raise InvalidParameter(
                "A second wave counts over a fuller table of friends. Let the question read friends."
            )
        for name in ("pilot", "class_sums", "server_sums"):
            if getattr(self, name) is not None:
                raise InvalidParameter(
                    f"The person question cannot weigh friends beside a scorer from {name}. Give a panel or a scorer."
                )

    def _check_shares(self) -> None:
        if self.panel is not None and not isinstance(self.panel, float | int):
            people = np.asarray(self.panel)
            ids = np.flatnonzero(people) if people.dtype == np.bool_ else people
            object.__setattr__(self, "panel", tuple(int(each) for each in ids))
        for name in ("class_sums", "server_sums"):
            if getattr(self, name) is None:
                continue
            self._check_positive(name)
            if self.epsilon_labels is not None:
                raise InvalidParameter(
                    "Class sums are made by true class, and labels are private. Use a panel or a pilot."
                )
        for name in ("panel", "pilot"):
            value = getattr(self, name)
            if isinstance(value, float | int) and not 0 < value < 1:
                raise InvalidParameter(name, "a share of people between 0 and 1", value)
        if not 0 < self.calibrators <= 1:
            raise InvalidParameter("calibrators", "a share above 0, at most 1", self.calibrators)

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Ask for the label where labels are private, then what the settings name, in the order of rounds."""
        asked: list[Question] = []
        if self.epsilon_labels is not None:
            asked.append(Question(Label(), RandomizedResponse.declare(population, epsilon=self.epsilon_labels)))
        if self.pilot is not None:
            asked.append(Question(Features(), MultiBit.declare(population, epsilon=self.epsilon_features)))
        if self.epsilon_edges is not None:
            counts = Counts.declare(population, epsilon=self.epsilon_edges, cap=self.cap)
            asked.append(Question(Friends(), counts))
            if not self.public_features:  # with them, one round can publish predicted classes as well
                asked.append(Question(FriendsAgain(), counts))
        answers = SubsetResponse if self.subsets else OfferedResponse
        most = max(2, min(population.classes, _MOST_SUBSETS if self.subsets else _MOST_OPTIONS))
        if self.epsilon_features is not None:
            asked.append(Question(Resemblance(), answers(epsilon=self.epsilon_features, most=most)))
        if self.epsilon_person is not None:
            kinds = (Person, PersonAgain)[: self.waves]
            mechanism = answers(epsilon=self.epsilon_person, most=most)
            asked.extend(Question(kind(reads=self.reads), mechanism) for kind in kinds)
        return tuple(asked)

    def release(self, public: Any) -> LocalRelease:
        """Return everything that leaves the devices in all rounds, and what some people show besides."""
        population = Population.of(public)
        lists = ", class and friends" if self._shows_lists else " and class"
        shown = (f"the panel, who show their features{lists}",) if self.panel is not None else ()
        return LocalRelease(
            self.questions(population), population, self._disclosed(), self._aggregated(population), exempt=shown
        )

    def _aggregated(self, population: Population) -> tuple[Aggregate, ...]:
        if self.class_sums is not None:
            return (class_sums_aggregate(class_sums_release(self.class_sums, population.num_nodes)),)
        if self.server_sums is not None:
            return (server_sums_aggregate(server_sums_of(self.server_sums, population)),)
        return ()

    def _disclosed(self) -> tuple[str, ...]:
        shown = []
        if self.panel is not None:
            size = (
                f"{100 * self.panel:.3g} % of people"
                if isinstance(self.panel, float | int)
                else f"{len(self.panel)} people"
            )
            what = "features, classes and friend lists" if self._shows_lists else "features and classes"
            shown.append(f"the {what} of the panel ({size}), who agreed to show them")
        if self.public_features:
            shown.append("everybody's features, which the operator knows")
        if self.hides_edges:
            known = "the classes of labelled people, as they are known or reported"
            others = ", and predicted classes of others" if self.epsilon_person is None or self.waves > 1 else ""
            shown.append(f"{known}{others}, which every device is given")
        if self.epsilon_person is not None:
            return (*shown, "who is asked and in which wave, which follows from public facts and from reported classes")
        return (
            *shown,
            "who is asked, which follows from public facts and from randomised answers, a person's own among them: "
            "their counts of friends, for example, can decide whether they are asked again",
        )

    def settings(self) -> dict[str, Any]:
        """Return the hyper-parameters as plain values; a given scorer is too large to be listed, and named instead."""
        plain = super().settings() | {"scorer": None if self.scorer is None else _named(self.scorer)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @classmethod
    def decided_by(cls, release: LocalRelease) -> dict[str, Any]:
        """Return the release's budgets; features that are not asked about have none."""
        waves = {"waves": 2} if release.asks(PersonAgain.name) else {}
        subsets = {"subsets": any(isinstance(question.mechanism, SubsetResponse) for question in release.questions)}
        return {"epsilon_features": None, "epsilon_person": None} | super().decided_by(release) | waves | subsets


def _named(scorer: Any) -> str:
    """Return a name by which stored figures of different scorers are told apart: of a function, that of its code."""
    if callable(scorer):
        return f"function {getattr(scorer, '__module__', '')}.{getattr(scorer, '__qualname__', type(scorer).__name__)}"
    return array_digest(np.asarray(scorer))
