"""Sources of results: the reports to a study's questions, and the answers that a panel shows, as readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.operator.results.features import FeatureReading, reported_features, shown_features
from privet.collection.server.store.store import Store
from privet.collection.study.forms import OpenData, RoundForm
from privet.collection.study.manifest import Study
from privet.estimation.statistics.findings import Finding, Scale, find, find_among, find_within
from privet.estimation.statistics.readings import Reading, read_answers, read_open
from privet.release import Answers
from privet.release.asks import Ask
from privet.release.asks._choice import Choice
from privet.release.question import Question

__all__ = ["CLASS", "OTHER", "Item", "RoundReports", "Source", "feature_key", "read_rounds"]

CLASS = "class"
OTHER = "another offered class"


def feature_key(column: int) -> str:
    """Return the key of a question about a feature: its number as people count."""
    return str(column + 1)


@dataclass(frozen=True, eq=False)
class RoundReports:
    """The reports of one round.

    Attributes:
        study: The round.
        answers: The answers to its questions, with their public arrays where they are known.
        shown: What its panel shows.
        asked: The number of people whom its questions ask.
        panel: The number of people on the panel.
        edges: The public links, pairs x 2; None if they are private or not known.
        labels: The public classes, -1 where unknown; None if they are private or not known.
        erasures: The number of people whose reports were erased.
    """

    study: Study
    answers: Answers
    shown: OpenData
    asked: int
    panel: int = 0
    edges: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None
    erasures: int = 0

    @classmethod
    def at(cls, store: Store) -> RoundReports:
        """Read a round from its store."""
        study, form, erasures = store.study, store.form, len(store.erasures())
        answers, shown = store.collected()
        public = (None if each is None else store.array(each) for each in (study.inputs.edges, study.inputs.labels))
        edges, labels = public
        asked = form.count - len(form.panel)
        pairs = None if edges is None else np.asarray(edges).reshape(-1, 2)
        return cls(study, answers, shown, asked, len(form.panel), pairs, labels, erasures)

    @classmethod
    def of(cls, study: Study, answers: Answers, erasures: int = 0) -> RoundReports:
        """Return the reports of an exported round, of which nothing else is known."""
        return cls(study, answers, RoundForm(study, study.release).split([], [])[1], study.nodes, erasures=erasures)


@dataclass(frozen=True, eq=False)
class Item:
    """One question, and what the people of a source say about it.

    Attributes:
        key: The question's key: "class", the number of a feature, or the name of another question.
        words: The question as people read it.
        scale: The possible answers.
        reading: What people reported, or showed.
        answered: The number of people who sent a report, about this question or about others that were drawn.
        drawn: The number of features in a report, and of all features, if a report is not about all of them.
        base: What people reported about whether the figures apply to them, where they may not.
    """

    key: str
    words: str
    scale: Scale
    reading: Reading
    answered: int
    drawn: tuple[int, int] | None = None
    base: Reading | None = None

    def find(self) -> Finding:
        """Estimate the figures of everybody to whom they apply."""
        if self.base is None:
            return find(self.reading, self.scale)
        return find_among(self.base, self.reading, self.scale)

    def find_within(self, group: Reading) -> Finding:
        """Estimate the figures of one group."""
        return find_within(group, self.reading, self.scale, self.base)


@dataclass(frozen=True, eq=False)
class Source:
    """People who answered in one way: by randomised reports, or openly on a panel.

    Attributes:
        shown: True for a panel.
        items: Their questions, by key.
        asked: The number of people who were asked each of them.
        known: Public classes of some people, which nobody was asked for.
    """

    shown: bool
    items: Mapping[str, Item]
    asked: Mapping[str, int]
    known: Reading | None = field(default=None)

    @cached_property
    def classes(self) -> Reading | None:
        """Return the known classes of people; None if none is known."""
        return self.items[CLASS].reading if CLASS in self.items else self.known


def read_rounds(rounds: Sequence[RoundReports]) -> list[Source]:
    """Return the sources of a study: its reports and, if there is one, its panel.

    Args:
        rounds: The rounds so far, oldest first.
    """
    study = rounds[0].study
    items: dict[str, Item] = {}
    asked: dict[str, int] = {}
    for each in rounds:
        for question in each.answers.release.questions:
            for item in _items(each, question):
                items[item.key], asked[item.key] = item, each.asked
    labels = rounds[0].labels
    known = None
    if labels is not None:
        seen = np.flatnonzero(labels >= 0)
        known = read_open(seen, _one_hot(labels[seen], study.declared.classes))
    sources = [Source(False, items, asked, known)]
    shown = next((each for each in rounds if each.panel), None)
    if shown is not None:
        opened = {item.key: item for item in _shown(study, shown.shown)}
        sources.append(Source(True, opened, dict.fromkeys(opened, shown.panel)))
    return sources


def _items(round_: RoundReports, question: Question) -> Iterator[Item]:
    """Yield what the reports to one question of a release say: one item a feature, or one for the whole question."""
    study, part = round_.study, round_.answers[question.name]
    users, reports, mechanism = part.users, part.reports, question.mechanism
    if question.name == "features":
        sampled = getattr(mechanism.shape, "width", study.declared.dimension)
        drawn = (sampled, study.declared.dimension) if sampled < study.declared.dimension else None
        yield from _features(study, reported_features(study, users, reports, mechanism), len(users), drawn)
    elif question.name == "label":
        (reading,) = read_answers(users, reports, mechanism, (study.declared.classes,))
        yield Item(CLASS, study.class_question or "Class", _class_scale(study), reading, len(users))
    elif isinstance(question.ask, Choice):
        yield from _choices(study, question.ask, users, mechanism.estimate(reports))
    elif hasattr(mechanism, "cap"):
        (reading,) = read_answers(users, reports, mechanism, (study.declared.classes,))
        scale = Scale(_class_names(study), high=float(mechanism.cap), counts=True)
        yield Item(question.name, _sentence(question.ask), scale, reading, len(users))


def _features(
    study: Study, found: Iterable[FeatureReading], answered: int, drawn: tuple[int, int] | None = None
) -> Iterator[Item]:
    for column, own, scale, reading, base in found:
        key = feature_key(column) + ("-own" if own else "")
        yield Item(key, study.question(column), scale, reading, answered, drawn, base)


def _choices(study: Study, ask: Choice, users: NDArray[np.int64], estimate: Any) -> Iterator[Item]:
    """Yield the share of the people who chose each class, among those who were offered it."""
    offers = ask.offers
    if not isinstance(offers, np.ndarray):
        return
    own, told = offers[users], estimate.dense()[:, : offers.shape[1]]
    for each, name in enumerate(_class_names(study)):
        rows, places = np.nonzero(own == each)
        if len(rows):
            shares = told[rows, places]
            pair = Reading(users[rows], np.stack([1 - shares, shares], axis=1), np.ones(2), np.zeros(2))
            scale = Scale((OTHER, name), shares=True)
            yield Item(f"{ask.name}-{each}", f"{_sentence(ask)}: {name}", scale, pair, len(users))


def _shown(study: Study, shown: OpenData) -> Iterator[Item]:
    """Yield what a panel shows."""
    people = len(shown.users)
    yield from _features(study, shown_features(study, shown.users, shown.features), people)
    if study.declared.classes:
        answers = _one_hot(shown.labels, study.declared.classes)
        words = study.class_question or "Class"
        yield Item(CLASS, words, _class_scale(study), read_open(shown.users, answers), people)


def _class_scale(study: Study) -> Scale:
    return Scale(_class_names(study), shares=True)


def _class_names(study: Study) -> tuple[str, ...]:
    return study.class_names or tuple(map(str, range(study.declared.classes)))


def _one_hot(codes: NDArray[Any], count: int) -> NDArray[np.float64]:
    return np.asarray(np.eye(count)[codes])


def _sentence(ask: Ask) -> str:
    """Return what a question asks for, with a capital."""
    words = ask.subject.replace("your", "their").replace("you ", "they ")
    return words[:1].upper() + words[1:]
