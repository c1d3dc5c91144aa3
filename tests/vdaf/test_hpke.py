"""Sealed messages: only the recipient opens them, only for their purpose, and only unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from node import node_differences

from privet.errors import InvalidParameter, InvalidReports
from privet.vdaf.hpke import KEY, new_key, open_sealed, public_key, seal


def test_the_recipient_opens_what_was_sealed() -> None:
    key = new_key()
    assert len(key) == len(public_key(key)) == KEY
    for message in (b"", b"a share", bytes(10_000)):
        sealed = seal(public_key(key), b"task 1", message)
        assert open_sealed(key, b"task 1", sealed) == message
        assert sealed != seal(public_key(key), b"task 1", message)


@pytest.mark.parametrize("spoil", ["key", "purpose", "byte", "end", "all"])
def test_nothing_else_opens_it(spoil: str) -> None:
    key = new_key()
    sealed = seal(public_key(key), b"task 1", b"a share")
    changed = {
        "byte": sealed[:40] + bytes([sealed[40] ^ 1]) + sealed[41:],
        "end": sealed[:-1],
        "all": b"",
    }.get(spoil, sealed)
    with pytest.raises(InvalidReports, match="The sealed message does not open"):
        open_sealed(new_key() if spoil == "key" else key, b"task 2" if spoil == "purpose" else b"task 1", changed)


def test_keys_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="recipient must be a public key of 32 bytes, not 3 bytes"):
        seal(b"abc", b"", b"")
    with pytest.raises(InvalidParameter, match="The recipient's public key is not safe"):
        seal(bytes(32), b"", b"")
    with pytest.raises(InvalidParameter, match="private_key must be 32 bytes long, not 1 bytes"):
        open_sealed(b"a", b"", b"")


@pytest.mark.journey
def test_python_opens_what_the_page_seals(tmp_path: Path) -> None:
    key = new_key()
    messages = [(b"", b""), (b"task 1", b"a share"), (bytes(300), bytes(range(256)) * 100)]
    given = {
        "recipient": public_key(key).hex(),
        "messages": [[info.hex(), message.hex()] for info, message in messages],
        "unsafe": ["00" * 32, "01" + "00" * 31, "00" * 31],
    }
    found = node_differences(Path(__file__).parent / "check_hpke.js", given, tmp_path)
    assert found["accepted"] == []
    for (info, message), sealed in zip(messages, found["sealed"], strict=True):
        assert open_sealed(key, info, bytes.fromhex(sealed)) == message
    with pytest.raises(InvalidReports):
        open_sealed(key, b"task 2", bytes.fromhex(found["sealed"][1]))
