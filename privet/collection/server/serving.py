"""The collector under uvicorn, which writes no access log."""

from __future__ import annotations

import uvicorn

from privet.collection.operator.folder import StudyFolder
from privet.collection.server.app import Limits, create_app
from privet.collection.server.protocol import ImpatientProtocol

__all__ = ["serve"]


def serve(folder: StudyFolder, host: str, port: int, limits: Limits) -> None:
    """Serve a study until Ctrl-C or SIGTERM.

    Args:
        folder: The study's directory.
        host: The address to listen on.
        port: The port to listen on.
        limits: The most that is taken.
    """
    store = folder.store()
    app = create_app(store, folder.tokens, folder.operator_key, limits)
    try:
        uvicorn.run(
            app,
            host=host,
            port=port,
            log_level="warning",
            access_log=False,  # an access log would put addresses next to the times of reports
            server_header=False,
            proxy_headers=False,  # uvicorn would believe the entry that the client wrote
            timeout_graceful_shutdown=10,
            limit_concurrency=4096,
            http=ImpatientProtocol,
        )
    finally:
        store.dispose()
