"""``privet participate``: one person's device takes part in a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs

import typer
from rich.console import Console
from rich.prompt import Confirm

from privet.cli.app import app
from privet.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from privet.collection.device.client import Collector
    from privet.collection.device.participant import PrivateAnswers
    from privet.collection.study import Study


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
    from privet.collection.device.consent import describe
    from privet.collection.device.ledger import Ledger, default_path
    from privet.collection.device.participant import Participant, Refusal
    from privet.collection.tokens import node_of

    out = Console(highlight=False)
    collector, token, study_id = _addressed(url.strip(), token, study_id)
    node, private = node_of(token), _read(answers)
    owned = Ledger(ledger or default_path())
    if limit is not None:
        owned.limit = limit
    device = Participant(owned)
    study = device.check(collector.manifest(), study_id)
    if owned.report(study, node) is None:
        out.print(describe(study, owned), markup=False)
        out.print(*_clipped(study, private), sep="\n", markup=False)
        if not yes and not _wants_to(out):
            raise Refusal("Nothing was made or sent, because you did not agree.")
        device.agree(study)
    else:
        out.print("A report for this study was made before; the same one is sent again.")
    reply = device.answer(study, node, private)
    out.print("What is sent: " + json.dumps(reply.symbols()), markup=False, soft_wrap=True)
    outcome = collector.send(reply, token)
    owned.acknowledge(study.id)
    out.print(f"The collector has it ({outcome}). Spent so far: {owned.spent:g} of {owned.limit:g}.")


def _wants_to(out: Console) -> bool:
    from privet.collection.device.participant import Refusal

    try:
        return Confirm.ask("Take part?", console=out, default=False)
    except EOFError:
        raise Refusal("There is nobody here to ask whether to take part; --yes agrees beforehand.") from None


def _addressed(url: str, token: str | None, study_id: str | None) -> tuple[Collector, str, str]:
    """Return the collector, token and study id, of which the last two may be in the link's fragment."""
    from privet.collection.device.client import Collector

    fragment = {name: values[-1] for name, values in parse_qs(url.partition("#")[2]).items()}
    token, study_id = (token or fragment.get("token", "")).strip(), (study_id or fragment.get("study", "")).strip()
    for name, value in (("token", token), ("study", study_id)):
        if not value:
            raise InvalidParameter(name, "privet participate", "given, or part of the link", "none")
    return Collector(url), str(token), str(study_id)


def _read(path: Path) -> PrivateAnswers:
    from privet.collection.device.participant import PrivateAnswers

    keys = {"features", "label", "neighbours"}
    try:
        document: Any = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InvalidData(
            f"answers {path.name}", "a JSON file", getattr(error, "strerror", None) or "other text"
        ) from None
    if not isinstance(document, dict) or not {"features"} <= set(document) <= keys:
        raise InvalidData(f"answers {path.name}", "an object with features and perhaps label, neighbours", "another")
    features, neighbours = document["features"], document.get("neighbours", [])
    if not isinstance(features, list) or not isinstance(neighbours, list):
        raise InvalidData(f"answers {path.name}", "lists of numbers", "others")
    return PrivateAnswers(features, document.get("label"), neighbours)


def _clipped(study: Study, private: PrivateAnswers) -> list[str]:
    """Tell the owner, and nobody else, which answers lie outside their range."""
    from privet.data import Interval

    lines = []
    for column, (domain, value) in enumerate(zip(study.declared.features, private.features, strict=False)):
        if isinstance(domain, Interval) and isinstance(value, int | float) and not domain.low <= value <= domain.high:
            nearest = domain.low if value < domain.low else domain.high
            lines.append(f"Your answer to {study.question(column)} lies outside its range and counts as {nearest:g}.")
    return lines
