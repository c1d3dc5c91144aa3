"""What ``privet participate`` and ``privet ledger`` do, behind the thin command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from rich.console import Console
from rich.markup import escape
from rich.prompt import Confirm
from rich.table import Table

from privet.collection.device.client import Collector
from privet.collection.device.consent import describe
from privet.collection.device.ledger import LIFETIME_DELTA, Ledger, default_path
from privet.collection.device.participant import Participant, PrivateAnswers, Refusal
from privet.collection.study import Study
from privet.collection.tokens import node_of
from privet.data import Interval
from privet.errors import InvalidData, InvalidParameter

__all__ = ["print_ledger", "take_part"]


def take_part(
    url: str,
    answers: Path,
    token: str | None,
    study_id: str | None,
    ledger_path: Path | None,
    limit: float | None,
    *,
    yes: bool,
) -> None:
    """Fetch the manifest, check it, show it, ask, perturb, store, send."""
    out = Console(highlight=False)
    collector, token, study_id = _addressed(url.strip(), token, study_id)
    node = node_of(token)
    private = _read(answers)
    ledger = Ledger(ledger_path or default_path())
    if limit is not None:
        ledger.limit = limit
    device = Participant(ledger)
    study = device.check(collector.manifest(), study_id)
    if ledger.report(study, node) is None:
        out.print(describe(study, ledger), markup=False)
        out.print(*_clipped(study, private), sep="\n", markup=False)
        if not yes and not _wants_to(out):
            raise Refusal("The owner must agree before anything is made or sent. Nothing was.")
        device.agree(study)
    else:
        out.print("A report for this study was made before; the same one is sent again.")
    reply = device.answer(study, node, private)
    out.print("What is sent: " + json.dumps(reply.symbols()), markup=False, soft_wrap=True)
    outcome = collector.send(reply, token)
    ledger.acknowledge(study.id)
    out.print(f"The collector has it ({outcome}). Spent so far: {ledger.spent:g} of {ledger.limit:g}.")


def _wants_to(out: Console) -> bool:
    try:
        return Confirm.ask("Take part?", console=out, default=False)
    except EOFError:
        raise Refusal("The owner must agree, and there is nobody to ask here; --yes agrees beforehand.") from None


def print_ledger(path: Path | None, limit: float | None, *, as_json: bool) -> None:
    """Every report of this device and what is left."""
    place = path or default_path()
    if path is not None and limit is None and not place.is_file():
        raise InvalidParameter("--ledger", "privet ledger", "an existing file", str(place))
    ledger = Ledger(place)
    if limit is not None:
        ledger.limit = limit
    entries = ledger.entries()
    if as_json:
        reports = [{"study": e.study, "title": e.title, "epsilon": e.cost, "sent": e.sent is not None} for e in entries]
        print(
            json.dumps({"limit": ledger.limit, "spent": ledger.spent, "delta": ledger.spent_delta, "reports": reports})
        )
        return
    table = Table("made", "study", "title", "epsilon", "sent")
    for entry in entries:
        made = f"{datetime.fromtimestamp(entry.made, UTC):%Y-%m-%d}"
        table.add_row(
            made, entry.study[:12], escape(entry.title), f"{entry.cost:g}", "yes" if entry.sent else "not yet"
        )
    out = Console(highlight=False)
    out.print(table)
    out.print(f"Spent {ledger.spent:g} of {ledger.limit:g}; {max(0.0, ledger.limit - ledger.spent):g} left.")
    if ledger.spent_delta:
        out.print(f"Delta: {ledger.spent_delta:g} of {LIFETIME_DELTA:g}.")


def _addressed(url: str, token: str | None, study_id: str | None) -> tuple[Collector, str, str]:
    """The collector, token and study id, of which the last two may be in the link's fragment."""
    fragment = {name: values[-1] for name, values in parse_qs(url.partition("#")[2]).items()}
    token, study_id = (token or fragment.get("token", "")).strip(), (study_id or fragment.get("study", "")).strip()
    for name, value in (("token", token), ("study", study_id)):
        if not value:
            raise InvalidParameter(name, "privet participate", "given, or part of the link", "none")
    return Collector(url), str(token), str(study_id)


def _read(path: Path) -> PrivateAnswers:
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
    """What lies outside its range is told to its owner, and to nobody else."""
    lines = []
    for column, (domain, value) in enumerate(zip(study.declared.features, private.features, strict=False)):
        if isinstance(domain, Interval) and isinstance(value, int | float) and not domain.low <= value <= domain.high:
            nearest = domain.low if value < domain.low else domain.high
            lines.append(f"Your answer to {study.question(column)} lies outside its range and counts as {nearest:g}.")
    return lines
