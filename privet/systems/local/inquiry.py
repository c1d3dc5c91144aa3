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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from privet.data import Graph
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.estimation.features import class_priors_from_features
from privet.estimation.friends import friend_posterior, second_round
from privet.estimation.neighbour_evidence import SOURCES, neighbour_evidence
from privet.estimation.prior import calibrated, structural_prior
from privet.estimation.resemblance import AnswerModel, KnownAccuracy, SeenScores, best_offers, evidence
from privet.estimation.scorers import LinearScorer, check_every_class, mean_scorer, panel_scorer, pilot_scorer
from privet.estimation.shared_weights import SharedWeights
from privet.mechanisms import Bits, Counts, MultiBit, OfferedResponse, RandomizedResponse
from privet.release import Answers, LocalRelease, PrivateData, Question
from privet.release.asks import Ask
from privet.release.asks._base import digest
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends, ranks_of
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.label import Label
from privet.release.asks.resemblance import Resemblance
from privet.release.local import Aggregate
from privet.systems.base import LocalSystem
from privet.systems.collected import Collected, labelled, public_view
from privet.systems.controls import Control
from privet.systems.fitted import Fitted
from privet.systems.local._inquiry_rounds import (
    ClassSums,
    Inquired,
    Shown,
    class_sums_aggregate,
    class_sums_release,
    who_was_asked,
)

__all__ = ["Inquiry"]

Array = NDArray[np.float64]

_ROUNDS = ((Label.name, Features.name), (Friends.name,), (FriendsAgain.name,), (Resemblance.name,))
_SOURCES = ("panel", "pilot", "class_sums", "scorer")
_PANEL = 0.1  # the share of people in a panel where no other source of a scorer is named
_GUESS = 0.6  # the accuracy of answers that offers assume where nobody's scores are seen
_FEWEST = 50  # people of known class who answered, without whom weights are not fitted
_CALIBRATING = 500  # labelled people who answer, if there are so many, however small their share is
_PENALTIES = (1.0, 10.0, 100.0, 1e4)


