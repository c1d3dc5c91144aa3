"""The rounds of Inquiry's person question: table, offers and waves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from privet.estimation.answers.answer_models import best_offers
from privet.mechanisms import OfferedResponse
from privet.release import Question
from privet.release.asks import Ask
from privet.release.asks.person import Person, in_255ths
from privet.release.asks.person_again import PersonAgain
from privet.systems.collected import Collected
from privet.systems.local.inquiry.function import one_hot
from privet.systems.local.inquiry.weighing import InquiryWeighing

__all__ = ["InquiryPerson"]

_FIRST = 0.25  # the share of people who are asked in the first of two waves


@dataclass(frozen=True, kw_only=True)
class InquiryPerson(InquiryWeighing):
    """The rule by which the person question is drawn up."""

    def _person_drawn_up(self, question: Question, collected: Collected, asked: NDArray[np.bool_]) -> Ask:
        """Attach function, table and offers to the question of a wave.

        Args:
            question: The question without its arrays.
            collected: Everything that the server holds before the wave.
            asked: The people who are asked in any wave.
        """
        ask, function = cast(Person, question.ask), self._function(collected)
        mechanism, prior = cast(OfferedResponse, question.mechanism), self._prior(collected)
        offers, _ = best_offers(prior, self._person_model(collected), mechanism, decisive=self.hides_edges)
        offers[~(asked & self._in_wave(collected, again=question.name == PersonAgain.name))] = -1
        arrays: dict[str, Any] = {"offers": offers}
        if ask.reads_friends:
            table, shares = self._published(collected), self._whole_shares(collected)
            arrays |= {"table": table, "mixing": function.mixing, "shares": shares}
        if ask.reads_features:
            ask = replace(ask, unit_length=function.unit_length)
        if callable(function.scorer):
            return replace(ask, scorer=function.scorer).attach(**arrays)
        return ask.attach(scorer=function.scorer, **arrays)

    def _published(self, collected: Collected) -> NDArray[np.uint8]:
        """Return the table: seen labels, and in a second wave the classes that the first answers point to."""
        seen = collected.seen_labels()
        table = one_hot(seen, collected.schema.classes)
        first = collected.answer(Person.name)
        if first is not None:
            told = first.users[seen[first.users] < 0]
            weighed = self._with_answers(collected, self._prior(collected), seen)
            table[told] = softmax(weighed.logits[told], axis=1)
        return in_255ths(table)

    def _in_wave(self, collected: Collected, *, again: bool) -> NDArray[np.bool_]:
        """Draw the people of a wave by lot, so that each has people who calibrate."""
        first = np.ones(collected.num_nodes, dtype=np.bool_)
        if self.waves > 1:
            people = np.random.default_rng([self.seed or 0, 4]).permutation(len(first))
            first[people[round(_FIRST * len(people)) :]] = False
        return ~first if again else first
