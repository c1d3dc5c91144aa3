"""Personal links and tokens of a study's participants."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from privet.collection.device.client import Collector
from privet.collection.operator.folder import StudyFolder
from privet.data.files import atomic_file

__all__ = ["current_tokens", "renew_token", "write_links"]


def write_links(path: Path, url: str, out: Path) -> int:
    """Write the links of those whom the newest round asks to a CSV file that its owner alone can read.

    Args:
        path: The study's directory.
        url: Where participants reach the collector.
        out: The file to write.

    Returns:
        The number of links.
    """
    folder = StudyFolder.open(path)
    Collector(url, insecure=True)  # refuses what is no address
    store = folder.store()
    form = store.at(store.chain().newest).form
    asked = set(form.everybody().tolist()) - {each.node for each in store.erasures()}  # who withdrew is left alone
    store.dispose()
    declared = folder.declared
    language = None if declared is None else declared.declaration.language
    spoken = "" if language is None else f"&lang={language}"
    base = f"{url.split('#')[0].rstrip('/')}/#study={form.study.id}&token="
    with (
        atomic_file(out) as file,
        os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", newline="") as text,
    ):
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["node", "link"])
        rows.writerows((node, base + token + spoken) for node, token in current_tokens(folder) if node in asked)
    return len(asked)


def current_tokens(folder: StudyFolder) -> Iterator[tuple[int, str]]:
    """Yield every node with the token that the newest key signs and that was not revoked."""
    store = folder.store()
    serials = dict.fromkeys(range(folder.study.nodes), 0)
    for node, serial in store.revoked():
        serials[node] = max(serials[node], serial + 1)
    store.dispose()
    tokens = folder.tokens
    return ((node, tokens.issue(node, serial)) for node, serial in serials.items())


def renew_token(path: Path, node: int) -> str:
    """Revoke the newest token of a node and return the next one."""
    folder = StudyFolder.open(path)
    folder.tokens.issue(node)  # refuses a node that does not exist
    store = folder.store()
    serial = max((number for revoked, number in store.revoked() if revoked == node), default=-1) + 1
    store.revoke(node, serial)
    store.dispose()
    return folder.tokens.issue(node, serial + 1)
