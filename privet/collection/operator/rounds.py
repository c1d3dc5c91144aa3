"""Rounds, from the operator's side: what is asked next follows from what is public by now, by a rule that is bound.

Everything here is computed from the database's public data: the operator's inputs, what a panel shows, and randomised
answers. Whoever has them (:mod:`privet.collection.operator.export.public_record`) computes the same rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.operator.declaration import invited
from privet.collection.operator.received import Received, planned_system
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import Study
from privet.errors import PrivetError
from privet.release import LocalRelease
from privet.release.asks import Ask
from privet.release.blobs import array_digest, blob_of, new_salt, salt_of
from privet.systems import LocalSystem

__all__ = ["NoMoreRounds", "Recomputed", "next_round", "recompute"]


class NoMoreRounds(PrivetError):
    """A study whose questions are all asked."""


def next_round(store: Store, opens: datetime, closes: datetime) -> Study:
    """Close the newest round, draw up the next one, and put it into the store.

    Args:
        store: The store of any round of the study.
        opens: The first moment at which its reports are taken.
        closes: The first moment at which they are not taken any more.
    """
    chain = store.chain()
    newest = store.at(chain.newest)
    if not chain.newest.in_rounds:
        raise NoMoreRounds("The study has one round only: its manifest announces no later ones.")
    if not chain.planned:
        raise NoMoreRounds("All questions of the study's plan are asked: train on the answers.")
    system, was_closed = planned_system(newest.study, store), newest.is_closed()
    newest.close()  # what is computed from must not change any more
    try:
        return _opened(store, newest.study, system, opens, closes)
    except BaseException:
        if not was_closed:
            newest.reopen()
        raise


def _opened(store: Store, before: Study, system: LocalSystem, opens: datetime, closes: datetime) -> Study:
    """Draw up the round after one, and put it into the store."""
    while True:  # tables are published for ever: nobody who withdrew while they were computed may be in them
        erased = store.erasures()
        release, people = _drawn_up(store, system, before.round + 1)
        if store.erasures() == erased:
            break
    release, salt = release.sealed(), new_salt()
    document = before.model_dump(mode="json", by_alias=True) | {
        "earlier": [*before.earlier, before.id],
        "release": release.to_list(),
        "panel": None,
        "people": None if people is None else array_digest(people, salt),
        "opens": opens.isoformat(),
        "closes": closes.isoformat(),
    }
    study = Study.read(document)
    store.publish_asks(*(question.ask for question in release.questions))
    store.publish(*([] if people is None else [blob_of(people, salt)]))
    store.at(study)
    return study


def _drawn_up(store: Store, system: LocalSystem, number: int) -> tuple[LocalRelease, NDArray[np.int32] | None]:
    """Return the questions of a round with their tables, and whom it asks."""
    collected = Received.at(store, before=number).collected(system)
    release = system.next_round(collected)
    if release is None or not release.questions:
        raise NoMoreRounds(f"{system.name} has nothing more to ask: train on the answers.")
    people = invited(system, release, collected)
    return release, None if people is None else people.astype(np.int32)


@dataclass(frozen=True)
class Recomputed:
    """A round that was computed once more.

    Attributes:
        study: The round.
        differing: The names of the tables that came out otherwise; empty if the round is what the rule says.
    """

    study: Study
    differing: tuple[str, ...]


def recompute(store: Store) -> list[Recomputed]:
    """Compute every round after the first one again, and compare it with what its manifest binds."""
    found = []
    for study in store.chain().rounds[1:]:
        release, people = _drawn_up(store, planned_system(study, store), study.round)
        asked = [replace(each, ask=_salted(each.ask, study, store)).to_dict() for each in release.questions]
        expected, computed = _bound(study), _bound(study.model_copy(update={"asked": tuple(asked)}))
        expected["people"] = study.people
        computed["people"] = None if people is None else array_digest(people, _salt(store, study.people))
        names = sorted(name for name in {*expected, *computed} if expected.get(name) != computed.get(name))
        found.append(Recomputed(study, tuple(names)))
    return found


def _salted(ask: Ask, study: Study, store: Store) -> Ask:
    """Return an ask with the salts of the tables that a round's manifest binds for it."""
    if not study.release.asks(ask.name):
        return ask
    declared = study.release.question(ask.name).ask
    return ask.sealed({name: _salt(store, getattr(declared, name)) for name in ask.attachments()})


def _salt(store: Store, digest: str | None) -> bytes:
    """Return the salt of a public array; empty if it is not here, so that the digest will differ."""
    found = None if digest is None else store.blob(digest)
    return b"" if found is None else salt_of(found)


def _bound(study: Study) -> dict[str, Any]:
    return {f"{each['ask']}.{name}": value for each in study.asked for name, value in each.items()}
