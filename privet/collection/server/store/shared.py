"""Public bytes that all their readers share: one copy in memory, handed out piece by piece."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable

__all__ = ["Shared", "pieces_of"]

_PIECE = 1 << 16


class Shared:
    """A cache of what the hash names, so that a hundred readers of a table cost as much memory as one.

    Args:
        read: Returns the bytes with a hash, or None; it runs in a thread.
        most: The bytes to keep; the newest entry is kept even if it alone has more.
    """

    def __init__(self, read: Callable[[str], bytes | None], most: int = 64 << 20) -> None:
        self._read, self._most = read, most
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._one = asyncio.Lock()  # readers who come at once wait for the first one's copy

    async def get(self, digest: str) -> bytes | None:
        """Return the bytes with a hash."""
        async with self._one:
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


async def pieces_of(content: bytes) -> AsyncIterator[bytes]:
    """Yield bytes piece by piece: the server waits after each, where it would copy the whole for a slow reader."""
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
