"""The rounds of Inquiry: whom it asks what, by what is public after the rounds before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.data.population import Population
from privet.errors import InvalidData
from privet.estimation.answers.answer_models import best_offers
from privet.estimation.answers.scorers import LinearScorer, check_classes
from privet.estimation.friends.friend_posterior import second_round
from privet.mechanisms import Bits, OfferedResponse
from privet.release import LocalRelease, Question
from privet.release.asks import Ask
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends, ranks_of
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.label import Label
from privet.release.asks.person import Person
from privet.release.asks.resemblance import Resemblance
from privet.systems.collected import Collected, Showing, labelled
from privet.systems.local.inquiry.person import InquiryPerson
from privet.systems.local.inquiry.sums import ClassSums, class_sums_release, server_sums_of
from privet.systems.local.inquiry.weighing import CHOICES

__all__ = ["InquiryRounds", "who_was_asked"]

_CALIBRATING = 500  # labelled people who answer, if there are so many, however small their share is


@dataclass(frozen=True, kw_only=True)
class InquiryRounds(InquiryPerson):
    """The rule by which rounds are drawn up, one question a round."""

    def next_round(self, collected: Collected) -> LocalRelease | None:
        """Draw up the next question from what is public by now; a panel is waited for before all but the class."""
        waiting = self.waiting(collected)
        if not waiting:
            return None
        first, waits = waiting[0], self.panel is not None and collected.shown is None
        if waits and first.name != Label.name:
            return replace(collected.release, questions=())
        if not collected.answers and not waits and self.pilot is None and self.asks_features:
            (self._scorer if self.epsilon_person is None else self._function)(
                collected
            )  # nobody has spent anything yet
        return replace(collected.release, questions=(replace(first, ask=self._drawn_up(first, collected)),))

    def invited(self, question: Question, collected: Collected) -> NDArray[np.int64] | None:
        """Draw the people of the pilot; of all others the question itself says whom it is for."""
        if question.name == Features.name and self.pilot is not None:
            return self._lot(collected.public, collected.seen_labels() >= 0, self.pilot)
        return super().invited(question, collected)

    def shows(self, graph: Graph) -> Showing | None:
        """Let the panel show features and class, or everybody the features where these are public."""
        if self.public_features:
            return Showing(np.arange(graph.num_nodes), classes=False)
        return None if self.panel is None else Showing(self._panel(graph), lists=self._shows_lists)

    def sums(self, graph: Graph, bits: Bits) -> ClassSums | None:
        """Play the aggregator of class sums, or the two servers."""
        population = Population.of(graph)
        if self.class_sums is not None:
            return ClassSums.of(graph, population.classes, class_sums_release(self.class_sums, graph.num_nodes), bits)
        if self.server_sums is not None:
            wanted = server_sums_of(self.server_sums, population)
            return ClassSums.by_two_servers(graph, population.classes, wanted, bits)
        return None

    def check(self, graph: Graph) -> None:
        """Refuse what every system refuses, directed friend lists, and a panel or pilot of fewer than two classes."""
        super().check(graph)
        if graph.directed and self.hides_edges:
            raise InvalidData("Inquiry counts friends at both ends of an edge; this graph is directed.")
        labels, classes = graph.labels, 0 if graph.schema is None else graph.schema.classes
        if self.panel is not None and labels is not None:
            check_classes(labels[self._panel(graph)], classes, "A panel")
        if self.pilot is not None and labels is not None and self.epsilon_labels is None:
            check_classes(labels[self._drawn(graph, self.pilot)], classes, "A pilot")

    def _panel(self, graph: Graph) -> NDArray[np.int64]:
        """Return the people of the panel: the given ones, or a share of all, drawn among labelled training nodes."""
        if isinstance(self.panel, float | int):
            return self._drawn(graph, self.panel)
        people = np.unique(np.asarray(self.panel, dtype=np.int64))
        known = labelled(graph)
        if not len(people) or people[0] < 0 or people[-1] >= graph.num_nodes or not known[people].all():
            raise InvalidData("A panel must be ids of training or validation nodes that have a class.")
        return people

    def _drawn(self, graph: Graph, share: float) -> NDArray[np.int64]:
        return self._lot(graph, labelled(graph), share)

    def _lot(self, graph: Graph, known: NDArray[np.bool_], share: float) -> NDArray[np.int64]:
        """Draw a share of all people among training nodes of known class."""
        train = np.flatnonzero(graph.split.train) if graph.split is not None else np.zeros(0, np.int64)
        drawn = np.random.default_rng([self.seed or 0, 1]).permutation(train)
        drawn = drawn[known[drawn]]  # dropped after the draw, so that one missing label changes one place
        return np.sort(drawn[: max(1, round(share * graph.num_nodes))])

    def _drawn_up(self, question: Question, collected: Collected) -> Ask:
        ask = question.ask
        if isinstance(ask, FriendsAgain):
            first = collected.release.question(Friends.name).ask
            second = second_round(cast(Friends, first), np.exp(self._prior(collected)))
            return ask.attach(table=second.table, ranks=second.ranks)
        if isinstance(ask, Friends):
            seen = collected.seen_labels()
            nobody = np.zeros(len(seen), dtype=np.bool_)
            calibrating = self._calibrating(seen, nobody, most=0.5)  # the others are those whom they count
            predicted = self._feature_prior(collected)
            if predicted is None:
                return ask.attach(table=seen.astype(np.int32), ranks=ranks_of(seen >= 0, calibrating))
            table = np.where(seen >= 0, seen, predicted.argmax(axis=1)).astype(np.int32)
            return ask.attach(table=table, ranks=ranks_of(seen >= 0, calibrating, predicted.max(axis=1)))
        if isinstance(ask, Person):
            return self._person_drawn_up(question, collected, self._worth_asking(collected))
        if isinstance(ask, Resemblance):
            scorer, model = self._scorer(collected)
            absent = scorer.absent if isinstance(scorer, LinearScorer) else ()
            options = cast(OfferedResponse, question.mechanism)
            offers, _ = best_offers(self._prior(collected), model, options, absent)
            offers[~self._worth_asking(collected)] = -1
            if isinstance(scorer, LinearScorer):
                return replace(ask, unit_length=scorer.unit_length).attach(scorer=scorer.weights, offers=offers)
            return replace(ask, scorer=scorer).attach(offers=offers)
        return ask

    def _calibrating(
        self, seen: NDArray[np.int64], excluded: NDArray[np.bool_], most: float = 1.0
    ) -> NDArray[np.bool_]:
        """Draw labelled people who answer, so that what answers tell can be learned."""
        candidates = np.flatnonzero((seen >= 0) & ~excluded)
        size = max(min(round(most * len(candidates)), _CALIBRATING), round(self.calibrators * len(candidates)))
        chosen = np.zeros(len(seen), dtype=np.bool_)
        chosen[np.random.default_rng([self.seed or 0, 2]).permutation(candidates)[:size]] = True
        return chosen

    def _worth_asking(self, collected: Collected) -> NDArray[np.bool_]:
        """Tell whom to ask: by public facts alone.

        An answer moves log-odds by at most epsilon. Whoever's prior is surer than twice that, and who has no neighbour
        whose prediction might turn, is left alone; so is whoever has shown features or was in the pilot.
        """
        seen = collected.seen_labels()
        done = np.zeros(len(seen), dtype=np.bool_)
        if collected.shown is not None and not self.public_features:  # public features are not shown for this
            done[collected.shown.users] = True
        pilot = collected.answer(Features.name)
        if pilot is not None:
            done[pilot.users] = True
        asked = ~done & (seen < 0)
        if not self.everybody:
            likeliest = np.partition(self._prior(collected), -2, axis=1)[:, -2:]
            epsilon = self.epsilon_person or self.epsilon_features or 0.0
            open_ = (seen < 0) & (likeliest[:, 1] - likeliest[:, 0] <= 2 * epsilon)
            asked &= open_ | (collected.public.adjacency @ open_.astype(np.float32) > 0)
        return np.asarray(asked | self._calibrating(seen, done))


def who_was_asked(collected: Collected) -> dict[str, float]:
    """Return shares of all people, by what they were asked.

    Returns:
        ``asked``: who answered anything at all; ``panel`` and ``pilot``: who showed features or reported a noisy
        vector; ``asked_2``, ``asked_3``, ...: who was offered so many classes; ``counted_once`` and
        ``counted_twice``: who counted friends in one round or in two; ``labels``: who reported a class;
        ``calibrators``: people of known class who answered a question about features or friends. Groups without
        anybody are left out, but for ``asked``.
    """
    answers, known = collected.answers, collected.seen_labels() >= 0
    people: dict[str, int] = {"panel": 0 if collected.shown is None else int((collected.shown.labels >= 0).sum())}
    counted = np.zeros(collected.num_nodes, dtype=np.int64)
    for name in (Friends.name, FriendsAgain.name):
        counted[_users(collected, name)] += 1
    calibrating = counted > 0
    for name in CHOICES:
        offered = _users(collected, name)
        calibrating[offered] = True
        if len(offered):
            ask = cast(Resemblance, collected.release.question(name).ask)
            for options, size in enumerate(np.bincount(ask.options()[offered])):
                people[f"asked_{options}"] = people.get(f"asked_{options}", 0) + int(size)
    people |= {"counted_once": int((counted == 1).sum()), "counted_twice": int((counted == 2).sum())}
    people |= {"pilot": len(_users(collected, Features.name)), "labels": len(_users(collected, Label.name))}
    people["calibrators"] = int((calibrating & known).sum())
    shares = {name: size / collected.num_nodes for name, size in people.items() if size}
    return {"asked": len(answers.users) / collected.num_nodes} | shares


def _users(collected: Collected, question: str) -> NDArray[np.int64]:
    answer = collected.answer(question)
    return np.zeros(0, dtype=np.int64) if answer is None else answer.users
