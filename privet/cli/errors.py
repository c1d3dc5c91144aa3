"""Errors in the words of the command line: a parameter that Python names is told as the option that sets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from privet.errors import InvalidParameter, MissingParameter, PrivetError, UnknownParameter, must_be

__all__ = ["as_option"]

# Options that set a parameter of another name. All other options are called as their parameters are.
_OTHER_NAMES = {
    "datasets": "only",
    "feature_hops": "hops",
    "neighbours": "degree",
    "noise_multiplier": "sigma",
    "num_nodes": "nodes",
    "root": "data",
    "target_epsilon": "epsilon",
}

# No parameter of Python, but an answer that a study may offer: quoted in a sentence, it is that answer.
_WORDS_OF_PEOPLE = {"yes"}


def as_option(error: PrivetError, app: typer.Typer, arguments: Sequence[str]) -> str:
    """Return the sentence of an error, which names options where the error names parameters.

    Args:
        error: The error. In a sentence of its own, parameters stand in quotes.
        app: The application with the command.
        arguments: The command line behind ``privet``.
    """
    spelled = _spelled(app, arguments)
    if not isinstance(error, InvalidParameter) or error.parameter is None:
        return _quoted_as_options(str(error), spelled)
    names = [_option(each, spelled, arguments) for each in error.parameter.partition("[")[0].split(", ")]
    if None in names:
        return str(error)
    subject = " and ".join(map(str, names))
    if isinstance(error, UnknownParameter):
        return f"{error.owner} takes no {subject}; it has {', '.join(error.known)}."
    if isinstance(error, MissingParameter):
        return f"Give {subject}."
    return must_be(subject, _quoted_as_options(str(error.expected), spelled), error.found)


def _quoted_as_options(text: str, spelled: Mapping[str, str]) -> str:
    for name, option in spelled.items():
        if name in _WORDS_OF_PEOPLE:
            continue
        text = text.replace(f"'{name}'", option)
    return text


def _spelled(app: typer.Typer, arguments: Sequence[str]) -> dict[str, str]:
    """Return by parameter how the command spells it: an option such as --num-nodes, or an argument such as SYSTEM."""
    command: Any = typer.main.get_command(app)
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    own = {
        each.name: str(each.metavar or each.name) if each.param_type_name == "argument" else max(each.opts, key=len)
        for each in command.params
        if each.name
    }
    return own | {name: own[other] for name, other in _OTHER_NAMES.items() if other in own and name not in own}


def _option(parameter: str, spelled: Mapping[str, str], arguments: Sequence[str]) -> str | None:
    """Return the option that sets a parameter, preferably one that was typed; None if the command has none."""
    if parameter.startswith("--"):
        return parameter
    options = [spelled[each] for each in (parameter, _OTHER_NAMES.get(parameter, "")) if each in spelled]
    if "--set" in spelled.values():
        options.append(f"--set {parameter}")
    typed = f" {' '.join(arguments)} ".replace("=", " ")
    return next((each for each in options if f" {each} " in typed), options[0] if options else None)
