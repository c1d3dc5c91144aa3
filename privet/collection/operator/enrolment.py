"""Links, tokens, keys and erasures of the people whom a study asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from privet.collection.device.client import Collector
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.keys import write_secret_rows

__all__ = [
    "Forgotten",
    "Rotation",
    "current_tokens",
    "erased_people",
    "forget",
    "renew_token",
    "rotate_keys",
    "write_links",
]


def write_links(path: Path, url: str, out: Path, *, waiting: bool = False) -> int:
    """Write the links of those whom the newest round asks to a CSV file that its owner alone can read.

    The columns are the number, whether the person is in the panel ("yes" or "no"), and the link.

    Args:
        path: The study's directory.
        url: Where participants reach the collector.
        waiting: True for those alone who have not answered the newest round, to remind them. They are read from the
            store; no collector is asked, and no log names them.

    Returns:
        The number of links.
    """
    folder = StudyFolder.open(path)
    Collector(url, insecure=True)  # refuses what is no address
    with folder.newest() as store:
        form = store.form
        asked = set(form.everybody().tolist()) - {each.node for each in store.erasures()}  # who withdrew is left alone
        if waiting:
            asked -= set(store.nodes())
        panel = set(form.panel.tolist())
    declared = folder.declared
    language = None if declared is None else declared.declaration.language
    spoken = "" if language is None else f"&lang={language}"
    base = f"{url.split('#')[0].rstrip('/')}/#study={form.study.id}&token="
    links = (
        (node, "yes" if node in panel else "no", base + token + spoken)
        for node, token in current_tokens(folder)
        if node in asked
    )
    write_secret_rows(out, ["node", "panel", "link"], links)
    return len(asked)


def current_tokens(folder: StudyFolder) -> Iterator[tuple[int, str]]:
    """Yield every node with the token that the newest key signs and that was not revoked."""
    serials = dict.fromkeys(range(folder.study.nodes), 0)
    with folder.store() as store:
        for node, serial in store.revoked():
            serials[node] = max(serials[node], serial + 1)
    tokens = folder.tokens
    return ((node, tokens.issue(node, serial)) for node, serial in serials.items())


def renew_token(path: Path, node: int) -> str:
    """Revoke the newest token of a node and return the next one."""
    folder = StudyFolder.open(path)
    folder.tokens.issue(node)  # refuses a node that does not exist
    with folder.store() as store:
        serial = max((number for revoked, number in store.revoked() if revoked == node), default=-1) + 1
        store.revoke(node, serial)
    return folder.tokens.issue(node, serial + 1)


@dataclass(frozen=True)
class Rotation:
    """The state of a study's keys after a rotation.

    Attributes:
        keys: How many keys of this kind are good now.
        people: How many people the study has; each has one link.
        waiting: How many of them have not answered.
        place: The file that holds the keys.
    """

    keys: int
    people: int
    waiting: int
    place: Path


def rotate_keys(path: Path, which: str, *, retire: bool = False) -> Rotation:
    """Add a new key in front of a study's keys, or drop all but the newest.

    Running collectors notice within a second where the keys are in a file.

    Args:
        path: The study's directory.
        which: "signing" for tokens, "operator" for the operator's page.
        retire: Drop the old keys instead of adding a new one.
    """
    folder = StudyFolder.open(path)
    changed = replace(folder, keys=folder.keys.rotated(which, retire=retire))
    changed.keys.save(path / "keys.json", which)
    if which == "signing":
        changed.write_tokens(path, current_tokens(changed))
    with folder.store() as store:
        answered = store.count()
    count = len(changed.keys.signing if which == "signing" else changed.keys.operator)
    place = changed.keys.places.get(which) or path / "keys.json"
    return Rotation(count, folder.study.nodes, folder.study.nodes - answered, place)


@dataclass(frozen=True)
class Forgotten:
    """The outcome of an erasure.

    Attributes:
        new: The people who had not been erased before.
        clean: True if no file of the study holds the bytes any more; otherwise the collector or the next erasure
            removes them.
        models: The names of the models that were trained before.
    """

    new: frozenset[int]
    clean: bool
    models: tuple[str, ...]


def forget(path: Path, *nodes: int) -> Forgotten:
    """Erase all that some people reported, in every round, and refuse what they might send.

    Args:
        path: The study's directory.
        nodes: The people; nobody is erased if one of them does not exist.
    """
    folder = StudyFolder.open(path)
    for node in nodes:
        folder.tokens.issue(node)  # refuses a node that does not exist
    with folder.store() as store:
        new = frozenset(node for node in nodes if store.forget(node, "operator"))
        clean = store.remove_traces()  # once, because SQLite's file is written anew
        return Forgotten(new, clean, tuple(model["name"] for model in store.models() if model["erasures_since"]))


def erased_people(path: Path) -> tuple[int, ...]:
    """Return the numbers of the people who were erased so far; those below 0 stand for people who are not named.

    Ask before the answers are read: an erasure in between then counts as one after the training.

    Args:
        path: The study's directory.
    """
    with StudyFolder.open(path).store() as store:
        return tuple(each.node for each in store.erasures())
