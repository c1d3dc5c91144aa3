"""A privacy statement as sentences that a privacy officer can file; every term is explained where it first occurs."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from privet.privacy.rounding import at_most

__all__ = ["as_markdown", "as_text", "paragraphs", "plain"]

Section = tuple[str, list[str], list[str]]
"""A heading, paragraphs, and the points of a list behind them."""

UNIT_WORDS = {
    "feature vector": "all that a device says about its owner's features together",
    "label": "the class that a device says its owner belongs to",
    "neighbour list bit": "what one person's list says about one other person being a contact or not",
    "relationship": "whether two people are linked, which the devices of both may report",
    "friend list": "all that one person's list says about all other people together",
    "person": "all that a device says about its owner's features and friends together",
    "node": "whether one person was in the training data at all, with what the adjacency below names",
}


def paragraphs(document: Mapping[str, Any]) -> list[Section]:
    """The statement's sections, in the order in which a reader needs them."""
    return [
        ("What this is about", [_subject(document), _TRUST[document["deployment_model"]], _reality(document)], []),
        ("What is promised", _promise(document), []),
        ("How the privacy budget is spent", [_composition(document)], [_share(each) for each in document["budget"]]),
        (
            "What is not protected",
            [
                "The promise does not cover everything. An observer may learn the following all the same, and "
                "also whatever can be concluded from it about a person, for example from the people around them."
            ],
            [_sentence(each) for each in document["unprotected"]],
        ),
        ("Limits and precautions", [_caveats(document)], []),
    ]


def as_text(document: Mapping[str, Any], width: int = 80) -> str:
    """Plain text, wrapped."""
    lines = [f"Privacy statement: {document['system']} on {document['dataset']}", ""]
    for heading, texts, points in paragraphs(document):
        lines += [heading.upper()]
        for text in texts:
            lines += [*textwrap.wrap(text, width), ""]
        for point in points:
            lines += textwrap.wrap(point, width, initial_indent="- ", subsequent_indent="  ")
        lines += [""] if points else []
    return "\n".join(lines).rstrip() + "\n"


def as_markdown(document: Mapping[str, Any]) -> str:
    """Markdown, with headings, one line a paragraph."""
    parts = [f"# Privacy statement: {plain(document['system'])} on {plain(document['dataset'])}"]
    for heading, texts, points in paragraphs(document):
        parts += [f"## {heading}", *map(plain, texts)]
        parts += ["\n".join(f"- {plain(point)}" for point in points)] if points else []
    return "\n\n".join(parts) + "\n"


def _subject(document: Mapping[str, Any]) -> str:
    return (
        f"This statement was made by the program {document['software']} (build {document['build']}) about its system "
        f"{document['system']}, applied to the data called {document['dataset']}. It uses differential privacy, a "
        "mathematical limit on how much any observer, whatever they know already and whatever they compute, can learn "
        "about one person from what is given out."
    )


_DEVICES = (
    "each person's own device randomises their data before anything leaves it. The operator of the server receives the "
    "randomised reports and never the data, except where the list of what is not protected says that people show them."
)
_TRUST = {
    "local": f"The model of trust is local: {_DEVICES}",
    "central": "The model of trust is central: one holder has everybody's data, must be trusted with it, and trains a "
    "model. The promise is about those who see the trained model afterwards.",
    "hybrid": f"The model of trust is local for most people: {_DEVICES} It is central for labelled people: an "
    "aggregator sees their features, must be trusted with them, and gives noisy sums to the operator.",
    "two servers": "The model of trust is that two servers, run by parties who do not work together, get one share "
    "each of what a device sends to be summed. A share is a random number. Each server adds up its shares of all "
    "people and adds noise, and only the noisy sum is put together. "
    f"For everything else the model is local: {_DEVICES}",
}


def _reality(document: Mapping[str, Any]) -> str:
    central = document["deployment_model"] == "central"
    if document["collection"] == "real":
        return f"It describes {'a training run' if central else 'a collection from devices'} that took place."
    who = "the holder" if central else "all devices"
    return (
        f"It describes a simulation: one program played {who}, with data that it had in full and with random numbers "
        "that can be repeated. It says what the same settings promise when they are used in earnest. It is no evidence "
        "that anybody's data was protected in the simulation itself."
    )


def _promise(document: Mapping[str, Any]) -> list[str]:
    epsilon, delta, published = (document[name] for name in ("epsilon", "delta", "published_epsilon"))
    units = [UNIT_WORDS[each] for each in document["privacy_unit"].split(" and ") if each in UNIT_WORDS]
    meaning = f", that is, {' and '.join(units)}" if units else ""
    texts = [
        f"What is protected (the privacy unit) is the {document['privacy_unit']}{meaning}. The promise compares what "
        f"an observer sees in two cases (the adjacency): {document['adjacency']}.",
        f"{document['in_words']} This is the meaning of an epsilon of {at_most(epsilon)}, the privacy loss: the factor "
        "is e, about 2.718, to the power of epsilon. An epsilon of 0 would reveal nothing at all, and a smaller one is "
        "a stronger promise. " + _delta_words(delta),
    ]
    if published is not None and published != epsilon:
        relation = "That claim is stronger than what holds" if published < epsilon else "What holds is stronger"
        texts.append(
            f"The publication of this system states an epsilon of {published:.4g} for the same settings. {relation}; "
            "the published figure is given for comparison only, and nothing here relies on it."
        )
    return texts


def _delta_words(delta: float) -> str:
    if not delta:
        return "The limit holds without exception (delta is 0, which is called pure differential privacy)."
    return (
        f"Any such probability may exceed that limit by at most {at_most(delta)} (this is delta; with one above 0 the "
        "privacy is called approximate)."
    )


def _composition(document: Mapping[str, Any]) -> str:
    return _sentence(document["composition"]) + (" The parts are the following." if document["budget"] else "")


def _share(entry: Mapping[str, Any]) -> str:
    delta = f" and a delta of {at_most(entry['delta'])}" if entry["delta"] else ""
    how = entry.get("how")
    explained = f" ({how})" if how else ""
    amount = f"an epsilon of {at_most(entry['epsilon'])}{delta} for each {entry['unit']}"
    return _sentence(f"{entry['part']}: {amount} is spent by {entry['mechanism']}{explained}")


def _caveats(document: Mapping[str, Any]) -> str:
    fields = ("actors", "release", "post_processing", "hyperparameter_tuning", "floating_point", "randomness", "scope")
    return " ".join(_sentence(document[name]) for name in fields)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def plain(text: str) -> str:
    """Nothing in a name becomes markup."""
    return "".join("\\" + mark if mark in "\\`*_[]<>#|" else mark for mark in text)
