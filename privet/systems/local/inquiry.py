"""Inquiry: ask each person one good question instead of collecting noise.

1. Prior: what public data tell of everybody's class; where friend lists are private, devices count their friends in
   published classes instead ("how many of your friends are in each group").
2. Scorer: a public function of features, from people who show theirs, from a pilot, from class sums, or given.
3. Question: each device is offered the few classes between which its answer tells most, and answers by randomised
   response which of them its features resemble most. Whoever's answer could not matter is not asked.
4. Use: the answers' exact evidence, the person's own and the neighbours', is added to the prior with a few weights that
   all classes share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from privet.data import Graph
from privet.errors import InvalidData
from privet.estimation.friends import second_round
from privet.estimation.resemblance import best_offers
from privet.estimation.scorers import LinearScorer, check_classes
from privet.graph.memory import topology_of
from privet.mechanisms import Bits, OfferedResponse
from privet.release import Answers, LocalRelease, PrivateData, Question
from privet.release.asks import Ask
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends, ranks_of
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.label import Label
from privet.release.asks.resemblance import Resemblance
from privet.systems.base import Altered, unaltered
from privet.systems.certificate import Certificate
from privet.systems.collected import Collected, labelled, public_view
from privet.systems.controls import Control
from privet.systems.fitted import Fitted
from privet.systems.local._inquiry_certificate import certify_answers, certify_counts
from privet.systems.local._inquiry_learning import InquiryLearning, Weighed
from privet.systems.local._inquiry_rounds import (
    ClassSums,
    Inquired,
    Shown,
    class_sums_release,
    who_was_asked,
)

__all__ = ["Inquiry"]

_ROUNDS = tuple(ask.name for ask in (Label, Features, Friends, FriendsAgain, Resemblance))
_CALIBRATING = 500  # labelled people who answer, if there are so many, however small their share is


@dataclass(frozen=True, kw_only=True)
class Inquiry(InquiryLearning):
    """One question about features, one about friends, or both; each person answers each of them at most once.

    Attributes:
        epsilon_features: The budget of the feature question; None if features are not asked about. 1 by default where
            friends are not asked about either.
        epsilon_edges: The budget of the friend question: of a list bit, half of a relationship's; None if the topology
            is public.
        panel: The people who show their features and class: a share of all people, drawn among training nodes, or
            their ids, or a mask. 0.1 by default where no other source of a scorer is named.
        pilot: The share of people, among training nodes, who spend the budget on a noisy feature vector instead.
        class_sums: The central epsilon of class sums from a trusted aggregator of labelled people's features.
        scorer: A public scorer: a matrix of (features + 1) x classes, or a function of a feature matrix.
        public_features: True if everybody's features are public and only friend lists are private.
        calibrators: The share of labelled people who answer too, so that the weights of answers can be fitted.
        everybody: True to ask also those whose answer could not change a prediction.
        cap: The largest number of friends in a class that a device reports.
        thorough: True to spend minutes on the certificate of predictions from counts of friends, which is then
            exact for more than one false class.
    """

    name: ClassVar[str] = "inquiry"
    on_cluster: ClassVar[bool] = True
    defences: ClassVar[tuple[str, ...]] = ("screen", "trim", "bound")

    def controls(self) -> tuple[Control, ...]:
        """Compare with doing without answers, with answers of other people, and with answers without noise."""
        from privet.systems.local._inquiry_controls import controls

        return controls(self)

    def dealt(self, collected: Collected) -> Collected:
        """Deal the answers among people of whom the same could have come."""
        from privet.systems.local._inquiry_controls import dealt

        answers = dealt(collected.answers, np.random.default_rng([self.seed or 0, 3]))
        return replace(cast(Inquired, collected), answers=answers, learned={})

    def topology(self, collected: Collected) -> Graph:
        """Return the public topology; without edges where friend lists are private."""
        return collected.public

    def without_privacy(self) -> Self:
        """Return the same system with public labels and topology, as far as they can be."""
        return replace(self, epsilon_labels=None)

    # Rounds: each is a release whose tables are made from what is public after the rounds before.

    def collect(self, graph: Graph, bits: Bits | None = None, *, altered: Altered = unaltered) -> Inquired:
        """Play every device, round after round, and the aggregator where there is one.

        Args:
            graph: The people with their private fields.
            bits: The devices' randomness, as for every system.
            altered: Changes the answers of each round before the server sees them, as for every system.
        """
        self.check(graph)
        drawn = self.bits() if bits is None else bits
        collected = self._opened(graph, drawn)
        while (release := self.next_round(collected)) is not None:
            asked = {question.name: self._asked(question, graph) for question in release.questions}
            collected.answers.check_next(release, asked)  # before anything is spent
            collected = collected.joined(altered(release.perturb(PrivateData.of(graph), drawn, asked)))
        return collected

    def check(self, graph: Graph) -> None:
        """Refuse what every system refuses, directed friend lists, and a panel or pilot of fewer than two classes."""
        super().check(graph)
        if graph.directed and self.epsilon_edges is not None:
            raise InvalidData("Inquiry counts friends at both ends of an edge; this graph is directed.")
        labels, classes = graph.labels, 0 if graph.schema is None else graph.schema.classes
        if self.panel is not None and labels is not None:
            check_classes(labels[self._panel(graph)], classes, "A panel")
        if self.pilot is not None and labels is not None and self.epsilon_labels is None:
            check_classes(labels[self._drawn(graph, self.pilot)], classes, "A pilot")

    def next_round(self, collected: Inquired) -> LocalRelease | None:
        """Draw up the next questions from what is public by now; None after the last round."""
        population = collected.release.population
        waiting = {q.name: q for q in self.questions(population) if q.name not in collected.answers}
        for name in filter(waiting.__contains__, _ROUNDS):
            ready = replace(waiting[name], ask=self._drawn_up(waiting[name], collected))
            return replace(collected.release, questions=(ready,))
        return None

    def opened(self, public: Graph, shown: Shown | None = None) -> Inquired:
        """Return what the server of a study holds before the first answers.

        Args:
            public: Schema, and topology and labels where they are public.
            shown: The features and classes of people who show them.
        """
        return Inquired(public, Answers(replace(self.release(public), questions=()), {}), shown=shown)

    def invited(self, question: Question, collected: Inquired) -> NDArray[np.int64] | None:
        """Return whom a study asks a question, by public facts; None for everybody whom the operator chose."""
        if question.name == Features.name and self.pilot is not None:
            return self._lot(collected.public, collected.seen_labels() >= 0, self.pilot)
        return question.ask.people()

    def _opened(self, graph: Graph, bits: Bits) -> Inquired:
        """Return what the server holds before the first round."""
        release = self.release(graph)
        nothing = Answers(replace(release, questions=()), {})
        shown = sums = None
        if self.public_features:
            shown = Shown.of(graph, np.arange(graph.num_nodes), classes=False)
        elif self.panel is not None:
            shown = Shown.of(graph, self._panel(graph), classes=True)
        if self.class_sums is not None:
            noise = class_sums_release(self.class_sums, graph.num_nodes)
            sums = ClassSums.of(graph, release.population.classes, noise, bits)
        opened = Inquired(public_view(graph, release), nothing, shown=shown, sums=sums)
        if self.pilot is None and self.epsilon_features is not None:
            self._scorer(opened)  # if there is none, nobody has spent anything yet
        return opened

    def _panel(self, graph: Graph) -> NDArray[np.int64]:
        """Return the people of the panel: the given ones, or a share of all, drawn among labelled training nodes."""
        if isinstance(self.panel, float | int):
            return self._drawn(graph, self.panel)
        people = np.unique(np.asarray(self.panel, dtype=np.int64))
        known = labelled(graph)
        if not len(people) or people[0] < 0 or people[-1] >= graph.num_nodes or not known[people].all():
            raise InvalidData("panel", "ids of training or validation nodes that have a class", "others")
        return people

    def _drawn(self, graph: Graph, share: float) -> NDArray[np.int64]:
        return self._lot(graph, labelled(graph), share)

    def _lot(self, graph: Graph, known: NDArray[np.bool_], share: float) -> NDArray[np.int64]:
        """Draw a share of all people among training nodes of known class."""
        train = np.flatnonzero(graph.split.train) if graph.split is not None else np.zeros(0, np.int64)
        drawn = np.random.default_rng([self.seed or 0, 1]).permutation(train)
        drawn = drawn[known[drawn]]  # dropped after the draw, so that one missing label changes one place
        return np.sort(drawn[: max(1, round(share * graph.num_nodes))])

    def _asked(self, question: Question, graph: Graph) -> NDArray[np.int64]:
        if question.name == Features.name and self.pilot is not None:
            return self._drawn(graph, self.pilot)
        asked = self.asked(question, graph)
        if question.name == Label.name and self.panel is not None:
            return np.setdiff1d(asked, self._panel(graph))  # they show their class
        return asked

    def _drawn_up(self, question: Question, collected: Inquired) -> Ask:
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

    def _worth_asking(self, collected: Inquired) -> NDArray[np.bool_]:
        """Tell whom to ask: by public facts alone.

        An answer moves log-odds by at most epsilon. Whoever's prior is surer than twice that, and who has no neighbour
        whose prediction might turn, is left alone; so is whoever has shown features or was in the pilot.
        """
        seen = collected.seen_labels()
        done = np.zeros(len(seen), dtype=np.bool_)
        if collected.shown is not None:
            done[collected.shown.users] = True
        pilot = collected.answer(Features.name)
        if pilot is not None:
            done[pilot.users] = True
        asked = ~done & (seen < 0)
        if not self.everybody:
            likeliest = np.partition(self._prior(collected), -2, axis=1)[:, -2:]
            open_ = (seen < 0) & (likeliest[:, 1] - likeliest[:, 0] <= 2 * (self.epsilon_features or 0.0))
            asked &= open_ | (collected.public.adjacency @ open_.astype(np.float32) > 0)
        return np.asarray(asked | self._calibrating(seen, done))

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Add the evidence of the answers to the prior, with weights fitted on labelled people who answered."""
        if not isinstance(collected, Inquired):
            raise InvalidData("data given to Inquiry", "collected by it, in rounds", type(collected).__name__)
        if self.defence:
            collected = replace(self.defended(collected), learned={})
        seen, _, held = collected.supervised("Inquiry")
        prior = self._prior(collected)
        weighed = None
        if collected.answer(Resemblance.name) is not None:
            weighed = self._with_answers(collected, prior, seen)
        logits, facts = (prior, {}) if weighed is None else (weighed.logits, weighed.facts)
        probabilities = softmax(logits, axis=1).astype(np.float32)
        certificate = self._certificate(collected, logits, weighed)
        facts |= who_was_asked(collected) | ({} if certificate is None else certificate.facts())
        if weighed is not None:
            scorer, _ = self._scorer(collected)
            facts |= {f"never_offered_{each}": 1.0 for each in getattr(scorer, "absent", ())}
        score = float((probabilities[held].argmax(axis=1) == seen[held]).mean())
        return self.fitted(collected, probabilities, validation_score=score, facts=facts, certificate=certificate)

    def _certificate(
        self, collected: Inquired, logits: NDArray[np.float64], weighed: Weighed | None
    ) -> Certificate | None:
        """Count the liars whom each prediction withstands; None if nobody was asked anything."""
        bounded, trimmed = "bound" in self.defence, "trim" in self.defence
        if self.epsilon_edges is None:
            if weighed is None or not topology_of(collected.topology).enumerable:  # it looks at every friendship
                return None
            return certify_answers(collected, weighed, bounded=bounded, trimmed=trimmed)
        rounds = [collected.learned.get(name) for name in (Friends.name, FriendsAgain.name)]
        counted = [found for found in rounds if found is not None]
        return certify_counts(logits, counted, weighed, collected.could_answer(), thorough=self.thorough)
