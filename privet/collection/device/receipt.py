"""A receipt in words: the question, what was sent for it, and that chance may have changed it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from privet.collection.device.participant import Reply
from privet.collection.study.manifest import Study
from privet.data import Categories
from privet.mechanisms import MultiBit, SampledResponse
from privet.mechanisms.core.reports import Reports

__all__ = ["receipt"]

_MOST_LINES = 12


def receipt(reply: Reply) -> list[str]:
    """Say what a collector was sent, one line a question, after a line that says how to read it.

    Args:
        reply: The report, after it was sent: whoever saw it before could stop by the result.
    """
    if reply.shows:
        lines = list(_shown(reply))
        return ["You are in the panel: everything below was sent, and is published, as you answered it.", *_few(lines)]
    lines = list(_sent(reply))
    return ["What was sent; chance may have changed each of your answers, and nobody can tell which:", *_few(lines)]


def _few(lines: list[str]) -> list[str]:
    left = len(lines) - _MOST_LINES
    return lines if left <= 1 else [*lines[:_MOST_LINES], f"  and {left} more"]


def _shown(reply: Reply) -> Iterator[str]:
    study, values = reply.study, reply.symbols()
    features = values["features"]
    assert isinstance(features, list)
    for place, value in enumerate(features):
        yield f"  {study.question(place)}: {_answer(study, place, value)}"
    yield f"  {study.class_question or 'Your class'}: {_class(study, values['label'])}"
    if "neighbours" in values:
        yield f"  Your friends: {', '.join(map(str, values['neighbours'])) or 'nobody'}"  # type: ignore[call-overload]


def _sent(reply: Reply) -> Iterator[str]:
    study = reply.study
    plain = study.release.wire.to_json(reply.body)
    answers = study.release.wire.unpack([0], [reply.body])
    for question in study.release.questions:
        if question.name == "features":
            yield from _features(reply, answers["features"].reports)
        elif question.name == "label":
            yield f"  {study.class_question or 'Your class'}: {_class(study, plain['label'])}"
        else:
            yield f"  {question.ask.subject}: {json.dumps(plain[question.name])}"


def _features(reply: Reply, reports: Reports) -> Iterator[str]:
    study, mechanism = reply.study, reply.study.release.question("features").mechanism
    symbols = reports.symbols[0].tolist()
    indices = reports.indices
    places = range(len(symbols)) if indices is None else indices[0].tolist()
    for place, symbol in zip(places, symbols, strict=True):
        said = f"the symbol {symbol}"
        if isinstance(mechanism, MultiBit):
            said = "a high answer" if symbol > 0 else "a low answer"
        elif isinstance(mechanism, SampledResponse):
            said = _answer(study, place, symbol)
        yield f"  {study.question(place)}: {said}"
    silent = study.declared.dimension - len(symbols)
    if silent:
        yield f"  {silent} other question{'' if silent == 1 else 's'}: nothing"


def _answer(study: Study, place: int, value: float) -> str:
    domain = study.declared.features[place]
    if isinstance(domain, Categories):
        return str(int(value)) if domain.names is None else f"'{domain.names[int(value)]}'"
    return f"{value:g}"


def _class(study: Study, label: object) -> str:
    number = int(str(label))
    return str(number) if study.class_names is None else f"'{study.class_names[number]}'"
