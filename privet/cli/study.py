"""``privet study``: a collection study, from the operator's side."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from privet.cli.app import AsJson, app, examples
from privet.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from privet.data import Schema

study = typer.Typer(
    help="Run a collection study: new, links, serve, status, close, export, revoke.", no_args_is_help=True
)
app.add_typer(study, name="study")

Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="The study's directory.")]


@study.command(
    epilog=examples(
        "privet study new STUDY --title Sleep --purpose WHY --operator WHO --nodes 2000 --schema schema.json"
    )
)
def new(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The directory to make.")],
    title: Annotated[str, typer.Option(help="The first words that participants see.")],
    purpose: Annotated[str, typer.Option(help="Why the data are asked for.")],
    operator: Annotated[str, typer.Option(help="Who asks, and how to reach them.")],
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
    directory: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of all participants (node, name) to bind: one-sided lists count once (default: none).",
            show_default=False,
        ),
    ] = None,
    high_cost: Annotated[
        bool,
        typer.Option("--high-cost", help="Allow budgets above the default limit of participants (default: refuse)."),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(help="A postgresql:// URL (default: SQLite in the study's directory).", show_default=False),
    ] = None,
) -> None:
    """Declare a study: its manifest, keys, and an enrolment token for each node."""
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.study import DEFAULT_LIMIT, Study
    from privet.data import Schema
    from privet.privacy.rounding import at_most

    declared = Schema.from_json(_text(schema))
    start = datetime.now(UTC) if opens is None else _moment(opens)
    document = {
        "title": title,
        "purpose": purpose,
        "operator": operator,
        "eligible": eligible,
        "class_question": class_question,
        "nodes": nodes,
        "version": version,
        "release": _release(
            declared, mechanism, epsilon_features, sample, delta, epsilon_labels, epsilon_edges, one_sided
        ),
        "schema": json.loads(declared.to_json()),
        "questions": None if questions is None else _text(questions).splitlines(),
        "class_names": None if class_names is None else [name.strip() for name in class_names.split(",")],
        "directory": None if directory is None else _digest(directory, nodes),
        "opens": start.isoformat(),
        "closes": _later(start, days).isoformat(),
    }
    made = Study.read(document)
    cheapest = made.cost()
    if cheapest > DEFAULT_LIMIT and not high_cost:
        raise InvalidParameter(
            "budgets",
            "the study",
            f"at most {DEFAULT_LIMIT:g} together, the default limit of participants (or use --high-cost)",
            at_most(cheapest),
        )
    written = StudyFolder.create(folder, made, store)
    out = Console(highlight=False, soft_wrap=True)
    out.print(f"[bold]{escape(made.title)}[/], study {made.id}")
    out.print(made.guarantee().in_words())
    out.print(f"It costs a participant {at_most(made.cost())} of their lifetime epsilon.")
    if cheapest < made.cost():
        out.print(f"A device that checks the list of participants is charged {at_most(cheapest)}.")
    elif made.cost() > DEFAULT_LIMIT:
        out.print(f"That is more than their default limit of {DEFAULT_LIMIT:g}: most devices will refuse it.")
    out.print(f"\nWritten to {escape(str(folder))}: study.json (public), tokens.csv and keys.json (secret).")
    out.print(f"Serve it:             privet study serve {escape(str(folder))}")
    out.print(f"Personal links:       privet study links {escape(str(folder))} --url https://HOST")
    out.print(f"The operator's page:  http://HOST:8000/operator with the key {written.operator_key}")


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
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.server.app import Limits
    from privet.collection.server.serving import serve as run

    opened = StudyFolder.open(folder)
    _check_port(host, port)
    out = Console(highlight=False, soft_wrap=True, markup=False)
    out.print(f"Serving '{opened.study.title}' at http://{host}:{port}/ (operator: http://{host}:{port}/operator).")
    if host not in ("127.0.0.1", "::1", "localhost"):
        out.print("Tokens travel in the clear over plain HTTP: put a TLS proxy in front of it.")
    run(opened, host, port, Limits(rate_limit, burst, proxied=proxied))


@study.command()
def status(folder: Folder, as_json: AsJson = False) -> None:
    """Show how many answered, what was refused, and what was promised."""
    from privet.collection.operator.folder import StudyFolder

    opened = StudyFolder.open(folder)
    known, store = opened.study, opened.store()
    try:
        summary: dict[str, Any] = {
            "study": known.id,
            "title": known.title,
            "nodes": known.nodes,
            "stored": store.count(),
            "open": known.is_open(datetime.now(UTC)) and not store.is_closed(),
            "closes": known.closes.isoformat(),
            "rejected": store.rejections(),
            "conflicts": store.conflicts(),
            "guarantee": known.guarantee().to_dict(),
            "cost": known.cost(),
            "models": store.models(),
        }
    finally:
        store.dispose()
    if as_json:
        print(json.dumps(summary))
        return
    out = Console(highlight=False, soft_wrap=True)
    state = f"open until {known.closes:%Y-%m-%d %H:%M} UTC" if summary["open"] else "not open"
    out.print(f"[bold]{escape(known.title)}[/], study {known.id}, {state}")
    out.print(f"{summary['stored']:,} of {known.nodes:,} answered ({summary['stored'] / known.nodes:.1%}).")
    refused = ", ".join(f"{count:,} {reason}" for reason, count in summary["rejected"].items()) or "none"
    out.print(f"Refused: {refused}; different second reports: {summary['conflicts']:,}.")
    out.print(known.guarantee().in_words())
    for model in summary["models"]:
        metrics = ", ".join(f"{name} {value:g}" for name, value in model["metrics"].items())
        out.print(f"Model {model['name']} ({model['system']}): {metrics}", markup=False)


@study.command()
def close(folder: Folder) -> None:
    """Take no new reports, whatever the manifest's closing time."""
    from privet.collection.operator.folder import StudyFolder

    store = StudyFolder.open(folder).store()
    store.close()
    typer.echo(f"Closed with {store.count():,} reports; repetitions are still acknowledged.")
    store.dispose()


