"""``privet study status``: who answered, and what was refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from privet.cli.app import AsJson
from privet.cli.study.group import Folder, study


@study.command()
def status(
    folder: Folder,
    most_friends: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The most friends that anybody can have, if that is known: more lies show (default: not known).",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show each round, how many answered, what was refused, how honest reports look, and what was promised."""
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
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M} UTC"


def _rights(summary: dict[str, Any]) -> str:
    """Say how many people were erased, and what becomes of the reports of the others."""
    told = f"Erased: {summary['erasures']:,}."
    if summary["deleted"] is not None:
        day = f"{datetime.fromtimestamp(summary['deleted']['minute'], UTC):%Y-%m-%d}"
        told += f" {summary['deleted']['reports']:,} reports were deleted on {day}, when their retention ended."
    if summary["stored"]:
        told += (
            f" Reports are deleted on {summary['delete_on'][:10]}." if summary["delete_on"] else " Reports are kept."
        )
    return told
