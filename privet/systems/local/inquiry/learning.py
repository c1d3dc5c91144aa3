"""Learning of Inquiry's server from public data and answers: prior, scorer, evidence and weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.estimation.answers.answer_models import AnswerModel, KnownAccuracy, SeenScores, evidence
from privet.estimation.answers.neighbour_evidence import SOURCES, neighbour_evidence
from privet.estimation.answers.scorers import LinearScorer, mean_scorer, panel_scorer, pilot_scorer
from privet.estimation.friends.count_certificate import LEAST_CHANCE
from privet.estimation.friends.friend_posterior import FriendPosterior, friend_posterior
from privet.estimation.priors.feature_prior import class_priors_from_features
from privet.estimation.priors.structural_prior import calibrated, structural_prior
from privet.estimation.shared_weights import SharedWeights
from privet.mechanisms import Counts, OfferedResponse
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.resemblance import Resemblance
from privet.systems.collected import Collected
from privet.systems.local.inquiry.settings import InquirySettings

__all__ = ["InquiryLearning", "Weighed"]

Array = NDArray[np.float64]

_GUESS = 0.6  # the accuracy of answers that offers assume where nobody's scores are seen
_FEWEST = 50  # people of known class who answered, without whom weights are not fitted
_PENALTIES = (1.0, 10.0, 100.0, 1e4)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The answers to the feature question, weighed.

    Attributes:
        logits: Everybody's logits, people x classes.
        weights: The weights of the prior, the own answer and, where the topology is public, the neighbours' answers.
        own: What each person's answer tells of the own class, centred; 0 for people who did not answer.
        model: The true answers of people of each class.
        facts: The weights by name, and the average number of options.
    """

    logits: Array
    weights: SharedWeights
    own: NDArray[np.float32]
    model: AnswerModel
    facts: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class InquiryLearning(InquirySettings):
    """The server's side; it reads answers, public data and what people show."""

    def _transition(self, collected: Collected) -> Array | None:
        response = collected.label_response
        return None if response is None else response.transition

    def _prior(self, collected: Collected) -> Array:
        """Return everybody's class log-probabilities by now, before the feature question, own labels left out."""
        friends = [name for name in (Friends.name, FriendsAgain.name) if name in collected.answers]
        if self.epsilon_edges is None:
            return cast(Array, collected.once("prior", lambda: self._structural_prior(collected)))
        prior = self._feature_prior(collected)
        for name in friends:
            found = collected.once(name, partial(self._friend_posterior, collected, name, prior))
            prior = prior if found is None else np.log(np.maximum(found.probabilities, LEAST_CHANCE))
        if prior is None:
            raise InvalidData("The friend question comes before what depends on its answers.")
        return prior

    def _known(self, collected: Collected) -> dict[str, Any]:
        return {"label_transition": self._transition(collected), "seed": self.seed or 0}

    def _structural_prior(self, collected: Collected) -> Array:
        seen, known = collected.seen_labels(), self._known(collected)
        found = structural_prior(collected.topology.adjacency, seen, collected.schema.classes, **known)
        return calibrated(found, seen, known["label_transition"])

    def _feature_prior(self, collected: Collected) -> Array | None:
        """Return what public features tell; None where features are private."""
        if not self.public_features or collected.shown is None:
            return None
        rows, classes = collected.shown.features, collected.schema.classes
        known = self._known(collected)
        compute = partial(class_priors_from_features, rows, collected.seen_labels(), classes, **known)
        return cast(Array, collected.once("features", compute))

    def _friend_posterior(self, collected: Collected, name: str, before: Array | None) -> FriendPosterior | None:
        """Return what a round of the friend question adds to what was known before it; None if nobody answered."""
        question, answer = collected.release.question(name), collected.answers[name]
        if not len(answer):
            if before is None:
                raise InvalidData("Nobody answered the friend question, so there is nothing to learn from.")
            return None
        return friend_posterior(
            answer.users,
            question.mechanism.validate(answer.reports).symbols,
            question.ask.attachment("table"),
            question.ask.attachment("ranks"),
            cast(Counts, question.mechanism),
            labels=collected.seen_labels(),
            prior=before,
            trimmed="trim" in self.defence,
            **self._known(collected),
        )

    def _scorer(self, collected: Collected) -> tuple[Any, AnswerModel]:
        """Return the scorer, and what is known of the answers that it leads to before anybody is asked."""
        scorer, classes = collected.once("scorer", lambda: self._new_scorer(collected)), collected.schema.classes
        if isinstance(scorer, LinearScorer) and scorer.scores is not None and scorer.labels is not None:
            return scorer, SeenScores(scorer.scores, scorer.labels, classes)
        return scorer, KnownAccuracy(_GUESS, classes)

    def _new_scorer(self, collected: Collected) -> Any:
        classes, population = collected.schema.classes, collected.release.population
        if self.scorer is not None:
            return self.scorer if callable(self.scorer) else _given(self.scorer, population)
        if collected.sums is not None:
            return mean_scorer(collected.sums.sums, collected.sums.counts, collected.sums.noise)
        seen = collected.seen_labels()
        if collected.shown is not None:
            people = collected.shown
            asked = self._asked_with(collected)
            try:
                found = panel_scorer(people.features, seen[people.users], classes, seed=self.seed or 0)
            except InvalidData:
                if asked is None:
                    raise
                return asked
            same = asked is None or np.array_equal(found.weights, asked.weights)
            return found if same else asked  # somebody of the panel withdrew since people were asked
        pilot, mechanism = collected.answers[Features.name], collected.mechanism(Features.name)
        middle = (population.schema.low + population.schema.high)[None] / 2
        noise = mechanism.variance(middle)[0]
        return pilot_scorer(mechanism.estimate(pilot.reports).dense(), noise, seen[pilot.users], classes)

    def _asked_with(self, collected: Collected) -> LinearScorer | None:
        """Return the scorer that people answered with; None if they were not asked yet."""
        if collected.answer(Resemblance.name) is None:
            return None
        ask = cast(Resemblance, collected.release.question(Resemblance.name).ask)
        return LinearScorer(ask.scorer, ask.unit_length) if isinstance(ask.scorer, np.ndarray) else None

    def _with_answers(self, collected: Collected, prior: Array, seen: NDArray[np.int64]) -> Weighed:
        own, model, facts = self._own_evidence(collected, seen)
        names = ("prior", "answer", *(SOURCES if self.epsilon_edges is None else ()))
        expected = (1.0, 1.0, *[0.0] * (len(names) - 2))
        answered = collected.answers[Resemblance.name].users
        known = answered[seen[answered] >= 0] if len(answered) else _labelled_others(collected, seen)
        weights = SharedWeights(np.array(expected), np.zeros(prior.shape[1]))
        if len(known) >= _FEWEST:
            transition = self._transition(collected)
            heard = (np.eye(prior.shape[1]) if transition is None else transition).T[seen[known]]
            some = np.stack([source[known] for source in self._sources(collected, prior, own)], axis=1)
            without = (1.0, *[0.0] * (len(names) - 1))  # answers that tell nothing must do no harm
            weights, _ = SharedWeights.choose(some, heard, expected, _PENALTIES, seed=self.seed or 0, instead=without)
        facts |= {f"weight_{name}": float(w) for name, w in zip(names, weights.weights, strict=True)}
        logits = np.tile(weights.offsets, (len(prior), 1))
        for weight, source in zip(weights.weights, self._sources(collected, prior, own), strict=True):
            logits += weight * source  # one source at a time, since there may be many millions of people
        return Weighed(logits, weights, own, model, facts)

    def _sources(self, collected: Collected, prior: Array, own: NDArray[np.float32]) -> Iterator[NDArray[Any]]:
        """Yield the sources of evidence: the prior, the person's own answer, the neighbours' where they are known."""
        yield prior
        yield own
        if self.epsilon_edges is None:
            defences = {"trimmed": "trim" in self.defence, "bounded": "bound" in self.defence}
            yield from neighbour_evidence(collected.topology, own, collected.seen_labels(), **defences)

    def _own_evidence(
        self, collected: Collected, seen: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], AnswerModel, dict[str, float]]:
        """Return each person's centred log-likelihoods, 0 for people who did not answer, and the model behind them."""
        question, answer = collected.release.question(Resemblance.name), collected.answers[Resemblance.name]
        ask, mechanism = cast(Resemblance, question.ask), cast(OfferedResponse, question.mechanism)
        offers = ask.attachment("offers")[answer.users]
        positions, options = mechanism.decode(answer.reports)
        if not np.array_equal(options, (offers >= 0).sum(axis=1)):
            raise InvalidReports("Somebody answers 'resemblance' with a class that they were not offered.")
        scorer, model = self._scorer(collected)
        if isinstance(model, KnownAccuracy):
            known = seen[answer.users] >= 0
            transition = self._transition(collected)
            heard = (np.eye(model.classes) if transition is None else transition).T[seen[answer.users[known]]]
            model = KnownAccuracy.estimated(offers[known], positions[known], heard, mechanism)
        own = np.zeros((collected.num_nodes, model.classes), dtype=np.float32)
        own[answer.users] = evidence(model, offers, positions, mechanism)
        if isinstance(model, SeenScores) and collected.shown is not None and isinstance(scorer, LinearScorer):
            present = tuple(each for each in range(model.classes) if each not in scorer.absent)
            told = ask.scores(collected.shown.features)[:, present].argmax(axis=1)
            own[collected.shown.users] = np.log(model.confusion(present)).T[told]
        options_mean = float(options.mean()) if len(options) else 0.0
        return own - own.mean(axis=1, keepdims=True), model, {"options": options_mean}


def _labelled_others(collected: Collected, seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labelled people who show nothing: they weigh what the panel shows if nobody answers."""
    shown = np.zeros(0, dtype=np.int64) if collected.shown is None else collected.shown.users
    return np.setdiff1d(np.flatnonzero(seen >= 0), shown)


def _given(scorer: Any, population: Population) -> LinearScorer:
    """Check a user's linear scorer and make its weights integers."""
    from privet.release.asks.resemblance import as_integers

    matrix = np.asarray(scorer)
    if matrix.shape != (population.dimension + 1, population.classes) or not np.isfinite(matrix).all():
        expected = f"({population.dimension} features + 1 row of offsets) x {population.classes} classes, finite"
        raise InvalidParameter("scorer", expected, f"shape {matrix.shape}")
    integers = matrix.astype(np.int32) if np.issubdtype(matrix.dtype, np.integer) else as_integers(matrix)
    return LinearScorer(integers, unit_length=False)
