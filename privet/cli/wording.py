"""Errors in the words of the command line: parameters that Python names are told as the options that were typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from privet.errors import InvalidParameter, MissingParameter, UnknownParameter, must_be

__all__ = ["calls_as_options", "in_options"]

# Options that set a parameter of another name. All other options are called as their parameters are.
_OTHER_NAMES = {
    "datasets": "only",
    "feature_hops": "hops",
    "noise_multiplier": "sigma",
    "num_nodes": "nodes",
    "target_epsilon": "epsilon",
}
_ONLY_IN_PYTHON = " or a numpy Generator"


def in_options(error: InvalidParameter, app: typer.Typer, arguments: Sequence[str]) -> str:
    """Return the sentence of an error about a parameter as an error about the command's options.

    Args:
        error: The error.
        app: The application with the command.
        arguments: The command line behind ``privet``.
    """
    spelled, typed = _spelled(app, arguments), _typed(arguments)
    if error.parameter is None:
        return _translated(str(error), spelled)
    names = [_option(each, spelled, typed) for each in re.sub(r"\[\d+\]", "", error.parameter).split(", ")]
    if None in names:
        return _translated(str(error), spelled)
    subject = " and ".join(map(str, names))
    if isinstance(error, UnknownParameter):
        return f"{error.owner} takes {_takes(error.known, spelled)}, not {subject}."
    if isinstance(error, MissingParameter):
        return f"Give {subject}."
    found = error.found
    if type(found) in (float, int) and subject in typed and "[" not in error.parameter:
        found = typed[subject]  # an option may count in other units than its parameter does
    expected = _translated(str(error.expected), spelled).replace(_ONLY_IN_PYTHON, "")
    expected = re.sub("^None\\b", "left out", expected)
    return must_be(subject, expected, found)


def calls_as_options(text: str, app: typer.Typer, arguments: Sequence[str]) -> str:
    """Tell remedies that are calls in Python, such as ``group_columns(graph, 1)``, as options of the command.

    Args:
        text: The sentence of an error.
        app: The application with the command.
        arguments: The command line behind ``privet``.
    """
    spelled = _spelled(app, arguments)

    def option(found: re.Match[str]) -> str:
        return f"{spelled[found['name']]} {found['value']}" if found["name"] in spelled else found[0]

    return re.sub(r"(?P<name>\w+)\(graph, (?P<value>[\w.]+)\)", option, text)


def _spelled(app: typer.Typer, arguments: Sequence[str]) -> dict[str, str]:
    """Return by parameter how the command spells it: an option such as --num-nodes, or an argument such as SYSTEM."""
    command: Any = typer.main.get_command(app)
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    return {
        each.name: str(each.metavar or each.name) if each.param_type_name == "argument" else max(each.opts, key=len)
        for each in command.params
        if each.name
    }


def _typed(arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of a command line with the words behind them, and those behind ``--set`` by their names."""
    typed: dict[str, str] = {}
    for word, after in zip(arguments, [*arguments[1:], ""], strict=True):
        if word.startswith("--"):
            option, equals, value = word.partition("=")
            value = value if equals else after
            name, _, set_to = value.partition("=")
            typed |= {f"--set {name.replace('-', '_')}": set_to} if option == "--set" else {option: value}
    return typed


def _option(parameter: str, spelled: Mapping[str, str], typed: Mapping[str, str]) -> str | None:
    """Return the option that sets a parameter, preferably one that was typed; None if the command has none."""
    if parameter.startswith("--"):
        return parameter
    others = [each for each in (parameter, _OTHER_NAMES.get(parameter, "")) if each in spelled]
    found = [spelled[each] for each in others] + ([f"--set {parameter}"] if "--set" in spelled.values() else [])
    return next((each for each in found if each in typed), found[0] if found else None)


def _takes(known: Sequence[str], spelled: Mapping[str, str]) -> str:
    """Return the options for some parameters in words; those without an option of their own are given with --set."""
    own = [spelled[each] for each in known if each in spelled]
    own += [spelled[_OTHER_NAMES[each]] for each in known if each not in spelled and _OTHER_NAMES.get(each) in spelled]
    rest = [each for each in known if each not in spelled and _OTHER_NAMES.get(each) not in spelled]
    return "; with --set ".join(", ".join(each) for each in (own, rest) if each)


def _translated(text: str, spelled: Mapping[str, str]) -> str:
    """Spell parameters as options: those in quotes, and those that only a parameter's name can be, such as one_run."""

    def option(found: re.Match[str]) -> str:
        return spelled.get(found["quoted"] or found["bare"], found[0])

    return re.sub(r"'(?P<quoted>\w+)'|\b(?P<bare>[a-z]+_\w+)\b", option, text)
