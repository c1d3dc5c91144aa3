"""The digest of this program's own files: it ties a statement to the build that made it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["build_digest"]

_LEFT_OUT = ("__pycache__", ".pyc")


@cache
def build_digest() -> str:
    """Return ``sha256:`` and 64 hexadecimal digits, over the names and the contents of all files of the package.

    Two installations with the same digest run the same code of privet. It says nothing about libraries, and a changed
    program can claim any digest: whoever wants to be sure computes it on a copy from elsewhere.

    >>> build_digest()[:7], len(build_digest())
    ('sha256:', 71)
    """
    digest = hashlib.sha256()
    for name, file in sorted(_files(files("privet"), "").items()):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"sha256:{digest.hexdigest()}"


def _files(folder: Traversable, path: str) -> dict[str, Traversable]:
    found: dict[str, Traversable] = {}
    for each in folder.iterdir():
        if each.name.endswith(_LEFT_OUT):
            continue
        name = f"{path}/{each.name}"
        found |= _files(each, name) if each.is_dir() else {name: each}
    return found