@study.command()
def export(
    folder: Folder, out: Annotated[Path, typer.Option(help="The Parquet file to write.")] = Path("reports.parquet")
) -> None:
    """Write all reports to one Parquet file, which 'privet train' reads."""
    from privet.collection.operator.export import write_answers
    from privet.collection.operator.folder import open_reports
    from privet.data.files import check_writable

    check_writable(out)
    known, answers = open_reports(folder)
    write_answers(out, known, answers)
    typer.echo(f"Wrote {len(answers.users):,} reports of {known.nodes:,} nodes to {out}.")


@study.command()
def links(
    folder: Folder,
    url: Annotated[
        str, typer.Option(help="Where participants reach the collector, such as https://study.example.org.")
    ],
    out: Annotated[Path, typer.Option(help="The CSV file to write: node, link.")] = Path("links.csv"),
) -> None:
    """Write every participant's personal link, with the token that is valid now. The file is a secret."""
    from privet.collection.operator.links import write_links

    count = write_links(folder, url, out)
    typer.echo(f"Wrote {count:,} links to {out}; each is one person's secret.")


@study.command()
def revoke(
    folder: Folder, node: Annotated[int, typer.Argument(min=0, metavar="NODE", help="Whose token is lost.")]
) -> None:
    """Refuse a node's token from now on, and print a new one."""
    from privet.collection.operator.links import renew_token

    typer.echo(f"The token of node {node} is revoked; its new one is {renew_token(folder, node)}")


def _release(
    schema: Schema,
    mechanism: str,
    epsilon_features: float,
    sample: int | None,
    delta: float | None,
    epsilon_labels: float | None,
    epsilon_edges: float | None,
    one_sided: bool,
) -> list[dict[str, Any]]:
    """Return the questions of a study as the manifest writes them."""
    if (epsilon_edges is not None) != schema.private_edges:
        expected = "given where the schema says that edges are private, and only there"
        raise InvalidParameter("epsilon-edges", "the study", expected, f"private_edges = {schema.private_edges}")
    features = {"ask": "features", "mechanism": mechanism, "epsilon": epsilon_features}
    features |= {name: value for name, value in (("sample", sample), ("delta", delta)) if value is not None}
    asked = [features]
    if epsilon_labels is not None:
        asked.append({"ask": "label", "mechanism": "randomized-response", "epsilon": epsilon_labels})
    if epsilon_edges is not None:
        lists = {"mechanism": "adjacency-response", "epsilon": epsilon_edges, "one_sided": one_sided}
        asked.append({"ask": "neighbours", **lists})
    return asked


def _digest(path: Path, nodes: int) -> str:
    """Return the hash of a directory that has one name for each node."""
    from privet.collection.directory import Directory

    listed = Directory.read(path)
    if len(listed) != nodes:
        raise InvalidData(f"directory '{path.name}'", f"one of {nodes} participants", len(listed))
    return listed.digest


def _check_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        found = f"{host}:{port} ({error.strerror or error})"
        raise InvalidParameter("--host, --port", "privet study serve", "an address that is free", found) from None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "other bytes"
        raise InvalidData(f"file {path}", "an existing text file", found) from None


def _later(start: datetime, days: float) -> datetime:
    try:
        return start + timedelta(days=days)
    except OverflowError:
        raise InvalidParameter("days", "the study", "such that it closes before the year 10000", days) from None


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidParameter("opens", "the study", "a time with its zone, such as 2026-03-01T12:00:00Z", text)
    return moment
