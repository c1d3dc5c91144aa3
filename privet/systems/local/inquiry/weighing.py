"""The evidence of Inquiry's answers, and the few weights with which it is added to what is known before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidReports
from privet.estimation.answers.answer_models import AnswerModel, KnownAccuracy, SeenScores, evidence
from privet.estimation.answers.confusions import Confusions
from privet.estimation.answers.neighbour_evidence import SOURCES, neighbour_evidence
from privet.estimation.answers.scorers import LinearScorer
from privet.estimation.shared_weights import SharedWeights
from privet.mechanisms import OfferedResponse
from privet.release.asks.person import Person
from privet.release.asks.person_again import PersonAgain
from privet.release.asks.resemblance import Resemblance
from privet.systems.collected import Collected
from privet.systems.local.inquiry.function import InquiryFunction

__all__ = ["CHOICES", "InquiryWeighing", "Weighed"]

Array = NDArray[np.float64]

CHOICES = (Resemblance.name, Person.name, PersonAgain.name)
"""The questions whose answer is one of a few offered classes."""

_FEWEST = 50  # people of known class who answered, without whom weights are not fitted
_PENALTIES = (1.0, 10.0, 100.0, 1e4)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The answers to the feature question or the person question, weighed.

    Attributes:
        logits: Everybody's logits, people x classes.
        weights: The weights of the prior, the own answer and, where the topology is public, the neighbours' answers.
        own: What each person's answer tells of the own class, centred; 0 for people who did not answer.
        models: The true answers of people of each class, by question.
        facts: The weights by name, and the average number of options.
    """

    logits: Array
    weights: SharedWeights
    own: NDArray[np.float32]
    models: dict[str, AnswerModel]
    facts: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class InquiryWeighing(InquiryFunction):
    """The rule by which answers are weighed."""

    def _with_answers(self, collected: Collected, prior: Array, seen: NDArray[np.int64]) -> Weighed:
        own, models, facts = self._own_evidence(collected, seen)
        names = ("prior", "answer", *(() if self.hides_edges else SOURCES))
        expected = (1.0, 1.0, *[0.0] * (len(names) - 2))
        answered = np.concatenate([collected.answers[name].users for name in models])
        known = answered[seen[answered] >= 0] if len(answered) else _labelled_others(collected, seen)
        weights = SharedWeights(np.array(expected), np.zeros(prior.shape[1]))
        if len(known) >= _FEWEST:
            heard = self._heard(collected, seen[known])
            some = np.stack([source[known] for source in self._sources(collected, prior, own)], axis=1)
            without = (1.0, *[0.0] * (len(names) - 1))  # answers that tell nothing must do no harm
            weights, _ = SharedWeights.choose(some, heard, expected, _PENALTIES, seed=self.seed or 0, instead=without)
        facts |= {f"weight_{name}": float(w) for name, w in zip(names, weights.weights, strict=True)}
        logits = np.tile(weights.offsets, (len(prior), 1))
        for weight, source in zip(weights.weights, self._sources(collected, prior, own), strict=True):
            logits += weight * source  # one source at a time, since there may be many millions of people
        return Weighed(logits, weights, own, models, facts)

    def _heard(self, collected: Collected, labels: NDArray[np.int64]) -> Array:
        """Return the probability of each label given each class."""
        transition = self._transition(collected)
        return np.asarray((np.eye(collected.schema.classes) if transition is None else transition).T[labels])

    def _sources(self, collected: Collected, prior: Array, own: NDArray[np.float32]) -> Iterator[NDArray[Any]]:
        """Yield the sources of evidence: the prior, the person's own answer, the neighbours' where they are known."""
        yield prior
        yield own
        if not self.hides_edges:
            defences = {"trimmed": "trim" in self.defence, "bounded": "bound" in self.defence}
            yield from neighbour_evidence(collected.topology, own, collected.seen_labels(), **defences)

    def _own_evidence(
        self, collected: Collected, seen: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], dict[str, AnswerModel], dict[str, float]]:
        """Return each person's centred log-likelihoods, 0 for people who did not answer, and the models behind them."""
        own = np.zeros((collected.num_nodes, collected.schema.classes), dtype=np.float32)
        models: dict[str, AnswerModel] = {}
        options: list[NDArray[np.int64]] = []
        for name in (each for each in CHOICES if collected.answer(each) is not None):
            question, answer = collected.release.question(name), collected.answers[name]
            mechanism = cast(OfferedResponse, question.mechanism)
            offers = question.ask.attachment("offers")[answer.users]
            positions, offered = mechanism.decode(answer.reports)
            if not np.array_equal(offered, (offers >= 0).sum(axis=1)):
                raise InvalidReports(f"Somebody answers '{name}' with a class that they were not offered.")
            known = seen[answer.users] >= 0
            heard = self._heard(collected, seen[answer.users[known]])
            if name == Resemblance.name:
                model = self._scorer(collected)[1]
                if isinstance(model, KnownAccuracy):
                    model = KnownAccuracy.estimated(offers[known], positions[known], heard, mechanism)
            else:
                before = self._person_model(collected)
                model = Confusions.estimated(offers[known], positions[known], heard, mechanism, before)
            own[answer.users] = evidence(model, offers, positions, mechanism)
            models[name], options = model, [*options, offered]
        self._add_panel(collected, own, models)
        together = np.concatenate(options) if options else np.zeros(0)
        facts = {"options": float(together.mean()) if len(together) else 0.0}
        return own - own.mean(axis=1, keepdims=True), models, facts

    def _add_panel(self, collected: Collected, own: NDArray[np.float32], models: dict[str, AnswerModel]) -> None:
        """Add what the panel's features tell: its people answer the feature question without noise."""
        model = models.get(Resemblance.name)
        if not isinstance(model, SeenScores) or collected.shown is None:
            return
        scorer, _ = self._scorer(collected)
        if isinstance(scorer, LinearScorer):
            ask = cast(Resemblance, collected.release.question(Resemblance.name).ask)
            present = tuple(each for each in range(model.classes) if each not in scorer.absent)
            told = ask.scores(collected.shown.features)[:, present].argmax(axis=1)
            own[collected.shown.users] = np.log(model.confusion(present)).T[told]


def _labelled_others(collected: Collected, seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labelled people who show nothing: they weigh what the panel shows if nobody answers."""
    shown = np.zeros(0, dtype=np.int64) if collected.shown is None else collected.shown.users
    return np.setdiff1d(np.flatnonzero(seen >= 0), shown)
