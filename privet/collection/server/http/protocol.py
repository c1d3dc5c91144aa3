"""HTTP connections that are closed if they do not ask or do not read: uvicorn itself waits for either for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["ImpatientProtocol"]

HEAD_SECONDS = 10.0
HEAD_BYTES = 1 << 16
READ_SECONDS = 30.0


class ImpatientProtocol(HttpToolsProtocol):
    """A connection that is closed if its request's head is late or longer than any real one, or its reader stalls."""

    _alarm: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: Any) -> None:
        """Start the clock of the first head."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks: nothing is expected any more."""
        self._stop()
        self._stop_reading()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start the clock of the next head; between requests uvicorn's keep-alive timeout holds."""
        if self._alarm is None:
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop the clock: the head is there, and the body has a clock of its own."""
        self._stop()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Count what a head has so far."""
        super().data_received(data)
        if self._alarm is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.transport.close()

    def pause_writing(self) -> None:
        """Start the clock of a reader who leaves an answer lying; ``abort`` because ``close`` would wait for them."""
        super().pause_writing()
        self._stop_reading()
        self._reading = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the clock: the reader has caught up."""
        self._stop_reading()
        super().resume_writing()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _expect_head(self) -> None:
        self._head = 0
        self._alarm = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
