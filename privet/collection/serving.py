"""The collector of a study's directory under uvicorn, with the operator's tools for downloads and next rounds."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from importlib.util import find_spec

import uvicorn

from privet.collection.downloads import DOWNLOADS
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.results.reading import results_html
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.http.background import Command
from privet.collection.server.http.limits import ImpatientProtocol
from privet.collection.server.http.monitoring import Complaints, Events

__all__ = ["next_round_command", "serve"]


def serve(
    folder: StudyFolder,
    host: str,
    port: int,
    limits: Limits,
    events: Events | None = None,
    *,
    private_metrics: bool = False,
) -> None:
    """Serve a study until Ctrl-C or SIGTERM.

    Args:
        folder: The study's directory.
        host: The address to listen on.
        port: The port to listen on.
        limits: The most that is taken.
        events: The log; none without it.
        private_metrics: Show metrics to the operator only.
    """
    events = events or Events()
    logging.basicConfig(handlers=[Complaints(events)], level=logging.WARNING, force=True)
    with folder.store() as store:
        app = create_app(
            store,
            folder.tokens,
            folder.keys.operator[0],
            limits,
            events=events,
            renew=folder.access,
            private_metrics=private_metrics,
            next_round=_next_round(folder),
            downloads=DOWNLOADS,
            results=results_html,
        )
        uvicorn.run(
            app,
            host=host,
            port=port,
            log_config=None,  # what uvicorn complains about becomes an event without its values
            log_level="warning",
            access_log=False,  # an access log would put addresses next to the times of reports
            server_header=False,
            proxy_headers=False,  # uvicorn would believe the entry that the client wrote
            timeout_graceful_shutdown=10,
            limit_concurrency=4096,
            http=ImpatientProtocol.counting(app.state.rate, lambda: app.state.count("no HTTP")),
        )


def _next_round(folder: StudyFolder) -> Command | None:
    """Return what opens the next round; None where torch is missing, so that nobody is offered what would fail."""
    if find_spec("torch") is None:
        return None
    return lambda days: next_round_command(folder, days)


def next_round_command(folder: StudyFolder, days: float) -> Sequence[str]:
    """Return the command that opens the next round: another process, so that torch stays out of the collector's memory.

    Args:
        folder: The study's directory.
        days: How long the round stays open.
    """
    return [sys.executable, "-m", "privet.cli", "study", "next", str(folder.path), "--days", str(days), "--yes"]
