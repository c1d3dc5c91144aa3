"""``privet study serve``: take reports."""

from __future__ import annotations

import socket
import sys
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

from privet.cli.study.group import Folder, study
from privet.errors import InvalidParameter


class Log(StrEnum):
    """The form of a log."""

    json = "json"
    text = "text"


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
    private_metrics: Annotated[
        bool, typer.Option("--private-metrics", help="Show /metrics to the operator only (default: to everybody).")
    ] = False,
    log: Annotated[
        Log | None,
        typer.Option(
            help="Form of the log on stderr (default: text on a terminal, json elsewhere).", show_default=False
        ),
    ] = None,
) -> None:
    """Take reports until Ctrl-C. The log names events and counts, never a person, report or address."""
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.server.http.app import Limits
    from privet.collection.server.http.events import Events
    from privet.collection.serving import serve as run

    opened = StudyFolder.open(folder)
    _check_port(host, port)
    out = Console(highlight=False, soft_wrap=True, markup=False)
    out.print(f"Serving '{opened.study.title}' at http://{host}:{port}/ (operator: http://{host}:{port}/operator).")
    if host not in ("127.0.0.1", "::1", "localhost"):
        out.print("Tokens travel in the clear over plain HTTP: put a TLS proxy in front of it.")
    as_json = not sys.stderr.isatty() if log is None else log is Log.json
    events = Events(sys.stderr, as_json=as_json)
    run(opened, host, port, Limits(rate_limit, burst, proxied=proxied), events, private_metrics=private_metrics)


def _check_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        found = f"{host}:{port} ({error.strerror or error})"
        raise InvalidParameter("--host, --port", "an address that is free", found) from None
