"""The commands, thin: heavy imports stand inside each command so that --help answers at once."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.errors import PrivetError

app = typer.Typer(
    name="privet",
    help="Private learning on graphs whose nodes are people.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[
    str, typer.Argument(metavar="MECHANISM", help="For example multi-bit; an unknown name lists them all.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]

MECHANISM_OPTIONS: dict[str, tuple[Any, str]] = {
    "epsilon": (float, "Privacy budget of a report (default 1)."),
    "epsilon_per_feature": (float, "Budget of each sampled feature of sampled-response (default 1)."),
    "delta": (float, "Failure probability of analytic-gaussian (default 0.0001)."),
    "dimension": (int, "Number of features (default 2; 1 for square-wave, laplace and analytic-gaussian)."),
    "low": (float, "Declared smallest value of a feature (default -1)."),
    "high": (float, "Declared largest value of a feature (default 1)."),
    "sample": (int, "Number of features in a report (default: the mechanism's best; 2 for sampled-response)."),
    "steps": (int, "Grid steps in a feature's range (default: the mechanism's; small in an audit)."),
    "classes": (int, "Number of classes of randomized-response (default 4)."),
    "categories": (str, "Categories of each feature of sampled-response, comma separated (default 2,2,2,2)."),
    "fill": (str, "What sampled-response says of the other features, uniform or none (default uniform)."),
    "num_nodes": (int, "Nodes that a neighbour list of adjacency-response speaks of (default 6)."),
    "one_sided": (bool, "In adjacency-response only the smaller id reports a pair (default: both)."),
}


def mechanism_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every option of MECHANISM_OPTIONS; it receives those that were used as ``options``."""

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> None:
        options = {name: arguments.pop(name) for name in MECHANISM_OPTIONS}
        command(**arguments, options={name: value for name, value in options.items() if value is not None})

    own = inspect.signature(command, eval_str=True).parameters.values()
    shared = []
    for name, (kind, text) in MECHANISM_OPTIONS.items():
        annotation: Any = Annotated[
            kind | None, typer.Option("--" + name.replace("_", "-"), help=text, show_default=False)
        ]
        shared.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name != "options"] + shared
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapper


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        import privet

        typer.echo(f"privet {privet.__version__}")
        raise typer.Exit


@app.command()
@mechanism_options
def account(mechanism: Name, options: dict[str, Any], as_json: AsJson = False) -> None:
    """The guarantee of a configuration, and what a report costs and is worth."""
    from privet.experiments.accounting import account_for, mechanism_from_options, print_account

    summary = account_for(mechanism_from_options(mechanism, options))
    typer.echo(json.dumps(summary)) if as_json else print_account(summary)


@app.command()
@mechanism_options
def audit(
    mechanism: Name,
    options: dict[str, Any],
    claim: Annotated[
        str, typer.Option(help="What to check: 'own' guarantee, 'published' (the paper's), or a number for epsilon.")
    ] = "own",
    as_json: AsJson = False,
) -> None:
    """Try to break a guarantee by listing every report in exact arithmetic. Exit code 1 if it is broken."""
    from privet.experiments.accounting import audit_claim, mechanism_from_options, print_audit

    result = audit_claim(mechanism_from_options(mechanism, options, small=True), claim)
    typer.echo(json.dumps(result)) if as_json else print_audit(result)
    if not result["holds"]:
        raise typer.Exit(1)


@app.command()
def demo(
    nodes: Annotated[int, typer.Option(min=100, max=1_000_000, help="People in the synthetic graph.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
) -> None:
    """Every mechanism on a synthetic social graph; no data needed."""
    from privet.experiments.demo import run_demo

    run_demo(nodes, seed)


def main() -> None:
    """Run the command line: one sentence and exit code 2 for bad input, 130 for Ctrl-C."""
    try:
        app()
    except PrivetError as error:
        print(f"privet: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("privet: stopped by Ctrl-C; nothing was left half-written.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        where = f" ({Path(error.filename).name})" if error.filename else ""
        print(f"privet: {error.strerror or error}{where}.", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
