"""The figures that stand beside Inquiry's own: without answers, with other people's answers, and without noise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.release import Answer, Answers
from privet.release.asks._choice import Choice
from privet.release.asks.friends import Friends
from privet.systems.controls import MAJORITY, STRUCTURE, Control, majority
from privet.systems.fitted import Fitted

if TYPE_CHECKING:
    from privet.systems.local.inquiry.inquiry import Inquiry

__all__ = ["controls", "dealt"]

_NOISELESS = 25.0  # at this budget one answer in e^25 is changed


def controls(system: Inquiry) -> tuple[Control, ...]:
    """Return the controls of a system."""
    private = "the private answers"
    structure = replace(STRUCTURE, question=private)
    if system.hides_edges:
        structure = replace(structure, title="no private data", fit=_without_answers, subject=_any_budget)
    lists = Control("friends_only", "list", "the friend list alone, for the same epsilon", _friends_only, private)
    return (
        structure,
        Control("panel_only", "panel", "what some people show, and no answer", _without_answers, private, "answers"),
        Control("dealt_answers", "dealt", "answers dealt to other people at random", _dealt_answers, private),
        Control("noise_free", "no noise", "the same answers without noise", _noise_free, subject=_any_budget),
        Control("features_only", "no graph", "features without the graph", _features_only),
        *((lists,) if system.epsilon_person is not None and system.reads == "everything" else ()),
        replace(MAJORITY, question=private),
    )


def dealt(answers: Answers, rng: np.random.Generator) -> Answers:
    """Deal the answers of a round among people of whom the same could have come, so that they say nothing of anybody.

    Args:
        answers: The answers of a round; labels and a pilot's features stay as they are.
        rng: The source of the permutation.
    """
    parts = dict(answers.parts)
    for question in answers.release.questions:
        part, ask = answers[question.name], question.ask
        if isinstance(ask, Choice):
            parts[question.name] = _within(part, ask.options()[part.users], rng)
        elif isinstance(ask, Friends):
            parts[question.name] = _within(part, ask.attachment("ranks")[part.users], rng)
    return Answers(answers.release, parts)


def _within(part: Answer, groups: NDArray[np.integer], rng: np.random.Generator) -> Answer:
    order = np.arange(len(part))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        order[rows] = rng.permutation(rows)
    return part.dealt(order)


def _without_answers(system: Inquiry, graph: Graph, seed: int) -> Fitted:
    chosen = replace(system, seed=seed)
    if not system.hides_edges:
        return chosen.fit(chosen.collect(graph, altered=_nobody))
    if not system.public_features:
        return majority(graph)
    return chosen.fit(chosen.collect(graph, altered=_nobody))


def _nobody(answers: Answers) -> Answers:
    """Drop every answer to the questions that private data are for."""
    kept = {
        question.name: answers[question.name].take(np.arange(0))
        if isinstance(question.ask, Choice | Friends)
        else answers[question.name]
        for question in answers.release.questions
    }
    return Answers(answers.release, kept)


def _dealt_answers(system: Inquiry, graph: Graph, seed: int) -> Fitted:
    chosen, rng = replace(system, seed=seed), np.random.default_rng([seed, 3])
    return chosen.fit(chosen.collect(graph, altered=lambda answers: dealt(answers, rng)))


def _noise_free(system: Inquiry, graph: Graph, seed: int) -> Fitted:
    chosen = replace(system, seed=seed)
    return chosen.fit(chosen.collect(graph))


def _features_only(system: Inquiry, graph: Graph, seed: int) -> Fitted:
    """Ask about features in a graph without edges; public features are learned from as they are."""
    if system.public_features:
        return _without_answers(system, graph, seed)
    if not system.asks_features:
        return majority(graph)
    chosen = replace(system, seed=seed, epsilon_edges=None)
    if system.epsilon_person is not None:
        chosen = replace(chosen, reads="features", waves=1)
    nobody = sp.csr_array(graph.adjacency.shape, dtype=graph.adjacency.dtype)
    schema = None if graph.schema is None else replace(graph.schema, private_edges=False)
    return chosen.fit(chosen.collect(graph.replace(adjacency=nobody, schema=schema)))


def _friends_only(system: Inquiry, graph: Graph, seed: int) -> Fitted:
    """Ask the person question about friends alone; no panel is needed."""
    chosen = replace(system, seed=seed, reads="friends", panel=None, scorer=None)
    return chosen.fit(chosen.collect(graph))


def _any_budget(system: Inquiry) -> Inquiry:
    """Return the system at the budget at which nothing is randomised; its controls do not depend on the budget."""
    asked: dict[str, Any] = {
        name: _NOISELESS
        for name in ("epsilon_features", "epsilon_edges", "epsilon_person")
        if getattr(system, name) is not None
    }
    return replace(system, **asked)
