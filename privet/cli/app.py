"""The Typer application that every command registers itself with, and what all commands share."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer
from typer.core import TyperCommand

from privet.errors import PrivetError

__all__ = [
    "GROUPS",
    "AsJson",
    "BadOption",
    "GroupedCommand",
    "app",
    "check_writable",
    "examples",
    "expanded",
    "show",
    "table_parameters",
    "used",
    "with_options",
]

app = typer.Typer(
    name="privet",
    help="Private learning on graphs whose nodes are people.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its boxes cut option names off in a terminal of 80 columns
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object (default: text for people).")]


class BadOption(PrivetError, ValueError):
    """Options that do not fit together or do not fit the system: one sentence that says what to type instead."""


def examples(*commands: str) -> str:
    """Return the end of a help text: commands to copy, one a line."""
    return "\b\nFor example:\n" + "\n".join(f"  {command}" for command in commands)


def expanded(
    command: Callable[..., None],
    name: str,
    parameters: Sequence[inspect.Parameter],
    collect: Callable[[dict[str, Any]], Any],
) -> Callable[..., None]:
    """Return a command with more parameters, which it receives as one argument.

    Args:
        name: The argument of the command that stands for the parameters.
        parameters: The parameters, annotated as Typer reads them.
        collect: Makes the argument from their values by name.
    """

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> None:
        values = {each.name: arguments.pop(each.name) for each in parameters}
        command(**arguments, **{name: collect(values)})

    own = [each for each in inspect.signature(command, eval_str=True).parameters.values() if each.name != name]
    every = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *parameters)]
    wrapper.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in every}
    return wrapper


def with_options(table: Mapping[str, tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every option of a table; it receives those that were used as ``options``.

    Args:
        table: By the option's name its type, its help text and, where that is not ``--name``, how it is spelled.
    """
    return lambda command: expanded(command, "options", table_parameters(table), used)


def table_parameters(table: Mapping[str, tuple[Any, ...]]) -> list[inspect.Parameter]:
    """Return the parameters of the options of a table, none of which has a default."""
    found = []
    for name, (kind, text, *spelled) in table.items():
        spelling = spelled or ["--" + name.replace("_", "-")]
        annotation: Any = Annotated[kind | None, typer.Option(*spelling, help=text)]
        found.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    return found


def used(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given a value."""
    return {name: value for name, value in options.items() if value is not None}


class Printable(Protocol):
    """A finding that is printed for people or as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""


P = TypeVar("P", bound=Printable)


def show(found: P, print_it: Callable[[P], None], as_json: bool) -> None:
    """Print a finding as one JSON object or, with a function, for people."""
    typer.echo(json.dumps(found.to_dict())) if as_json else print_it(found)


def check_writable(*paths: Path | None, plot: Path | None = None) -> None:
    """Refuse paths that cannot be written before an hour is spent on what goes into them; None is left out.

    Args:
        *paths: Files.
        plot: The file of a drawing, whose ending must be one that can be drawn.
    """
    from privet.data import files

    for path in (*paths, plot):
        if path is not None:
            files.check_writable(path)
    if plot is not None:
        from privet.reporting.drawing import check_format

        check_format(plot)


GROUPS: dict[str, tuple[str, ...]] = {
    "Budgets": (
        "epsilon", "epsilon_features", "epsilon_labels", "epsilon_edges", "epsilon_person", "epsilon_per_feature",
        "class_sums", "server_sums", "delta", "target_epsilon", "budget",
    ),
    "The population": ("dimension", "low", "high", "classes", "categories", "num_nodes", "nodes", "public_features"),
    "The mechanism": ("sample", "steps", "cap", "most", "fill", "one_sided"),
    "The training": ("sigma", "noise_multiplier", "noise", "rate", "multiplier", "max_degree"),
    "The system": ("panel", "pilot", "scorer", "defence", "backbone", "hops", "others"),
    "The audit": ("claim", "one_run", "sequential", "canaries", "runs"),
    "Data": ("dataset", "data", "split", "group_columns", "graph", "labels", "schema"),
    "Measuring": (
        "seed", "seeds", "workers", "store", "fresh", "controls", "cluster", "insecure_cluster", "quick",
    ),
    "Output": ("as_json", "out", "plot"),
}  # fmt: skip
"""The groups of options by the names of their parameters; all others stand under Options."""

_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
_FEW = 8  # options that need no groups


class GroupedCommand(TyperCommand):
    """A command whose help lists options in groups, if there are more than a few."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for the arguments, one for each group of options, and one for the other options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{group: [] for group in GROUPS}, "Options": []}
        shown = [each for each in self.get_params(ctx) if each.get_help_record(ctx) is not None]
        many = sum(each.param_type_name == "option" for each in shown) > _FEW
        for each in shown:
            group = _GROUP_OF.get(each.name or "", "Options") if many else "Options"
            record = each.get_help_record(ctx)
            assert record is not None
            sections["Arguments" if each.param_type_name == "argument" else group].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        import privet

        typer.echo(f"privet {privet.__version__}")
        raise typer.Exit
