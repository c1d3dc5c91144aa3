"""``privet participate``: one person's device takes part in a study."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs

import typer
from rich.console import Console

from privet.cli.answering import agrees
from privet.cli.app import app, examples
from privet.errors import InvalidData

if TYPE_CHECKING:
    from privet.collection.device.client import Collector
    from privet.collection.device.participant import Participant, PrivateAnswers
    from privet.collection.device.preparation import Prepared
    from privet.collection.study.directory import Directory

StudyId = Annotated[str | None, typer.Option("--study", help="The id you were given (default: from the link).")]
LedgerFile = Annotated[
    Path | None, typer.Option(help="Your lifetime ledger (default: privet/ledger.sqlite of your data).")
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Send the token over http:// to another machine, too (default: https only).")
]


@app.command(epilog=examples("privet participate LINK", "privet participate - --answers me.json < link.txt"))
def participate(
    url: Annotated[
        str,
        typer.Argument(
            metavar="LINK",
            envvar="PRIVET_LINK",
            help="Your personal link; - reads it from standard input, and without it PRIVET_LINK is used. On a machine "
            "that you share use one of these: everybody there can read the arguments of your commands.",
        ),
    ],
    answers: Annotated[
        Path | None,
        typer.Option(
            help='JSON file on this device: {"features": [..], "label": 1, "neighbours": [..]} (default: the questions '
            "are asked here)."
        ),
    ] = None,
    study_id: StudyId = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of all participants (node, name) to check the study against; neighbours may then be names "
            "(default: none)."
        ),
    ] = None,
    ledger: LedgerFile = None,
    limit: Annotated[
        float | None, typer.Option(help="Change your lifetime limit of epsilon first (default: 4 at the start).")
    ] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Let answers outside their range count as its nearest end (default: ask).")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="As a member of the panel, send your answers as they are (default: ask).")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Take part without being asked (default: ask).")] = False,
    insecure: Insecure = False,
) -> None:
    """Take part in a study.

    See what is asked, randomise the answers on this device, store the report, and send it.
    """
    from privet.cli.answering import ask_answers
    from privet.collection.device.client import Invited
    from privet.collection.device.consent import describe
    from privet.collection.device.ledger import Ledger, default_path
    from privet.collection.device.participant import Participant, PrivateAnswers, Refusal
    from privet.collection.device.preparation import prepare
    from privet.collection.device.receipt import receipt
    from privet.collection.study.directory import Directory
    from privet.collection.study.tokens import node_of
    from privet.privacy.rounding import at_most

    out = Console(highlight=False)
    link = (sys.stdin.readline() if url == "-" else url).strip()
    collector, token, study_id = addressed(link, study_id, insecure=insecure)
    listed = None if directory is None else Directory.read(directory)
    node, private = node_of(token), PrivateAnswers() if answers is None else _read(answers, listed)
    owned = Ledger(ledger or default_path())
    if limit is not None:
        owned.limit = limit
    device = Participant(owned)
    study = device.check(collector.manifest(study_id), study_id)
    if listed is not None:
        device.check_directory(study, listed)
    if owned.withdrew(study):
        raise Refusal("You withdrew from this study, and the collector takes no report of yours any more.")
    closed = collector.why_closed(study_id)
    if closed is not None:
        device.stop(study, node, closed)
    prepared = None
    if owned.report(study, node) is None:
        prepared = prepare(study, node, Invited(collector, token))
        out.print(describe(study, owned, prepared), markup=False)
        if answers is None:
            out.print()
            private = ask_answers(out, prepared, listed)
        _agree(out, device, prepared, private, listed, clip=clip, yes=yes, show=show)
    else:
        out.print("A report for this study was made before; the same one is sent again.")
    reply = device.take_part(study, private, collector, token, directory=listed, prepared=prepared)
    # Shown when it is sent: whoever saw it before could stop by the result, and epsilon would not hold any more.
    for line in receipt(reply):
        out.print(line, markup=False, soft_wrap=True)
    cost = "No budget counts it." if reply.shows else f"Spent so far: {at_most(owned.spent)} of {owned.limit:g}."
    out.print(f"The collector has it. {cost}")


def _agree(
    out: Console,
    device: Participant,
    prepared: Prepared,
    private: PrivateAnswers,
    directory: Directory | None,
    *,
    clip: bool,
    yes: bool,
    show: bool,
) -> None:
    """Show what is odd about the answers, and go on only with the owner's consent."""
    from privet.collection.device.counted import friends_in_words
    from privet.collection.device.participant import Refusal

    study, node = prepared.study, prepared.node
    if directory is not None:
        names = ", ".join(f"{directory.names[other]} ({other})" for other in private.neighbours) or "nobody"
        out.print(f"You answer as {directory.names[node]} ({node}); your neighbours: {names}.", markup=False)
    for sentence in [] if prepared.shows else friends_in_words(prepared, private.neighbours):
        out.print(sentence, markup=False)
    for column, end in private.outside(study):
        sentence = f"Your answer to {study.question(column)} is not {study.allowed(column)}."
        if not clip and (yes or not agrees(out, f"{sentence} Let it count as {end:g}?")):
            raise Refusal(f"{sentence} Correct it, or use --clip to let it count as {end:g}. Nothing was made.")
        if clip:
            out.print(f"{sentence} It counts as {end:g}.", markup=False)
    if prepared.shows and not show and (yes or not agrees(out, "Send, and publish, your answers AS THEY ARE?")):
        raise Refusal(
            "You are in the panel: your answers would be sent, and published, as they are. Nothing was made, because "
            "you did not agree to that; --show agrees beforehand."
        )
    if not yes and not agrees(out, "Take part?"):
        raise Refusal("Nothing was made or sent, because you did not agree.")
    device.agree(study, shows=prepared.shows)


def addressed(url: str, study_id: str | None, *, insecure: bool = False) -> tuple[Collector, str, str]:
    """Return the collector, the token and the study's id that a link names; the id may have been given apart."""
    from privet.collection.device.client import Collector

    fragment = {name: values[-1] for name, values in parse_qs(url.partition("#")[2]).items()}
    token, study_id = fragment.get("token", "").strip(), (study_id or fragment.get("study", "")).strip()
    if not token:
        raise InvalidData("The link has no token. It must look like https://HOST/#study=ID&token=TOKEN.")
    if not study_id:
        raise InvalidData("The link names no study. Give the id that you were told with --study.")
    return Collector(url, insecure=insecure), token, study_id


def _read(path: Path, directory: Directory | None) -> PrivateAnswers:
    """Read the owner's answers; neighbours may be names where there is a directory."""
    from privet.collection.device.participant import PrivateAnswers

    keys = {"features", "label", "neighbours"}
    try:
        document: Any = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON"
        raise InvalidData(f"The answers in {path.name} cannot be read: {reason}.") from None
    if not isinstance(document, dict) or not set(document) <= keys:
        raise InvalidData(f"{path.name} must be an object with the features, label and neighbours that are asked for.")
    features, neighbours = document.get("features", []), document.get("neighbours", [])
    if not isinstance(features, list) or not isinstance(neighbours, list):
        raise InvalidData(f"The features and the neighbours in {path.name} must be lists.")
    private = PrivateAnswers(features, document.get("label"), neighbours)
    if directory is not None:
        found = [directory.node(each) if isinstance(each, str) else each for each in neighbours]
        private = replace(private, neighbours=found)
    return private
