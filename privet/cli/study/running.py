"""``privet study links|revoke|forget|serve|status|next|close``: a study and its people while it runs."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from privet.cli.answering import Yes, insist
from privet.cli.app import AsJson, BadOption
from privet.cli.study import Folder, reports, study


@study.command()
def links(
    folder: Folder,
    url: Annotated[
        str, typer.Option(help="Where participants reach the collector, such as https://study.example.org.")
    ],
    out: Annotated[Path, typer.Option(help="The CSV file to write: node, panel, link.")] = Path("links.csv"),
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only of those who have not answered, to remind them (default: all).")
    ] = False,
) -> None:
    """Write every participant's personal link to a file.

    Links have the tokens that are valid now, and say who is in the panel. The file is a secret. Reminders are
    computed here: no log tells who has not answered.
    """
    from privet.collection.operator.enrolment import write_links

    count = write_links(folder, url, out, waiting=waiting)
    of = " of people who have not answered" if waiting else ""
    typer.echo(f"Wrote {count:,} link{'' if count == 1 else 's'}{of} to {out}; each is one person's secret.")


@study.command()
def revoke(
    folder: Folder, node: Annotated[int, typer.Argument(min=0, metavar="NODE", help="Whose token is lost.")]
) -> None:
    """Refuse a node's token from now on, and print a new one."""
    from privet.collection.operator.enrolment import renew_token

    typer.echo(f"The token of node {node} is revoked; its new one is {renew_token(folder, node)}")


@study.command()
def forget(
    folder: Folder,
    nodes: Annotated[list[int], typer.Argument(min=0, metavar="NODE...", help="Who is erased.")],
    yes: Yes = False,
) -> None:
    """Erase all reports of a node, and take no more of it.

    Reports of every round are erased.
    """
    from privet.collection.operator.enrolment import forget as erase

    who = "node" if len(nodes) == 1 else "nodes"
    insist(f"Erase all that {who} {', '.join(map(str, nodes))} sent, for good, and take no more of it?", yes)
    done = erase(folder, *nodes)
    for node in nodes:
        when = "are" if node in done.new else "were"
        typer.echo(f"The reports of node {node} {when} erased; no report of it is taken again.")
    if not done.clean:
        typer.echo(
            "The database's files still hold them, because somebody reads the store or another user owns its tables: "
            "run the command again, or let the collector clean the files."
        )
    if done.models:
        typer.echo(f"Trained before, so train again: {', '.join(done.models)}.")
    typer.echo("Exports and backups that you made before still hold them: delete or renew those.")
    typer.echo("What others reported about them, such as a place in their lists, is not erased.")


class Log(StrEnum):
    """The form of a log."""

    json = "json"
    text = "text"


@study.command()
def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    rate_limit: Annotated[float, typer.Option(min=0, help="Requests a second from one address; 0 for any.")] = 100.0,
    burst: Annotated[int, typer.Option(min=1, help="Requests that an address may send at once.")] = 1000,
    proxied: Annotated[
        bool, typer.Option("--proxied", help="Believe the X-Forwarded-For header of a proxy (default: do not).")
    ] = False,
    private_metrics: Annotated[
        bool, typer.Option("--private-metrics", help="Show /metrics to the operator only (default: to everybody).")
    ] = False,
    log: Annotated[
        Log | None, typer.Option(help="Form of the log on stderr (default: text on a terminal, json elsewhere).")
    ] = None,
) -> None:
    """Take reports until Ctrl-C. The log names events and counts, never a person, report or address."""
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.server.http.app import Limits
    from privet.collection.server.http.monitoring import Events
    from privet.collection.serving import serve as run

    opened = StudyFolder.open(folder)
    check_port(host, port)
    out = Console(highlight=False, soft_wrap=True, markup=False)
    out.print(f"Serving '{opened.study.title}' at http://{host}:{port}/ (operator: http://{host}:{port}/operator).")
    if host not in ("127.0.0.1", "::1", "localhost"):
        out.print("Tokens travel in the clear over plain HTTP: put a TLS proxy in front of it.")
    as_json = not sys.stderr.isatty() if log is None else log is Log.json
    events = Events(sys.stderr, as_json=as_json)
    run(opened, host, port, Limits(rate_limit, burst, proxied=proxied), events, private_metrics=private_metrics)


def check_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise BadOption(f"{host}:{port} is not an address that is free: {reason}. Name another --port.") from None