@dataclass(frozen=True, kw_only=True)
class Inquiry(LocalSystem):
    """One question about features, one about friends, or both; each person answers each of them at most once.

    Attributes:
        epsilon_features: The budget of the feature question; None if features are not asked about. 1 by default where
            friends are not asked about either.
        epsilon_edges: The budget of the friend question: of a list bit, and of a relationship; None if the topology is
            public.
        panel: The people who show their features and class: a share of all people, drawn among training nodes, or
            their ids, or a mask. 0.1 by default where no other source of a scorer is named.
        pilot: The share of people, among training nodes, who spend the budget on a noisy feature vector instead.
        class_sums: The central epsilon of class sums from a trusted aggregator of labelled people's features.
        scorer: A public scorer: a matrix of (features + 1) x classes, or a function of a feature matrix.
        public_features: True if everybody's features are public and only friend lists are private.
        calibrators: The share of labelled people who answer too, so that the weights of answers can be fitted.
        everybody: True to ask also those whose answer could not change a prediction.
        cap: The largest number of friends in a class that a device reports.
    """

    name: ClassVar[str] = "inquiry"
    epsilon_features: float | None = None  # type: ignore[assignment]
    epsilon_edges: float | None = None
    panel: Any = None
    pilot: float | None = None
    class_sums: float | None = None
    scorer: Any = None
    public_features: bool = False
    calibrators: float = 0.3
    everybody: bool = False
    cap: int = 32

    def __post_init__(self) -> None:
        if self.epsilon_features is None and self.epsilon_edges is None:
            object.__setattr__(self, "epsilon_features", 1.0)
        super().__post_init__()
        if self.public_features and (self.epsilon_features is not None or self.epsilon_edges is None):
            expected = "False, or with private lists and without epsilon_features"
            raise InvalidParameter("public_features", "Inquiry", expected, True)
        named = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(named) > 1:
            raise InvalidParameter(named[1], "Inquiry", f"None beside {named[0]}: a scorer has one source", "another")
        if named and self.epsilon_features is None:
            raise InvalidParameter(named[0], "Inquiry", "None where features are not asked about", "a source")
        if not named and self.epsilon_features is not None:
            object.__setattr__(self, "panel", _PANEL)
        self._check_shares()
        self._check_least(cap=1)

    def _check_shares(self) -> None:
        if self.panel is not None and not isinstance(self.panel, float | int):
            people = np.asarray(self.panel)
            ids = np.flatnonzero(people) if people.dtype == np.bool_ else people
            object.__setattr__(self, "panel", tuple(int(each) for each in ids))
        if self.class_sums is not None:
            self._check_positive("class_sums")
            if self.epsilon_labels is not None:
                expected = "None where labels are private: sums are made by true class"
                raise InvalidParameter("class_sums", "Inquiry", expected, self.class_sums)
        for name in ("panel", "pilot"):
            value = getattr(self, name)
            if isinstance(value, float | int) and not 0 < value < 1:
                raise InvalidParameter(name, "Inquiry", "a share of people between 0 and 1", value)
        if not 0 < self.calibrators <= 1:
            raise InvalidParameter("calibrators", "Inquiry", "a share above 0, at most 1", self.calibrators)

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Ask for the label where labels are private, then for the pilot's features, for friends, for resemblance."""
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
        if self.epsilon_features is not None:
            asked.append(Question(Resemblance(), self._options(population)))
        return tuple(asked)

    def release(self, public: Any) -> LocalRelease:
        """Return everything that leaves the devices in all rounds, and what some people show besides."""
        population = Population.of(public)
        return LocalRelease(self.questions(population), population, self._disclosed(), self._aggregated(population))

    def _aggregated(self, population: Population) -> tuple[Aggregate, ...]:
        if self.class_sums is None:
            return ()
        return (class_sums_aggregate(class_sums_release(self.class_sums, population.num_nodes)),)

    def _disclosed(self) -> tuple[str, ...]:
        shown = []
        if self.panel is not None:
            size = (
                f"{100 * self.panel:.3g} % of people"
                if isinstance(self.panel, float | int)
                else f"{len(self.panel)} people"
            )
            shown.append(f"the features and classes of the panel ({size}), who agreed to show them")
        if self.public_features:
            shown.append("everybody's features, which the operator knows")
        if self.epsilon_edges is not None:
            shown.append(
                "the classes of labelled people, as they are known or reported, and predicted classes of others, which "
                "every device is given"
            )
        return (*shown, "who is asked, which follows from public facts and from answers of others")

    def settings(self) -> dict[str, Any]:
        """Return the hyper-parameters as plain values; a given scorer is too large to be listed, and named instead."""
        plain = super().settings() | {"scorer": None if self.scorer is None else _named(self.scorer)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @classmethod
    def decided_by(cls, release: LocalRelease) -> dict[str, Any]:
        """Return the release's budgets; features that are not asked about have none."""
        return {"epsilon_features": None, **super().decided_by(release)}

    def controls(self) -> tuple[Control, ...]:
        """Compare with doing without answers, with answers of other people, and with answers without noise."""
        from privet.systems.local._inquiry_controls import controls

        return controls(self)

    def without_privacy(self) -> Self:
        """Return the same system with public labels and topology, as far as they can be."""
        return replace(self, epsilon_labels=None)

    # Rounds: each is a release whose tables are made from what is public after the rounds before.

    def collect(
        self, graph: Graph, bits: Bits | None = None, *, altered: Callable[[Answers], Answers] = lambda answers: answers
    ) -> Inquired:
        """Play every device, round after round, and the aggregator where there is one.

        Args:
            graph: The people with their private fields.
            bits: The devices' randomness, as for every system.
            altered: Changes the answers of each round before the server sees them: for controls.
        """
        if graph.directed and self.epsilon_edges is not None:
            raise InvalidData("graph given to Inquiry", "undirected", "a directed one")
        self._check_graph(graph)
        drawn = self.bits() if bits is None else bits
        collected = self._opened(graph, drawn)
        while (release := self.next_round(collected)) is not None:
            asked = {question.name: self._asked(question, graph) for question in release.questions}
            collected.answers.check_next(release, asked)  # before anything is spent
            collected = collected.joined(altered(release.perturb(PrivateData.of(graph), drawn, asked)))
        return collected

    def next_round(self, collected: Inquired) -> LocalRelease | None:
        """Draw up the next questions from what is public by now; None after the last round."""
        population = collected.release.population
        for names in _ROUNDS:
            waiting = [q for q in self.questions(population) if q.name in names and q.name not in collected.answers]
            if waiting:
                ready = (replace(each, ask=self._drawn_up(each.ask, collected)) for each in waiting)
                return replace(collected.release, questions=tuple(ready))
        return None

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
        self._check_scorer(opened)
        return opened

    def _check_scorer(self, opened: Inquired) -> None:
        """Find out before anybody spends anything that there will be no scorer."""
        if self.pilot is None and self.epsilon_features is not None:
            self._scorer(opened)
        elif self.pilot is not None and self.epsilon_labels is None:
            labels, classes = opened.seen_labels(), opened.schema.classes
            check_every_class(labels[self._drawn(opened.public, self.pilot, salt=1)], classes, "A pilot")

    def _panel(self, graph: Graph) -> NDArray[np.int64]:
        """Return the people of the panel: the given ones, or a share of all, drawn among labelled training nodes."""
        if isinstance(self.panel, float | int):
            return self._drawn(graph, self.panel, salt=1)
        people = np.unique(np.asarray(self.panel, dtype=np.int64))
        known = labelled(graph)
        if not len(people) or people[0] < 0 or people[-1] >= graph.num_nodes or not known[people].all():
            raise InvalidData("panel", "ids of training or validation nodes that have a class", "others")
        return people

    def _drawn(self, graph: Graph, share: float, salt: int) -> NDArray[np.int64]:
        train = np.flatnonzero(graph.split.train) if graph.split is not None else np.zeros(0, np.int64)
        drawn = np.random.default_rng([self.seed or 0, salt]).permutation(train)
        drawn = drawn[labelled(graph)[drawn]]  # dropped after the draw, so that one missing label changes one place
        return np.sort(drawn[: max(1, round(share * graph.num_nodes))])

    def _asked(self, question: Question, graph: Graph) -> NDArray[np.int64]:
        if question.name == Features.name and self.pilot is not None:
            return self._drawn(graph, self.pilot, salt=1)
        asked = self.asked(question, graph)
        if question.name == Label.name and self.panel is not None:
            return np.setdiff1d(asked, self._panel(graph))  # they show their class
        return asked

    def _drawn_up(self, ask: Ask, collected: Inquired) -> Ask:
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
            options = self._options(collected.release.population)
            offers, _ = best_offers(self._prior(collected), model, options)
            offers[~self._worth_asking(collected)] = -1
            if isinstance(scorer, LinearScorer):
                return replace(ask, unit_length=scorer.unit_length).attach(scorer=scorer.weights, offers=offers)
            return replace(ask, scorer=scorer).attach(offers=offers)
        return ask

    def _options(self, population: Population) -> OfferedResponse:
        return OfferedResponse(epsilon=cast(float, self.epsilon_features), most=max(2, min(population.classes, 255)))

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

    # What the server makes of it.

    def _transition(self, collected: Inquired) -> Array | None:
        response = collected.label_response
        return None if response is None else response.transition

    def _prior(self, collected: Inquired) -> Array:
        """Return everybody's class log-probabilities by now, before the feature question, own labels left out."""
        friends = [name for name in (Friends.name, FriendsAgain.name) if name in collected.answers]
        if self.epsilon_edges is None:
            return cast(Array, collected.once("prior", lambda: self._structural_prior(collected)))
        prior = self._feature_prior(collected)
        for name in friends:
            prior = collected.once(name, partial(self._friend_prior, collected, name, prior))
        if prior is None:
            raise InvalidData("The friend question comes before what depends on its answers.")
        return prior

    def _known(self, collected: Inquired) -> dict[str, Any]:
        return {"label_transition": self._transition(collected), "seed": self.seed or 0}

    def _structural_prior(self, collected: Inquired) -> Array:
        seen, known = collected.seen_labels(), self._known(collected)
        found = structural_prior(collected.topology.adjacency, seen, collected.schema.classes, **known)
        return calibrated(found, seen, known["label_transition"])

    def _feature_prior(self, collected: Inquired) -> Array | None:
        """Return what public features tell; None where features are private."""
        if not self.public_features or collected.shown is None:
            return None
        rows, classes = collected.shown.features, collected.schema.classes
        known = self._known(collected)
        compute = partial(class_priors_from_features, rows, collected.seen_labels(), classes, **known)
        return cast(Array, collected.once("features", compute))

    def _friend_prior(self, collected: Inquired, name: str, before: Array | None) -> Array:
        """Return what a round of the friend question adds to what was known before it."""
        question, answer = collected.release.question(name), collected.answers[name]
        if not len(answer):
            if before is None:
                raise InvalidData("Nobody answered the friend question, so there is nothing to learn from.")
            return before
        found = friend_posterior(
            answer.users,
            question.mechanism.validate(answer.reports).symbols,
            question.ask.attachment("table"),
            question.ask.attachment("ranks"),
            cast(Counts, question.mechanism),
            labels=collected.seen_labels(),
            prior=before,
            **self._known(collected),
        )
        return np.asarray(np.log(np.maximum(found.probabilities, 1e-12)))

    def _scorer(self, collected: Inquired) -> tuple[Any, AnswerModel]:
        """Return the scorer, and what is known of the answers that it leads to before anybody is asked."""
        scorer, classes = collected.once("scorer", lambda: self._new_scorer(collected)), collected.schema.classes
        if isinstance(scorer, LinearScorer) and scorer.scores is not None and scorer.labels is not None:
            return scorer, SeenScores(scorer.scores, scorer.labels, classes)
        return scorer, KnownAccuracy(_GUESS, classes)

    def _new_scorer(self, collected: Inquired) -> Any:
        classes, population = collected.schema.classes, collected.release.population
        if self.scorer is not None:
            return self.scorer if callable(self.scorer) else _given(self.scorer, population)
        if collected.sums is not None:
            return mean_scorer(collected.sums.sums, collected.sums.counts, collected.sums.noise)
        seen = collected.seen_labels()
        if collected.shown is not None:
            people = collected.shown
            return panel_scorer(people.features, seen[people.users], classes, seed=self.seed or 0)
        pilot, mechanism = collected.answers[Features.name], collected.mechanism(Features.name)
        middle = (population.schema.low + population.schema.high)[None] / 2
        noise = mechanism.variance(middle)[0]
        return pilot_scorer(mechanism.estimate(pilot.reports).dense(), noise, seen[pilot.users], classes)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Add the evidence of the answers to the prior, with weights fitted on labelled people who answered."""
        if not isinstance(collected, Inquired):
            raise InvalidData("data given to Inquiry", "collected by it, in rounds", type(collected).__name__)
        seen, _, held = collected.supervised("Inquiry")
        prior = self._prior(collected)
        logits, facts = prior, dict[str, float]()
        if collected.answer(Resemblance.name) is not None:
            logits, facts = self._with_answers(collected, prior, seen)
        facts |= who_was_asked(collected)
        probabilities = softmax(logits, axis=1).astype(np.float32)
        score = float((probabilities[held].argmax(axis=1) == seen[held]).mean())
        return self.fitted(collected, probabilities, validation_score=score, facts=facts)

    def _with_answers(
        self, collected: Inquired, prior: Array, seen: NDArray[np.int64]
    ) -> tuple[Array, dict[str, float]]:
        own, facts = self._own_evidence(collected, seen)
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
        return logits, facts

    def _sources(self, collected: Inquired, prior: Array, own: NDArray[np.float32]) -> Iterator[NDArray[Any]]:
        """Yield the sources of evidence: the prior, the person's own answer, the neighbours' where they are known."""
        yield prior
        yield own
        if self.epsilon_edges is None:
            yield from neighbour_evidence(collected.topology.adjacency, own, collected.seen_labels())

    def _own_evidence(
        self, collected: Inquired, seen: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], dict[str, float]]:
        """Return each person's centred log-likelihoods of the classes; 0 for people who did not answer."""
        question, answer = collected.release.question(Resemblance.name), collected.answers[Resemblance.name]
        ask, mechanism = cast(Resemblance, question.ask), cast(OfferedResponse, question.mechanism)
        offers = ask.attachment("offers")[answer.users]
        positions, options = mechanism.decode(answer.reports)
        if not np.array_equal(options, (offers >= 0).sum(axis=1)):
            raise InvalidReports("answers to 'resemblance'", "among the classes that were offered", "others")
        scorer, model = self._scorer(collected)
        if isinstance(model, KnownAccuracy):
            known = seen[answer.users] >= 0
            transition = self._transition(collected)
            heard = (np.eye(model.classes) if transition is None else transition).T[seen[answer.users[known]]]
            model = KnownAccuracy.estimated(offers[known], positions[known], heard, mechanism)
        own = np.zeros((collected.num_nodes, model.classes), dtype=np.float32)
        own[answer.users] = evidence(model, offers, positions, mechanism)
        if isinstance(model, SeenScores) and collected.shown is not None and isinstance(scorer, LinearScorer):
            everything = tuple(range(model.classes))
            told = ask.scores(collected.shown.features).argmax(axis=1)
            own[collected.shown.users] = np.log(model.confusion(everything)).T[told]
        options_mean = float(options.mean()) if len(options) else 0.0
        return own - own.mean(axis=1, keepdims=True), {"options": options_mean}


def _labelled_others(collected: Inquired, seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labelled people who show nothing: they weigh what the panel shows if nobody answers."""
    shown = np.zeros(0, dtype=np.int64) if collected.shown is None else collected.shown.users
    return np.setdiff1d(np.flatnonzero(seen >= 0), shown)


def _named(scorer: Any) -> str:
    """Return a name by which stored figures of different scorers are told apart: of a function, that of its code."""
    if callable(scorer):
        return f"function {getattr(scorer, '__module__', '')}.{getattr(scorer, '__qualname__', type(scorer).__name__)}"
    return digest(np.asarray(scorer))


def _given(scorer: Any, population: Population) -> LinearScorer:
    """Check a user's linear scorer and make its weights integers."""
    from privet.release.asks.resemblance import as_integers

    matrix = np.asarray(scorer)
    if matrix.shape != (population.dimension + 1, population.classes) or not np.isfinite(matrix).all():
        expected = f"({population.dimension} features + 1 row of offsets) x {population.classes} classes, finite"
        raise InvalidParameter("scorer", "Inquiry", expected, f"shape {matrix.shape}")
    integers = matrix.astype(np.int32) if np.issubdtype(matrix.dtype, np.integer) else as_integers(matrix)
    return LinearScorer(integers, unit_length=False)
