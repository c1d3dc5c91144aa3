"""Public data for participants, with one copy in memory for all readers, and files that an operator downloads."""

from __future__ import annotations

import asyncio
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from privet.collection.server.http.replies import Refused
from privet.collection.server.store.store import Store

__all__ = ["Download", "PublicCache"]


class PublicCache:
    """A cache of public bytes by their hash, so that a hundred readers of a table cost as much memory as one.

    Args:
        read: Returns the bytes with a hash, or None; it runs in a thread.
        most: The bytes to keep; the newest entry is kept even if it alone has more.
    """

    def __init__(self, read: Callable[[str], bytes | None], most: int = 64 << 20) -> None:
        self._read, self._most = read, most
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = asyncio.Lock()  # readers who come at once wait for the first one's copy

    async def get(self, digest: str) -> bytes | None:
        """Return the bytes with a hash; None if there are none."""
        async with self._lock:
            found = self._kept.pop(digest, None)
            if found is None:
                found = await asyncio.to_thread(self._read, digest)
                if found is None:
                    return None
                self._size += len(found)
            self._kept[digest] = found
            while self._size > self._most and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1])
            return found


@dataclass(frozen=True)
class Download:
    """A form in which an operator can download a study.

    Attributes:
        file: The name of the file.
        kind: Its media type.
        write: Writes the file from the store of a round.
        needs: What a round must have for it: "questions", "panel", or nothing for a file about all rounds.
    """

    file: str
    kind: str
    write: Callable[[Store, Path], object]
    needs: str = ""

    def make(self, store: Store) -> tuple[BinaryIO, str]:
        """Return the open file and its name; it was made in a temporary folder that is gone already.

        Args:
            store: The store of the round; for a file about all rounds, of the first one.
        """
        if self.needs == "panel" and not len(store.form.panel):
            raise Refused(404, "no panel", "This round has no panel.")
        if self.needs == "questions" and not store.study.release.questions:
            raise Refused(404, "no questions", "This round has a panel and no questions. Download the panel's answers.")
        with tempfile.TemporaryDirectory(prefix="privet-") as folder:
            out = Path(folder) / self.file
            self.write(store, out)
            file = out.open("rb")
        return file, f"round-{store.study.round}-{self.file}" if self.needs else self.file
