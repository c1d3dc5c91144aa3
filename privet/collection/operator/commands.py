"""What ``privet study`` does, behind the thin command line."""

from __future__ import annotations

import csv
import json
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from privet.collection.device.client import Collector
from privet.collection.operator.folder import StudyFolder
from privet.collection.study import Study
from privet.data import Schema
from privet.data.files import atomic_file, check_writable
from privet.errors import InvalidData, InvalidParameter

__all__ = ["close_study", "export_study", "new_study", "print_status", "revoke_token", "serve_study", "write_links"]


def new_study(
    path: Path,
    *,
    texts: dict[str, Any],
    budgets: dict[str, Any],
    schema_file: Path,
    questions_file: Path | None,
    class_names: str | None,
    opens: str | None,
    days: float,
    store: str | None,
) -> None:
    """Declare a study and print its id, what it promises and what to do next."""
    schema = Schema.from_json(_text(schema_file))
    start = datetime.now(UTC) if opens is None else _moment(opens)
    document = {
        **texts,
        **budgets,
        "schema": json.loads(schema.to_json()),
        "questions": None if questions_file is None else _text(questions_file).splitlines(),
        "class_names": None if class_names is None else [name.strip() for name in class_names.split(",")],
        "opens": start.isoformat(),
        "closes": _later(start, days).isoformat(),
    }
    if (budgets["neighbours"] is not None) != schema.private_edges:
        expected = "given where the schema says that edges are private, and only there"
        raise InvalidParameter("epsilon-edges", "the study", expected, f"private_edges = {schema.private_edges}")
    study = Study.read(document)
    folder = StudyFolder.create(path, study, store)
    out = Console(highlight=False, soft_wrap=True)
    out.print(f"[bold]{escape(study.title)}[/], study {study.id}")
    out.print(study.guarantee().in_words())
    out.print(f"It costs a participant {study.cost:g} of their lifetime epsilon.")
    out.print(f"\nWritten to {escape(str(path))}: study.json (public), tokens.csv and keys.json (secret).")
    out.print(f"Serve it:             privet study serve {escape(str(path))}")
    out.print(f"Personal links:       privet study links {escape(str(path))} --url https://HOST")
    out.print(f"The operator's page:  http://HOST:8000/operator with the key {folder.operator_key}")


def serve_study(path: Path, host: str, port: int, rate: float, burst: int, *, proxied: bool) -> None:
    """Serve until Ctrl-C."""
    from privet.collection.server.app import Limits
    from privet.collection.server.serving import serve

    folder = StudyFolder.open(path)
    _check_port(host, port)
    out = Console(highlight=False, soft_wrap=True, markup=False)
    out.print(f"Serving '{folder.study.title}' at http://{host}:{port}/ (operator: http://{host}:{port}/operator).")
    if host not in ("127.0.0.1", "::1", "localhost"):
        out.print("Tokens travel in the clear over plain HTTP: put a TLS proxy in front of it.")
    serve(folder, host, port, Limits(rate, burst, proxied=proxied))


def _check_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        found = f"{host}:{port} ({error.strerror or error})"
        raise InvalidParameter("--host, --port", "privet study serve", "an address that is free", found) from None


def print_status(path: Path, *, as_json: bool) -> None:
    """Counts, refusals and the promise."""
    folder = StudyFolder.open(path)
    study, store = folder.study, folder.store()
    try:
        summary: dict[str, Any] = {
            "study": study.id,
            "title": study.title,
            "nodes": study.nodes,
            "stored": store.count(),
            "open": study.is_open(datetime.now(UTC)) and not store.is_closed(),
            "closes": study.closes.isoformat(),
            "rejected": store.rejections(),
            "conflicts": store.conflicts(),
            "guarantee": study.guarantee().to_dict(),
            "cost": study.cost,
            "models": store.models(),
        }
    finally:
        store.dispose()
    if as_json:
        print(json.dumps(summary))
        return
    out = Console(highlight=False, soft_wrap=True)
    state = f"open until {study.closes:%Y-%m-%d %H:%M} UTC" if summary["open"] else "not open"
    out.print(f"[bold]{escape(study.title)}[/], study {study.id}, {state}")
    out.print(f"{summary['stored']:,} of {study.nodes:,} answered ({summary['stored'] / study.nodes:.1%}).")
    refused = ", ".join(f"{count:,} {reason}" for reason, count in summary["rejected"].items()) or "none"
    out.print(f"Refused: {refused}; different second reports: {summary['conflicts']:,}.")
    out.print(study.guarantee().in_words())
    for model in summary["models"]:
        metrics = ", ".join(f"{name} {value:g}" for name, value in model["metrics"].items())
        out.print(f"Model {model['name']} ({model['system']}): {metrics}", markup=False)


def close_study(path: Path) -> None:
    """Take no new reports."""
    store = StudyFolder.open(path).store()
    store.close()
    print(f"Closed with {store.count():,} reports; repetitions are still acknowledged.")
    store.dispose()


def export_study(path: Path, out: Path) -> None:
    """All reports as Parquet."""
    from privet.collection.operator.export import write_answers
    from privet.collection.operator.folder import open_reports

    check_writable(out)
    study, answers = open_reports(path)
    write_answers(out, study, answers)
    print(f"Wrote {len(answers):,} reports of {study.nodes:,} nodes to {out}.")


def write_links(path: Path, url: str, out: Path) -> None:
    """Every node's link, readable by its owner only."""
    folder = StudyFolder.open(path)
    Collector(url)  # refuses what is no address
    store = folder.store()
    serials = dict.fromkeys(range(folder.study.nodes), 0)
    for node, serial in store.revoked():
        serials[node] = max(serials[node], serial + 1)
    store.dispose()
    base = f"{url.split('#')[0].rstrip('/')}/#study={folder.study.id}&token="
    with (
        atomic_file(out) as file,
        os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", newline="") as text,
    ):
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["node", "link"])
        rows.writerows((node, base + folder.tokens.issue(node, serial)) for node, serial in serials.items())
    print(f"Wrote {folder.study.nodes:,} links to {out}; each is one person's secret.")


def revoke_token(path: Path, node: int) -> None:
    """Revoke the newest token of a node and print the next."""
    folder = StudyFolder.open(path)
    folder.tokens.issue(node)  # refuses a node that does not exist
    store = folder.store()
    serial = max((number for revoked, number in store.revoked() if revoked == node), default=-1) + 1
    store.revoke(node, serial)
    store.dispose()
    print(f"The token of node {node} is revoked; its new one is {folder.tokens.issue(node, serial + 1)}")


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
