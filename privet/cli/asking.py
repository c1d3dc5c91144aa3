"""Questions to the person at the terminal before something that cannot be undone."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.prompt import Confirm

from privet.cli.app import BadOption

__all__ = ["Yes", "agrees", "insist"]

Yes = Annotated[bool, typer.Option("--yes", help="Go on without being asked, for scripts (default: ask).")]


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
