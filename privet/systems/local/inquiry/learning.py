"""Learning of Inquiry's server before the feature question: prior and scorer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.estimation.answers.answer_models import AnswerModel, KnownAccuracy, SeenScores
from privet.estimation.answers.scorers import LinearScorer, mean_scorer, panel_scorer, pilot_scorer
from privet.estimation.friends.count_certificate import LEAST_CHANCE
from privet.estimation.friends.friend_posterior import FriendPosterior, class_shares, friend_posterior
from privet.estimation.priors.feature_prior import class_priors_from_features
from privet.estimation.priors.structural_prior import calibrated, structural_prior
from privet.mechanisms import Counts
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.resemblance import Resemblance
from privet.systems.collected import Collected
from privet.systems.local.inquiry.settings import InquirySettings

__all__ = ["InquiryLearning", "given_scorer"]

Array = NDArray[np.float64]

_GUESS = 0.6  # the accuracy of answers that offers assume where nobody's scores are seen
_FEWEST = 50  # people of known class who answered, without whom weights are not fitted
_PENALTIES = (1.0, 10.0, 100.0, 1e4)


@dataclass(frozen=True, kw_only=True)
class InquiryLearning(InquirySettings):
    """The server's side; it reads answers, public data and what people show."""

    def _transition(self, collected: Collected) -> Array | None:
        response = collected.label_response
        return None if response is None else response.transition

    def _prior(self, collected: Collected) -> Array:
        """Return everybody's class log-probabilities by now, before the feature question, own labels left out."""
        friends = [name for name in (Friends.name, FriendsAgain.name) if name in collected.answers]
        if not self.hides_edges:
            return cast(Array, collected.once("prior", lambda: self._structural_prior(collected)))
        prior = self._feature_prior(collected)
        if self.epsilon_person is not None:
            return self._class_prior(collected) if prior is None else prior
        for name in friends:
            found = collected.once(name, partial(self._friend_posterior, collected, name, prior))
            prior = prior if found is None else np.log(np.maximum(found.probabilities, LEAST_CHANCE))
        if prior is None:
            raise InvalidData("The friend question comes before what depends on its answers.")
        return prior

    def _class_prior(self, collected: Collected) -> Array:
        """Return the class shares for everybody."""
        return np.tile(np.log(self._class_shares(collected)), (collected.num_nodes, 1))

    def _class_shares(self, collected: Collected) -> Array:
        seen, classes, transition = collected.seen_labels(), collected.schema.classes, self._transition(collected)
        labels = np.bincount(seen[seen >= 0], minlength=classes)
        return class_shares(labels, np.eye(classes) if transition is None else transition)

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
            return self.scorer if callable(self.scorer) else given_scorer(self.scorer, population)
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


def given_scorer(scorer: Any, population: Population) -> LinearScorer:
    """Check a user's linear scorer and make its weights integers.

    Args:
        scorer: The matrix.
        population: The people whose features it scores.
    """
    from privet.release.asks.resemblance import as_integers

    matrix = np.asarray(scorer)
    if matrix.shape != (population.dimension + 1, population.classes) or not np.isfinite(matrix).all():
        expected = f"({population.dimension} features + 1 row of offsets) x {population.classes} classes, finite"
        raise InvalidParameter("scorer", expected, f"shape {matrix.shape}")
    integers = matrix.astype(np.int32) if np.issubdtype(matrix.dtype, np.integer) else as_integers(matrix)
    return LinearScorer(integers, unit_length=False)
