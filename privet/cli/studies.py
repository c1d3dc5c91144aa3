"""``privet study`` and ``privet participate``: collecting reports, from the operator's and from the owner's side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, app

study = typer.Typer(
    help="Run a collection study: new, links, serve, status, close, export, revoke.", no_args_is_help=True
)
app.add_typer(study, name="study")

Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="The study's directory.")]


@study.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The directory to make.")],
    title: Annotated[str, typer.Option(help="What participants see first.")],
    nodes: Annotated[int, typer.Option(min=2, help="How many people are asked: nodes 0 to N - 1.")],
    schema: Annotated[Path, typer.Option(help="JSON file with each feature's range or categories, and the classes.")],
    epsilon_features: Annotated[float, typer.Option(help="True budget of a feature report.")] = 1.0,
    epsilon_labels: Annotated[
        float | None, typer.Option(help="Budget of a label report (default: labels are not asked).", show_default=False)
    ] = None,
    epsilon_edges: Annotated[
        float | None,
        typer.Option(help="Budget of one bit of a neighbour list (default: lists are not asked).", show_default=False),
    ] = None,
    one_sided: Annotated[
        bool, typer.Option("--one-sided/--two-sided", help="Whether one endpoint of a pair reports it, or both.")
    ] = True,
    mechanism: Annotated[
        str, typer.Option(help="multi-bit, hds, piecewise, laplace, analytic-gaussian or sampled-response.")
    ] = "multi-bit",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Features in a report (default: the best number).", show_default=False)
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="The delta of analytic-gaussian (default: none).", show_default=False)
    ] = None,
    purpose: Annotated[str, typer.Option(help="Why the data are asked for.")] = "Not stated.",
    operator: Annotated[str, typer.Option(help="Who asks, and how to reach them.")] = "Not stated.",
    eligible: Annotated[str, typer.Option(help="Who may take part.")] = "Holders of an enrolment token.",
    questions: Annotated[
        Path | None,
        typer.Option(
            help="Text file with one question a line, one for each feature (default: none).", show_default=False
        ),
    ] = None,
    class_question: Annotated[
        str | None, typer.Option(help="How the class is asked for (default: 'your class').", show_default=False)
    ] = None,
    class_names: Annotated[
        str | None, typer.Option(help="Names of the classes, comma separated (default: none).", show_default=False)
    ] = None,
    opens: Annotated[
        str | None, typer.Option(help="Opening time, such as 2026-03-01T12:00:00Z (default: now).", show_default=False)
    ] = None,
    days: Annotated[float, typer.Option(min=0.001, max=3650, help="How long it stays open.")] = 30.0,
    version: Annotated[int, typer.Option(min=1, help="The study's version number.")] = 1,
    store: Annotated[
        str | None,
        typer.Option(help="A postgresql:// URL (default: SQLite in the study's directory).", show_default=False),
    ] = None,
) -> None:
    """Declare a study: its manifest, keys, and an enrolment token for each node."""
    from privet.collection.operator.commands import new_study

    new_study(
        folder,
        store=store,
        days=days,
        opens=opens,
        schema_file=schema,
        questions_file=questions,
        class_names=class_names,
        budgets={
            "features": {"mechanism": mechanism, "epsilon": epsilon_features, "sample": sample, "delta": delta},
            "labels": None if epsilon_labels is None else {"epsilon": epsilon_labels},
            "neighbours": None if epsilon_edges is None else {"epsilon": epsilon_edges, "one_sided": one_sided},
        },
        texts={
            "title": title,
            "purpose": purpose,
            "operator": operator,
            "eligible": eligible,
            "class_question": class_question,
            "nodes": nodes,
            "version": version,
        },
    )


@study.command()
def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    rate_limit: Annotated[float, typer.Option(min=0, help="Requests a second from one address; 0 for any.")] = 50.0,
    burst: Annotated[int, typer.Option(min=1, help="Requests that an address may send at once.")] = 200,
    proxied: Annotated[
        bool, typer.Option("--proxied", help="Believe the X-Forwarded-For header of a proxy (default: do not).")
    ] = False,
) -> None:
    """Take reports until Ctrl-C."""
    from privet.collection.operator.commands import serve_study

    serve_study(folder, host, port, rate_limit, burst, proxied=proxied)


@study.command()
def status(folder: Folder, as_json: AsJson = False) -> None:
    """How many answered, what was refused, what was promised."""
    from privet.collection.operator.commands import print_status

    print_status(folder, as_json=as_json)


@study.command()
def close(folder: Folder) -> None:
    """Take no new reports, whatever the manifest's closing time."""
    from privet.collection.operator.commands import close_study

    close_study(folder)


@study.command()
def export(
    folder: Folder, out: Annotated[Path, typer.Option(help="The Parquet file to write.")] = Path("reports.parquet")
) -> None:
    """Write all reports to one Parquet file, which 'privet train' reads."""
    from privet.collection.operator.commands import export_study

    export_study(folder, out)


@study.command()
def links(
    folder: Folder,
    url: Annotated[
        str, typer.Option(help="Where participants reach the collector, such as https://study.example.org.")
    ],
    out: Annotated[Path, typer.Option(help="The CSV file to write: node, link.")] = Path("links.csv"),
) -> None:
    """Write every participant's personal link, with the token that is valid now. The file is a secret."""
    from privet.collection.operator.commands import write_links

    write_links(folder, url, out)


@study.command()
def revoke(
    folder: Folder, node: Annotated[int, typer.Argument(min=0, metavar="NODE", help="Whose token is lost.")]
) -> None:
    """Refuse a node's token from now on, and print a new one."""
    from privet.collection.operator.commands import revoke_token

    revoke_token(folder, node)


@app.command()
def participate(
    url: Annotated[str, typer.Argument(metavar="URL", help="The collector's address, or a link with its token.")],
    answers: Annotated[
        Path, typer.Option(help='JSON file on this device: {"features": [..], "label": 1, "neighbours": [..]}.')
    ],
    token: Annotated[
        str | None, typer.Option(help="Your enrolment token (default: from the link).", show_default=False)
    ] = None,
    study_id: Annotated[
        str | None, typer.Option("--study", help="The id you were given (default: from the link).", show_default=False)
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Your lifetime ledger (default: privet/ledger.sqlite of your data).", show_default=False),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            help="Change your lifetime limit of epsilon first (default: 10 at the start).", show_default=False
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take part without being asked (default: ask).")] = False,
) -> None:
    """Take part in a study: see what is asked, perturb on this device, store the report, send it."""
    from privet.collection.device.taking_part import take_part

    take_part(url, answers, token, study_id, ledger, limit, yes=yes)


@app.command("ledger")
def show_ledger(
    ledger: Annotated[
        Path | None,
        typer.Option(help="Your lifetime ledger (default: privet/ledger.sqlite of your data).", show_default=False),
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="Set your lifetime limit of epsilon (default: leave it).", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What this device has reported so far, and what is left of its owner's budget."""
    from privet.collection.device.taking_part import print_ledger

    print_ledger(ledger, limit, as_json=as_json)
