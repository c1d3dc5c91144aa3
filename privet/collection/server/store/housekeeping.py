"""What a running collector does without being asked: it deletes what its manifest promised to delete."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from privet.collection.server.store.store import Store

__all__ = ["Housekeeping"]


@dataclass(frozen=True)
class Housekeeping:
    """The repeated deletions of one collector. Several collectors of one store may do them at once.

    Attributes:
        store: Where reports are kept.
        pause: Seconds between two removals of what erasures left in the files.
        between: Seconds between two looks for reports whose retention has ended.
    """

    store: Store
    pause: float = 60.0
    between: float = 3600.0

    def once(self) -> None:
        """Delete reports whose retention has ended, and remove what deletions left in the files."""
        self.store.expire()
        self.store.remove_traces()

    async def run(self) -> None:
        """Go on until cancelled; a store that is away or busy is asked again."""
        clock = asyncio.get_running_loop()
        last = clock.time()
        while True:
            await asyncio.sleep(self.pause)
            with contextlib.suppress(Exception):
                if clock.time() - last >= self.between:
                    await asyncio.to_thread(self.store.expire)
                    last = clock.time()
                await asyncio.to_thread(self.store.remove_traces)
