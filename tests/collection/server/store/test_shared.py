"""Public bytes: one copy for all readers, and a bound on all copies."""

import asyncio

from privet.collection.server.store.shared import Shared, pieces_of


class Source:
    """Bytes by name, and the names that were asked for."""

    def __init__(self, **content):
        self.content, self.asked = content, []

    def read(self, digest):
        self.asked.append(digest)
        known = self.content.get(digest)
        return None if known is None else bytes(bytearray(known))  # a new copy each time


def test_readers_who_come_at_once_share_one_copy():
    source = Source(a=b"x" * 1000)

    async def many():
        shared = Shared(source.read)
        return await asyncio.gather(*(shared.get("a") for _ in range(100)))

    found = asyncio.run(many())
    assert (len({id(each) for each in found}), source.asked) == (1, ["a"])


def test_the_oldest_go_first_and_what_is_missing_is_not_kept():
    source = Source(a=b"x" * 40, b=b"y" * 40, c=b"z" * 40, large=b"l" * 500)

    async def one_after_another():
        shared = Shared(source.read, most=100)
        for each in ("a", "b", "a", "c", "a", "b", "none", "none", "large", "large"):
            assert await shared.get(each) == source.content.get(each)

    asyncio.run(one_after_another())
    assert source.asked == ["a", "b", "c", "b", "none", "none", "large"]


def test_pieces_are_the_whole():
    async def joined(content):
        return [piece async for piece in pieces_of(content)]

    content = bytes(range(256)) * 1000
    pieces = asyncio.run(joined(content))
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) == 1 << 16
