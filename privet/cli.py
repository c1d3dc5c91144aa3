"""The commands, thin: heavy imports stand inside each command so that --help answers at once."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

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
    str, typer.Argument(metavar="NAME", help="For example multi-bit or heterpoisson; an unknown name lists them all.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]

MECHANISM_OPTIONS: dict[str, tuple[Any, str]] = {
    "epsilon": (float, "Privacy budget of a report (default 1)."),
    "epsilon_per_feature": (float, "Budget of each sampled feature of sampled-response (default 1)."),
    "delta": (float, "The delta of analytic-gaussian's guarantee (default 0.0001)."),
    "dimension": (int, "Number of features (default 2; 1 for square-wave, laplace and analytic-gaussian)."),
    "low": (float, "Declared smallest value of a feature (default -1)."),
    "high": (float, "Declared largest value of a feature (default 1)."),
    "sample": (int, "Number of features in a report (default: the mechanism's best; 2 for sampled-response)."),
    "steps": (
        int,
        "Grid steps in a feature's range (default: the mechanism's), or steps of a central system's training.",
    ),
    "classes": (int, "Number of classes of randomized-response (default 4)."),
    "categories": (str, "Categories of each feature of sampled-response, comma separated (default 2,2,2,2)."),
    "fill": (str, "What sampled-response says of the other features, uniform or none (default uniform)."),
    "num_nodes": (int, "Nodes that a neighbour list of adjacency-response speaks of (default 6)."),
    "one_sided": (bool, "In adjacency-response only the smaller id reports a pair (default: both)."),
}


SYSTEM_OPTIONS: dict[str, tuple[Any, str]] = {
    "epsilon_features": (float, "True budget of a feature report of a local system."),
    "epsilon_labels": (float, "Budget of a label report of a local system."),
    "epsilon_edges": (float, "Budget of one bit of a neighbour list (solitude)."),
    "two_sided": (bool, "Both endpoints report a pair, as in the paper (solitude; default: the smaller id)."),
    "sigma": (float, "Noise of a central system, for gradients clipped to 1/2."),
    "target_epsilon": (float, "Instead of --sigma: the epsilon to calibrate it for."),
    "rate": (float, "Chance of a training node to be in a step (q)."),
    "multiplier": (float, "Sub-graphs of others that a node may be expected in (M; heterpoisson, default 1)."),
    "nodes": (int, "Number of nodes of the whole graph (N)."),
}

AUDIT_OPTIONS: dict[str, tuple[Any, str]] = {
    "noise": (str, "Noise of heterpoisson: gaussian, or the paper's sml (default gaussian)."),
    **{key: SYSTEM_OPTIONS[key] for key in ("sigma", "rate", "multiplier", "nodes")},
    "runs": (int, "Training runs to play in each world (heterpoisson)."),
    "seed": (int, "Seed of the game (heterpoisson)."),
}


def with_options(table: dict[str, tuple[Any, str]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every option of a table; it receives those that were used as ``options``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(**arguments: Any) -> None:
            options = {name: arguments.pop(name) for name in table}
            command(**arguments, options={name: value for name, value in options.items() if value is not None})

        own = inspect.signature(command, eval_str=True).parameters.values()
        shared = []
        for name, (kind, text) in table.items():
            annotation: Any = Annotated[
                kind | None, typer.Option("--" + name.replace("_", "-"), help=text, show_default=False)
            ]
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


@app.command()
@with_options(MECHANISM_OPTIONS | SYSTEM_OPTIONS)
def account(name: Name, options: dict[str, Any], as_json: AsJson = False) -> None:
    """The guarantee of a mechanism or a system, what a report costs and is worth, or the noise for a target."""
    from privet.experiments.accounting import account_for, mechanism_from_options, print_account
    from privet.mechanisms import MECHANISMS

    if name not in MECHANISMS:  # what follows imports torch
        from privet.experiments.system_accounting import account_system, print_system_account

        summary = account_system(name, options)
        typer.echo(json.dumps(summary)) if as_json else print_system_account(summary)
        return
    summary = account_for(mechanism_from_options(name, options))
    typer.echo(json.dumps(summary)) if as_json else print_account(summary)


@app.command()
@with_options(MECHANISM_OPTIONS | AUDIT_OPTIONS)
def audit(
    name: Name,
    options: dict[str, Any],
    claim: Annotated[
        str, typer.Option(help="What to check: 'own' guarantee, 'published' (the paper's), or a number for epsilon.")
    ] = "own",
    as_json: AsJson = False,
) -> None:
    """Try to break a guarantee. Exit code 1 if it is broken.

    A mechanism's reports are all listed, in exact arithmetic. heterpoisson is attacked with canaries, many times over.
    """
    from privet.mechanisms import MECHANISMS

    if name not in MECHANISMS:  # what follows imports torch
        from privet.experiments.system_audit import audit_system, print_system_audit

        result = audit_system(name, options)
        typer.echo(json.dumps(result)) if as_json else print_system_audit(result)
        raise typer.Exit(1 if result["broken"] else 0)
    from privet.experiments.accounting import audit_claim, mechanism_from_options, print_audit

    result = audit_claim(mechanism_from_options(name, options, small=True), claim)
    typer.echo(json.dumps(result)) if as_json else print_audit(result)
    if not result["holds"]:
        raise typer.Exit(1)


System = Annotated[str, typer.Argument(metavar="SYSTEM", help="For example lpgnn; an unknown name lists them all.")]
Data = Annotated[
    Path | None, typer.Option(envvar="PRIVET_DATA", help="Directory of the named datasets.", show_default=False)
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of random splits and simulations.")]


@app.command()
def run(
    system: System,
    dataset: Annotated[str, typer.Option(help="A known name, an npz file, or a directory with edges, nodes, schema.")],
    data: Data = None,
    epsilon_features: Annotated[
        float | None, typer.Option(help="True budget of a feature report (default: the system's).", show_default=False)
    ] = None,
    epsilon_labels: Annotated[
        float | None, typer.Option(help="Budget of a label report (default: labels are public).", show_default=False)
    ] = None,
    epsilon_edges: Annotated[
        float | None, typer.Option(help="Budget of one bit of a neighbour list (solitude).", show_default=False)
    ] = None,
    one_sided: Annotated[
        bool | None,
        typer.Option(
            "--one-sided/--two-sided",
            help="Whether one endpoint of a pair reports it, or both (solitude).",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="True epsilon of a trained model (central model).", show_default=False)
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Its delta (default N^-1.1).", show_default=False)] = None,
    backbone: Annotated[
        str | None, typer.Option(help="gcn, sage, gin or gat (default: the dataset's preset).", show_default=False)
    ] = None,
    hops: Annotated[
        int | None, typer.Option(min=0, help="Propagation steps (default: the dataset's preset).", show_default=False)
    ] = None,
    group_columns: Annotated[
        int | None,
        typer.Option(min=1, help="OR so many binary columns into one (default: the preset; rgnn).", show_default=False),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of the system; may be repeated."),
    ] = None,
    seeds: Seeds = 5,
    controls: Annotated[bool, typer.Option(help="Measure the controls beside the system.")] = True,
    tune: Annotated[int, typer.Option(min=0, help="Trials of a search by validation labels first; 0 for none.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result to this JSON file, and a privacy.yaml beside it.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """One system on one dataset, with its controls and one sentence on whether the private data helped."""
    from privet.experiments.choosing import combined
    from privet.experiments.commands import parse_settings, run_command

    options = {
        "epsilon_features": epsilon_features,
        "epsilon_labels": epsilon_labels,
        "epsilon_edges": epsilon_edges,
        "one_sided": one_sided,
        "epsilon": epsilon,
        "delta": delta,
        "backbone": backbone,
        "hops": hops,
    }
    used = {name: value for name, value in options.items() if value is not None}
    used = combined(used, parse_settings(other or []))
    run_command(
        system, dataset, data, used, seeds, group=group_columns, controls=controls, tune=tune, out=out, as_json=as_json
    )


@app.command()
def table(
    name: Annotated[str, typer.Argument(metavar="ID", help="For example lpgnn-3; an unknown id lists them all.")],
    data: Data = None,
    seeds: Seeds = 5,
    only: Annotated[
        str | None, typer.Option(help="Datasets, comma separated (default: all).", show_default=False)
    ] = None,
    condition: Annotated[
        str | None,
        typer.Option(
            help='Conditions that match a pattern, such as "eps 1" or "gin*" (default: all).', show_default=False
        ),
    ] = None,
    controls: Annotated[bool, typer.Option(help="Measure the controls beside the system.")] = True,
    store: Annotated[Path, typer.Option(help="Directory of finished figures; an interrupted table goes on.")] = Path(
        "results"
    ),
    plot: Annotated[
        Path | None, typer.Option(help="Draw it here: a .svg, .pdf or .png file.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table as JSON here.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """A published table beside our figures, the controls and the true epsilon. Resumable."""
    from privet.experiments.commands import table_command

    table_command(name, data, seeds, only, condition, store, controls=controls, plot=plot, out=out, as_json=as_json)


@app.command()
def demo(
    nodes: Annotated[int, typer.Option(min=100, max=1_000_000, help="People in the synthetic graph.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
) -> None:
    """Every mechanism and every system on a synthetic social graph; no data needed."""
    from privet.experiments.demo import run_demo

    run_demo(nodes, seed)


# Typer raises click's errors, from click itself or from a copy of its own: this is their common base in either case.
_UsageFault: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main() -> None:
    """Run the command line: one sentence and exit code 2 for bad input, 130 for Ctrl-C."""
    try:
        status = app(standalone_mode=False)
        if status == 130:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
    except PrivetError as error:
        _stop(str(error), 2)
    except _UsageFault as error:
        _stop(" ".join(error.format_message().split()), 2)
    except (KeyboardInterrupt, typer.Abort):
        _stop("stopped by Ctrl-C; nothing was left half-written.", 130)
    except MemoryError:
        _stop("there is not enough memory for these parameters; try smaller ones.", 2)
    except SystemExit as end:
        # Typer ends with 1 when nobody reads the output any more, which here would mean a broken claim.
        sys.exit(141 if isinstance(end.__context__, BrokenPipeError) else end.code)
    except OSError as error:
        where = f" ({Path(error.filename).name})" if error.filename else ""
        _stop(f"{error.strerror or error}{where}.", 2)
    sys.exit(status if isinstance(status, int) else 0)


def _stop(sentence: str, status: int) -> NoReturn:
    print(f"privet: {sentence}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