@study.command()
def status(
    folder: Folder,
    most_friends: Annotated[
        int | None,
        typer.Option(
            min=0, help="The most friends that anybody can have, if that is known: more lies show (default: not known)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show who answered, what was refused, what is promised.

    Each round is shown, and how honest its reports look.
    """
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.server.store.overview import overview, screen_round, stores_of

    store = StudyFolder.open(folder).store()
    try:
        rounds = stores_of(store)
        summary = overview(rounds)
        asking = (each for each in rounds if each.study.release.questions)
        summary["screening"] = [screen_round(each, most_friends) for each in asking]
    finally:
        store.dispose()
    if as_json:
        print(json.dumps(summary))
        return
    out = Console(highlight=False, soft_wrap=True)
    state = f"open until {_minute(summary['closes'])}" if summary["open"] else "not open"
    out.print(f"[bold]{escape(summary['title'])}[/], study {summary['study']}, {state}")
    for each in summary["rounds"]:
        for line in _round(each, alone=len(summary["rounds"]) == 1 and not summary["to_come"]):
            out.print(line, markup=False)
    if summary["to_come"]:
        out.print(f"To come: {', '.join(summary['to_come'])}; 'privet study next' opens the next round.", markup=False)
    refused = ", ".join(f"{count:,} {reason}" for reason, count in summary["rejected"].items()) or "none"
    out.print(f"Refused: {refused}; different second reports: {summary['conflicts']:,}.")
    for each in summary["screening"]:
        which = f" of round {each['round']}" if len(summary["rounds"]) > 1 else ""
        out.print(f"Screening{which}: {each['in_words']}", markup=False)
    out.print(_rights(summary))
    out.print(summary["guarantee"]["in_words"])
    for model in summary["models"]:
        metrics = ", ".join(f"{name} {value:g}" for name, value in model["metrics"].items())
        since = model["erasures_since"]
        before = f"; trained before {since:,} erasure{'s' * (since != 1)}, train it again" if since else ""
        out.print(f"Model {model['name']} ({model['system']}): {metrics}{before}", markup=False)


def _round(facts: dict[str, Any], *, alone: bool) -> Iterator[str]:
    """Say who answered a round and, where it is one of several, whom it asks and why."""
    share = facts["answered"] / facts["asked"] if facts["asked"] else 0.0
    answered = f"{facts['answered']:,} of {facts['asked']:,} answered ({share:.1%})"
    if alone:
        yield f"{answered}."
        return
    words = " and ".join(each["words"] for each in facts["questions"]) or "a panel's open answers"
    when = f"until {_minute(facts['closes'])}" if facts["state"] == "open" else f"{facts['id'][:12]}"
    yield f"Round {facts['number']} ({facts['state']}, {when}): {words}; {answered}."
    for group in facts["groups"]:
        yield f"  {group['people']:,} {group['words']}"


def _minute(moment: str) -> str:
    from privet.collection.device.consent import local_minute  # its module is too heavy for --help

    return local_minute(datetime.fromisoformat(moment))


def _rights(summary: dict[str, Any]) -> str:
    """Say how many people were erased, and what becomes of the reports of the others."""
    told = f"Erased: {summary['erasures']:,}."
    if summary["deleted"] is not None:
        day = _minute(datetime.fromtimestamp(summary["deleted"]["minute"], UTC).isoformat())
        count = summary["deleted"]["reports"]
        told += f" {reports(count)} {'was' if count == 1 else 'were'} deleted on {day}, when their retention ended."
    if summary["due"]:
        told += (
            f" The retention of {reports(summary['due'])} has ended by this machine's clock; 'privet study expire' "
            "deletes them."
        )
    elif summary["stored"]:
        told += (
            f" Reports are deleted on {_minute(summary['delete_on'])}."
            if summary["delete_on"]
            else " Reports are kept."
        )
    return told


@study.command(name="next")
def next_(
    folder: Folder,
    days: Annotated[
        float | None,
        typer.Option(min=0.001, max=3650, help="How long it stays open (default: as study.toml says, or 30)."),
    ] = None,
    yes: Yes = False,
) -> None:
    """Close the newest round, and open the next one.

    It is drawn up from what is public by now.
    """
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.operator.rounds import next_round
    from privet.privacy.rounding import at_most

    opened = StudyFolder.open(folder)
    if days is None:
        days = 30.0 if opened.declared is None else opened.declared.declaration.schedule.later_rounds
    store, start = opened.store(), datetime.now(UTC)
    try:
        newest = store.at(store.chain().newest)
        answered = f"{newest.count():,} of {newest.form.count:,} have answered"
        insist(f"Close round {newest.study.round} for good ({answered}), and open the next one for {days:g} days?", yes)
        made = next_round(store, start, start + timedelta(days=days))
        form = store.at(made).form
    finally:
        store.dispose()
    out = Console(highlight=False, soft_wrap=True)
    asked = ", ".join(question.name for question in made.release.questions)
    out.print(f"Round {made.round} of [bold]{escape(made.title)}[/] is open: study {made.id}")
    price = at_most(made.price.epsilon)
    out.print(f"It asks {form.count:,} of {made.nodes:,} people: {asked}. It costs each at most {price}.")
    out.print(f"Its links:  privet study links {escape(str(folder))} --url https://HOST --out round-{made.round}.csv")


@study.command()
def close(folder: Folder) -> None:
    """Take no new reports, whatever the manifest's closing time."""
    from privet.collection.operator.folder import StudyFolder

    store = StudyFolder.open(folder).newest()
    store.close()
    typer.echo(f"Closed with {reports(store.count())}; repetitions are still acknowledged.")
    store.dispose()
