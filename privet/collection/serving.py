"""``privet study serve``: the collector under uvicorn, which writes no access log."""

from __future__ import annotations

import uvicorn

from privet.collection.collector import Limits, create_app
from privet.collection.folder import StudyFolder

__all__ = ["serve"]


def serve(folder: StudyFolder, host: str, port: int, limits: Limits, *, proxied: bool = False) -> None:
    """Serve a study until Ctrl-C or SIGTERM. ``proxied`` believes a reverse proxy's X-Forwarded-For header."""
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
            proxy_headers=proxied,
            forwarded_allow_ips="*" if proxied else None,
            timeout_graceful_shutdown=10,
            limit_concurrency=4096,
            h11_max_incomplete_event_size=1 << 16,
        )
    finally:
        store.dispose()
