"""Personal links and tokens of a study's participants."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from privet.collection.device.client import Collector
from privet.collection.operator.folder import StudyFolder
from privet.data.files import atomic_file

__all__ = ["renew_token", "write_links"]


def write_links(path: Path, url: str, out: Path) -> int:
    """Write every participant's link to a CSV file that its owner alone can read.

    Args:
        path: The study's directory.
        url: Where participants reach the collector.
        out: The file to write.

    Returns:
        The number of links.
    """
    folder = StudyFolder.open(path)
    Collector(url)  # refuses what is no address
    store = folder.store()
    serials = dict.fromkeys(range(folder.study.nodes), 0)
    for node, serial in store.revoked():
        serials[node] = max(serials[node], serial + 1)
    store.dispose()
    base = f"{url.split('#')[0].rstrip('/')}/#study={folder.study.id}&token="
    with (
        atomic_file(out) as file,
        os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", newline="") as text,
    ):
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["node", "link"])
        rows.writerows((node, base + folder.tokens.issue(node, serial)) for node, serial in serials.items())
    return folder.study.nodes


def renew_token(path: Path, node: int) -> str:
    """Revoke the newest token of a node and return the next one."""
    folder = StudyFolder.open(path)
    folder.tokens.issue(node)  # refuses a node that does not exist
    store = folder.store()
    serial = max((number for revoked, number in store.revoked() if revoked == node), default=-1) + 1
    store.revoke(node, serial)
    store.dispose()
    return folder.tokens.issue(node, serial + 1)
