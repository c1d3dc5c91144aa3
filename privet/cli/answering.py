"""Questions at the terminal: those of a study, one after the other, and whether to go on with what cannot be undone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.prompt import Confirm, Prompt

from privet.cli.app import BadOption

if TYPE_CHECKING:
    from privet.collection.device.participant import PrivateAnswers
    from privet.collection.device.preparation import Prepared
    from privet.collection.study.directory import Directory
    from privet.data import Categories

__all__ = ["Yes", "agrees", "ask_answers", "insist", "read_number"]

_MOST_TRIES = 5
_MOST_NAMED = 60
_GROUPED = r"[+-]?[1-9]\d{0,2}(?:%s\d{3})+(?:%s\d*)?"
_T = TypeVar("_T")
Yes = Annotated[bool, typer.Option("--yes", help="Go on without being asked, for scripts (default: ask).")]


def ask_answers(out: Console, prepared: Prepared, directory: Directory | None) -> PrivateAnswers:
    """Ask for what the round needs, and nothing else; what is entered stays in this process.

    Args:
        out: The owner's terminal.
        prepared: The round as the device has prepared it.
        directory: The list of participants, if the owner has it: people may then be named.
    """
    from privet.collection.device.participant import PrivateAnswers
    from privet.data import Categories
    from privet.privacy import Unit

    study, units = prepared.study, {question.ask.unit for question in prepared.release.questions}
    wants_features = prepared.shows or any(unit.covers(Unit.FEATURES) for unit in units)
    if wants_features and study.declared.mixed:
        raise BadOption(
            "The terminal cannot ask questions with several choices, or with 'prefer not to say'. Answer on the page, "
            "or give --answers FILE."
        )
    features = [_feature(out, prepared, place) for place in range(study.declared.dimension if wants_features else 0)]
    label = None
    if prepared.shows or Unit.LABEL in units:
        classes = Categories(study.declared.classes, study.class_names)
        label = int(_category(out, f"{study.class_question or 'Your class'}", classes))
    people: list[int] = []
    if study.shows_friends if prepared.shows else any(unit.covers(Unit.NEIGHBOUR_BIT) for unit in units):
        people = _people(out, study.nodes, directory)
    return PrivateAnswers(features, label, people)


def read_number(entered: str) -> float:
    """Read a number with a point or a comma before its decimals; raise ValueError with a sentence for anything else."""
    text = entered.strip().replace("\u2212", "-")
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", text):
        small, large = text.replace(",", "."), re.sub("[.,]", "", text)
        raise ValueError(f"{text} could be {float(small):g} or {large}. Write {large}, or {small}0.")
    for mark, decimal in ((",", "."), (r"\.", ","), (r"[ '\u2019\u00a0\u202f]", "[.,]")):
        if re.fullmatch(_GROUPED % (mark, decimal), text):
            text = re.sub(mark, "", text)
    text = text.replace(",", ".")
    if not re.fullmatch(r"[+-]?(?:\d+\.?\d*|\.\d+)", text):
        raise ValueError("That is no number.")
    return float(text)


def _feature(out: Console, prepared: Prepared, place: int) -> float:
    from privet.data import Categories

    study = prepared.study
    domain = study.declared.features[place]
    question = f"{place + 1}. {study.question(place)}"
    if isinstance(domain, Categories):
        return _category(out, question, domain)
    return _until(out, f"{question} ({study.allowed(place)})", read_number)


def _category(out: Console, question: str, domain: Categories) -> float:
    """Ask for a category by its name or its number; the names are listed with their numbers."""
    names = domain.names or tuple(map(str, range(domain.count)))
    if domain.names is not None and domain.count <= _MOST_NAMED:
        out.print(question, markup=False)
        for code, name in enumerate(names):
            out.print(f"  {code}  {name}", markup=False)
        question = "Number or name"

    def read(entered: str) -> float:
        found = [code for code, name in enumerate(names) if name.casefold() == entered.strip().casefold()]
        if not found and entered.strip().isdecimal() and int(entered) < domain.count:
            found = [int(entered)]
        if len(found) != 1:
            raise ValueError(f"Enter one of the numbers 0 to {domain.count - 1}, or a name as it is written.")
        return float(found[0])

    return _until(out, question, read)


def _people(out: Console, nodes: int, directory: Directory | None) -> list[int]:
    """Ask for people by number or, with a directory, by name."""

    def read(entered: str) -> list[int]:
        parts = [part.strip() for part in entered.split(",") if part.strip()]
        found = [int(part) if part.isdecimal() or directory is None else directory.node(part) for part in parts]
        if any(not 0 <= each < nodes for each in found):
            raise ValueError(f"People have the numbers 0 to {nodes - 1}.")
        return sorted(set(found))

    how = "numbers" if directory is None else "names or numbers"
    return _until(
        out, f"Whom are you linked with? ({how}, with commas between them; empty for nobody)", read, empty=True
    )


def _until(out: Console, question: str, read: Callable[[str], _T], *, empty: bool = False) -> _T:
    """Ask until the answer can be read."""
    from privet.errors import PrivetError

    for _ in range(_MOST_TRIES):
        try:
            entered = Prompt.ask(escape(question), console=out, default="" if empty else None, show_default=False)
        except EOFError:
            raise BadOption("There is nobody here to ask; give your answers in a file with --answers.") from None
        try:
            return read(entered or "")
        except ValueError as error:
            problem = "That is no number of a person." if str(error).startswith("invalid literal") else str(error)
        except PrivetError as error:
            problem = str(error)
        out.print(problem, markup=False)
    raise BadOption("No answer could be read. Nothing was made; give your answers in a file with --answers.")


def agrees(out: Console, question: str) -> bool:
    """Ask a question that is answered with yes or no."""
    try:
        return Confirm.ask(escape(question), console=out, default=False)
    except EOFError:
        raise BadOption("There is nobody here to ask; --yes agrees beforehand.") from None


def insist(question: str, yes: bool) -> None:
    """Go on only if the operator agrees, now or beforehand."""
    if not yes and not agrees(Console(highlight=False, soft_wrap=True), question):
        raise BadOption("Nothing was changed, because you did not agree.")
