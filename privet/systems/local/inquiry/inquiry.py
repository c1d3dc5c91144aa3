"""Inquiry: ask each person one good question instead of collecting noise.

1. Prior: what public data tell of everybody's class; where friend lists are private, devices count their friends in
   published classes instead ("how many of your friends are in each group").
2. Scorer: a public function of features, from people who show theirs, from a pilot, from class sums, or given.
3. Question: each device is offered the few classes between which its answer tells most, and answers by randomised
   response which of them its features resemble most. Whoever's answer could not matter is not asked.
   Or it answers once about everything that it holds, features and friends together: the person question.
4. Use: the answers' exact evidence, the person's own and the neighbours', is added to the prior with a few weights that
   all classes share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from privet.data import Graph
from privet.errors import InvalidData
from privet.graph.memory import topology_of
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.systems.certificate import Certificate
from privet.systems.collected import Collected
from privet.systems.controls import Control
from privet.systems.fitted import Fitted
from privet.systems.local.inquiry.certificate import certify_answers, certify_counts, certify_person
from privet.systems.local.inquiry.rounds import InquiryRounds, who_was_asked
from privet.systems.local.inquiry.weighing import CHOICES, Weighed

__all__ = ["Inquiry"]


@dataclass(frozen=True, kw_only=True)
class Inquiry(InquiryRounds):
    """One question about features, one about friends, or both, or one about everything on a device.

    Each person answers each of them at most once.

    The settings are those of :class:`~privet.systems.local.inquiry.settings.InquirySettings`.
    """

    name: ClassVar[str] = "inquiry"
    on_cluster: ClassVar[bool] = True
    defences: ClassVar[tuple[str, ...]] = ("screen", "trim", "bound")

    def controls(self) -> tuple[Control, ...]:
        """Compare with doing without answers, with answers of other people, and with answers without noise."""
        from privet.systems.local.inquiry.controls import controls

        return controls(self)

    def dealt(self, collected: Collected) -> Collected:
        """Deal the answers among people of whom the same could have come."""
        from privet.systems.local.inquiry.controls import dealt

        answers = dealt(collected.answers, np.random.default_rng([self.seed or 0, 3]))
        return replace(collected, answers=answers, learned={})

    def topology(self, collected: Collected) -> Graph:
        """Return the public topology; without edges where friend lists are private."""
        return collected.public

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Add the evidence of the answers to the prior, with weights fitted on labelled people who answered."""
        own = [question.name for question in self.questions(collected.release.population)]
        odd = next((name for name in collected.answers if name not in own), None)
        if odd is not None:
            raise InvalidData(
                f"{self.name} did not ask for {odd} and cannot learn from it. Collect with these settings."
            )
        if self.defence:
            collected = replace(self.defended(collected), learned={})
        seen, _, held = collected.supervised("Inquiry")
        prior = self._prior(collected)
        weighed = None
        if any(collected.answer(name) is not None for name in CHOICES):
            weighed = self._with_answers(collected, prior, seen)
        logits, facts = (prior, {}) if weighed is None else (weighed.logits, weighed.facts)
        probabilities = softmax(logits, axis=1).astype(np.float32)
        certificate = self._certificate(collected, logits, weighed)
        facts |= who_was_asked(collected) | ({} if certificate is None else certificate.facts())
        if weighed is not None and self.epsilon_person is None:
            scorer, _ = self._scorer(collected)
            facts |= {f"never_offered_{each}": 1.0 for each in getattr(scorer, "absent", ())}
        score = float((probabilities[held].argmax(axis=1) == seen[held]).mean())
        return self.fitted(collected, probabilities, validation_score=score, facts=facts, certificate=certificate)

    def _certificate(
        self, collected: Collected, logits: NDArray[np.float64], weighed: Weighed | None
    ) -> Certificate | None:
        """Count the liars whom each prediction withstands; None if nobody was asked anything."""
        bounded, trimmed = "bound" in self.defence, "trim" in self.defence
        if not self.hides_edges:
            if weighed is None or not topology_of(collected.topology).enumerable:  # it looks at every friendship
                return None
            return certify_answers(collected, weighed, bounded=bounded, trimmed=trimmed)
        if self.epsilon_person is not None:
            return None if weighed is None else certify_person(collected, weighed)
        rounds = [collected.learned.get(name) for name in (Friends.name, FriendsAgain.name)]
        counted = [found for found in rounds if found is not None]
        return certify_counts(logits, counted, weighed, collected.could_answer(), thorough=self.thorough)
