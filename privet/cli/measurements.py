"""``privet run``, ``table``, ``sweep`` and ``demo``: systems measured beside their controls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, Data, Seeds, System, app

EpsilonLabels = Annotated[
    float | None, typer.Option(help="Budget of a label report (default: labels are public).", show_default=False)
]
EpsilonEdges = Annotated[
    float | None,
    typer.Option(help="Budget of one bit of a neighbour list (solitude; default 8).", show_default=False),
]
GroupColumns = Annotated[
    int | None,
    typer.Option(min=1, help="OR so many binary columns into one (default: the preset; rgnn).", show_default=False),
]
OtherSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting of the system (default: the preset's); may be repeated.",
    ),
]


@app.command()
def run(
    system: System,
    dataset: Annotated[str, typer.Option(help="A known name, an npz file, or a directory with edges, nodes, schema.")],
    data: Data = None,
    epsilon_features: Annotated[
        float | None, typer.Option(help="True budget of a feature report (default: the system's).", show_default=False)
    ] = None,
    epsilon_labels: EpsilonLabels = None,
    epsilon_edges: EpsilonEdges = None,
    one_sided: Annotated[
        bool | None,
        typer.Option(
            "--one-sided/--two-sided",
            help="Whether one endpoint of a pair reports it, or both (solitude; default: one).",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="True epsilon of a trained model (central model; default: the preset's).", show_default=False
        ),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Its delta (default N^-1.1).", show_default=False)] = None,
    backbone: Annotated[
        str | None, typer.Option(help="gcn, sage, gin or gat (default: the dataset's preset).", show_default=False)
    ] = None,
    hops: Annotated[
        int | None, typer.Option(min=0, help="Propagation steps (default: the dataset's preset).", show_default=False)
    ] = None,
    group_columns: GroupColumns = None,
    other: OtherSettings = None,
    seeds: Seeds = 5,
    controls: Annotated[bool, typer.Option(help="Measure the controls beside the system.")] = True,
    tune: Annotated[int, typer.Option(min=0, help="Trials of a search by validation labels first; 0 for none.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the result to this JSON file, and a privacy.yaml beside it (default: print only).",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """One system on one dataset, with its controls and one sentence on whether the private data helped."""
    from privet.cli.run_command import parse_settings, run_command
    from privet.evaluation.choosing import combined

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
    name: Annotated[
        str, typer.Argument(metavar="ID", help="For example lpgnn-3; 'list' names every id, 'all' measures them all.")
    ],
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
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Only see that it runs: made-up graphs, one seed; no measurement (default: measure)."
        ),
    ] = False,
    store: Annotated[Path, typer.Option(help="Directory of finished figures; an interrupted table goes on.")] = Path(
        "results"
    ),
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw it here: a .svg, .pdf or .png file (default: no drawing).", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the table as JSON here (default: print only).", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """A published table beside our figures, the controls and the true epsilon. Resumable.

    With 'all', exit code 1 says that some tables failed; they are named at the end.
    """
    from privet.cli.table_command import all_tables_command, print_tables, refuse_for_all, table_command

    if name == "list":
        print_tables()
    elif name == "all":
        refuse_for_all(only=only, condition=condition, plot=plot)
        if not all_tables_command(data, seeds, store, controls=controls, quick=quick, out=out, as_json=as_json):
            raise typer.Exit(1)
    else:
        table_command(
            name, data, seeds, only, condition, store, controls=controls, quick=quick, plot=plot, out=out,
            as_json=as_json,
        )  # fmt: skip


@app.command()
def sweep(
    system: System,
    dataset: Annotated[str, typer.Option(help="A known name, an npz file, or a directory with edges, nodes, schema.")],
    epsilon: Annotated[
        str,
        typer.Option(
            help="Budgets, comma separated: of the trained model (central systems), or of the report that --of names."
        ),
    ] = "0.1,0.5,1,2,4",
    of: Annotated[
        str | None,
        typer.Option(
            help="Which report of a local system gets --epsilon: features (default), labels or edges. The others keep "
            "their own budget, and the true total is the sum of all.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    epsilon_features: Annotated[
        float | None,
        typer.Option(
            help="Budget of a feature report, with --of labels or edges (default: the system's).", show_default=False
        ),
    ] = None,
    epsilon_labels: EpsilonLabels = None,
    epsilon_edges: EpsilonEdges = None,
    group_columns: GroupColumns = None,
    other: OtherSettings = None,
    seeds: Seeds = 5,
    controls: Annotated[bool, typer.Option(help="Measure the controls beside the system.")] = True,
    store: Annotated[Path, typer.Option(help="Directory of finished points; an interrupted sweep goes on.")] = Path(
        "results"
    ),
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the curve here: a .svg, .pdf or .png file (default: no drawing).", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the sweep as JSON here, for privet report (default: print only).", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Accuracy against a privacy budget, with 95 % confidence intervals and the controls. Resumable."""
    from privet.cli.run_command import parse_settings, sweep_command
    from privet.evaluation.choosing import combined

    options = {
        "epsilon_features": epsilon_features,
        "epsilon_labels": epsilon_labels,
        "epsilon_edges": epsilon_edges,
    }
    used = {name: value for name, value in options.items() if value is not None}
    used = combined(used, parse_settings(other or []))
    sweep_command(
        system, dataset, data, epsilon, of, used, seeds, store, group=group_columns, controls=controls, plot=plot,
        out=out, as_json=as_json,
    )  # fmt: skip


@app.command()
def demo(
    nodes: Annotated[int, typer.Option(min=100, max=100_000, help="People in the synthetic graph.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the report and the results.")] = Path("privet-demo"),
) -> None:
    """Everything on a synthetic society: mechanisms, broken claims, systems and controls, a live study, a report."""
    from privet.cli.demo import run_demo

    run_demo(nodes, seed, out)
