"""``privet study new``: declare a study."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from privet.cli.app import BadOption, examples
from privet.cli.study.group import study
from privet.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from privet.collection.study.directory import Directory
    from privet.data import Schema
    from privet.release.asks import Ask


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
    schema: Annotated[
        Path, typer.Option(help="JSON file: each feature's range or categories, and the classes, by names if you like.")
    ],
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
    opens: Annotated[
        str | None, typer.Option(help="Opening time, such as 2026-03-01T12:00:00Z (default: now).", show_default=False)
    ] = None,
    days: Annotated[float, typer.Option(min=0.001, max=3650, help="How long it stays open.")] = 30.0,
    system: Annotated[
        str | None,
        typer.Option(
            help="Ask in rounds, by the rule of this system: inquiry (default: one round, by --mechanism).",
            show_default=False,
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(help="Public edges that rounds depend on (default: lists are private).", show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Public classes of some nodes, node and label (default: asked for).", show_default=False),
    ] = None,
    panel: Annotated[
        str | None,
        typer.Option(help="Who shows features and class: a share, or a CSV file of nodes (default: nobody)."),
    ] = None,
    ask_class: Annotated[
        str | None,
        typer.Option(help="Who is asked for the class first: a share, or a CSV file of nodes (default: all others)."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another setting of the system, such as pilot=0.1 (default: its own); repeatable.",
        ),
    ] = None,
    delete_after: Annotated[
        int | None,
        typer.Option(
            min=1, max=36_600, help="Days after closing when reports are deleted (default: 90).", show_default=False
        ),
    ] = None,
    keep_reports: Annotated[
        bool, typer.Option("--keep-reports", help="Promise no deletion (default: delete them).")
    ] = False,
    version: Annotated[int, typer.Option(min=1, help="The study's version number.")] = 1,
    directory: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of all participants (node, name) to bind; people then pick names (default: none).",
            show_default=False,
        ),
    ] = None,
    high_cost: Annotated[
        bool,
        typer.Option("--high-cost", help="Allow budgets above the default limit of participants (default: refuse)."),
    ] = False,
) -> None:
    """Declare a study: its manifest, keys, and an enrolment token for each node.

    Reports go to SQLite in the study's directory, or to the PostgreSQL database whose URL is in PRIVET_STORE or in the
    file that PRIVET_STORE_FILE names. Keys can be given in the same way (PRIVET_SIGNING_KEY, PRIVET_OPERATOR_KEY). None
    of them is an option, because every user of a machine can read the arguments of its processes.
    """
    from privet.cli.study.plan import Sources, first_round, planned_system, refuse_without_system
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.operator.keys import VARIABLES
    from privet.collection.study.chain import Chain
    from privet.collection.study.manifest import DEFAULT_LIMIT, Study
    from privet.collection.study.retention import retention_in_words
    from privet.data import Schema
    from privet.privacy.rounding import at_most

    declared = Schema.from_json(_text(schema))
    start = datetime.now(UTC) if opens is None else _moment(opens)
    listed = None if directory is None else _directory(directory, nodes)
    document = {
        "title": title,
        "purpose": purpose,
        "operator": operator,
        "eligible": eligible,
        "class_question": class_question,
        "nodes": nodes,
        "version": version,
        "schema": declared,
        "questions": None if questions is None else _text(questions).splitlines(),
        "directory": None if listed is None else listed.digest,
        "delete_after": _retention(delete_after, keep_reports),
        "opens": start.isoformat(),
        "closes": _later(start, days).isoformat(),
    }
    public: tuple[bytes, ...] = ()
    asks: tuple[Ask, ...] = ()
    if system is None:
        refuse_without_system(graph=graph, labels=labels, panel=panel, ask_class=ask_class, settings=settings)
        asked = _release(declared, mechanism, epsilon_features, sample, delta, epsilon_labels, epsilon_edges, one_sided)
        made = Study.read({**document, "release": asked})
    else:
        budgets = {"epsilon_features": epsilon_features, "epsilon_labels": epsilon_labels}
        budgets |= {"epsilon_edges": epsilon_edges}
        rule = planned_system(system, budgets, settings or [], panel=panel is not None)
        sources = Sources(graph=graph, labels=labels, panel=panel, ask_class=ask_class)
        first = first_round(document, declared, rule, sources)
        made, public, asks = first.study, first.public, first.asks
    announced = Chain((made,)).announced or made.release
    price = announced.price.epsilon
    if price > DEFAULT_LIMIT and not high_cost:
        raise InvalidParameter(
            "budgets",
            f"at most {DEFAULT_LIMIT:g} together, the default limit of participants (or use --high-cost)",
            at_most(price),
        )
    names = [] if listed is None else [listed.lines]
    written = StudyFolder.create(folder, made, public=[*public, *names], asks=asks)
    out = Console(highlight=False, soft_wrap=True)
    out.print(f"[bold]{escape(made.title)}[/], study {made.id}")
    out.print(made.guarantee().in_words())
    out.print(f"It costs a participant {at_most(made.price.epsilon)} of their lifetime epsilon.")
    out.print(retention_in_words(made).replace("your report", "reports"))
    if system is not None:
        out.print(f"All rounds together cost at most {at_most(price)}. The next one: privet study next {folder}")
    if price > DEFAULT_LIMIT:
        out.print(f"That is more than their default limit of {DEFAULT_LIMIT:g}: most devices will refuse it.")
    out.print(f"\nWritten to {escape(str(folder))}: study.json (public), tokens.csv and keys.json (secret).")
    out.print(f"Serve it:             privet study serve {escape(str(folder))}")
    out.print(f"Personal links:       privet study links {escape(str(folder))} --url https://HOST")
    place = f'{folder}/keys.json, under "operator"'
    if "operator" in written.keys.places:
        place = str(written.keys.places["operator"] or VARIABLES["operator"])
    out.print(f"The operator's page:  http://HOST:8000/operator; its key is in {escape(place)}")


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
        raise InvalidParameter("epsilon-edges", expected, f"private_edges = {schema.private_edges}")
    features = {"ask": "features", "mechanism": mechanism, "epsilon": epsilon_features}
    features |= {name: value for name, value in (("sample", sample), ("delta", delta)) if value is not None}
    asked = [features]
    if epsilon_labels is not None:
        asked.append({"ask": "label", "mechanism": "randomized-response", "epsilon": epsilon_labels})
    if epsilon_edges is not None:
        lists = {"mechanism": "adjacency-response", "epsilon": epsilon_edges, "one_sided": one_sided}
        asked.append({"ask": "neighbours", **lists})
    return asked


def _retention(delete_after: int | None, keep_reports: bool) -> int | None:
    """Return the days for which reports are kept; None for ever."""
    from privet.collection.study.retention import DEFAULT_DAYS

    if keep_reports and delete_after is not None:
        raise BadOption("--keep-reports promises no deletion, and --delete-after one; use one of them.")
    return None if keep_reports else delete_after or DEFAULT_DAYS


def _directory(path: Path, nodes: int) -> Directory:
    """Read a directory that has one name for each node."""
    from privet.collection.study.directory import Directory

    listed = Directory.read(path)
    if len(listed) != nodes:
        raise InvalidData(f"directory '{path.name}'", f"one of {nodes} participants", len(listed))
    return listed


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
        raise InvalidParameter("days", "such that it closes before the year 10000", days) from None


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidParameter("opens", "a time with its zone, such as 2026-03-01T12:00:00Z", text)
    return moment
