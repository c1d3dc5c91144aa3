"""The Typer application that every command registers itself with, and what all commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.errors import PrivetError

__all__ = ["AsJson", "BadOption", "Data", "Seeds", "System", "app", "examples", "with_options"]

app = typer.Typer(
    name="privet",
    help="Private learning on graphs whose nodes are people.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its boxes cut option names off in a terminal of 80 columns
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object (default: text for people).")]

System = Annotated[str, typer.Argument(metavar="SYSTEM", help="For example lpgnn; an unknown name lists them all.")]
Data = Annotated[
    Path | None,
    typer.Option(
        envvar="PRIVET_DATA", help="Directory of the named datasets (default: PRIVET_DATA).", show_default=False
    ),
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of random splits and simulations.")]


class BadOption(PrivetError, ValueError):
    """Options that do not fit together or do not fit the system: one sentence that says what to type instead."""


def examples(*commands: str) -> str:
    """Return the end of a help text: commands to copy, one a line."""
    return "\b\nFor example:\n" + "\n".join(f"  {command}" for command in commands)


def with_options(table: Mapping[str, tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every option of a table; it receives those that were used as ``options``.

    Args:
        table: By the option's name its type, its help text and, where that is not ``--name``, how it is spelled.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(**arguments: Any) -> None:
            options = {name: arguments.pop(name) for name in table}
            command(**arguments, options={name: value for name, value in options.items() if value is not None})

        own = inspect.signature(command, eval_str=True).parameters.values()
        shared = []
        for name, (kind, text, *spelled) in table.items():
            spelling = spelled or ["--" + name.replace("_", "-")]
            annotation: Any = Annotated[kind | None, typer.Option(*spelling, help=text, show_default=False)]
            shared.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name != "options"] + shared
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        return wrapper

    return decorate


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        import privet

        typer.echo(f"privet {privet.__version__}")
        raise typer.Exit
