"""Rounds, from the operator's side: what is asked next follows from what is public by now, by a rule that is bound.

Everything here is computed from the database's public data: the operator's inputs, what a panel shows, and randomised
answers. Whoever has them (:mod:`privet.collection.operator.export.public_record`) computes the same rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.operator.models import TrainedModel
from privet.collection.operator.training import split_labelled, trained_on
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import Plan, Study
from privet.collection.study.open_answers import OpenData
from privet.data import Graph
from privet.errors import InvalidData, PrivetError
from privet.release import LocalRelease
from privet.release.asks import Ask
from privet.release.blobs import array_digest, blob_of, new_salt, salt_of
from privet.systems import SYSTEMS
from privet.systems.collected import Collected, Shown
from privet.systems.local.inquiry import Inquiry

__all__ = ["NoMoreRounds", "Recomputed", "gather", "next_round", "recompute", "system_of", "train_rounds"]


class NoMoreRounds(PrivetError):
    """A study whose questions are all asked."""


def system_of(study: Study, store: Store) -> Inquiry:
    """Return the system of a study's plan.

    Args:
        study: A round of the study.
        store: The store that has the public data which the plan names.
    """
    plan: Plan | None = study.plan
    if plan is None:
        raise NoMoreRounds("The study has one round only: its manifest has no plan of later ones.")
    settings = dict(plan.settings)
    if isinstance(settings.get("scorer"), str):
        settings["scorer"] = store.array(settings["scorer"])
    kind = SYSTEMS.find(plan.system)
    if not issubclass(kind, Inquiry):
        raise InvalidData("study's plan", "a system that asks in rounds, such as inquiry", plan.system)
    return kind(**settings)


def gather(store: Store, system: Inquiry, before: int | None = None) -> Collected:
    """Return what the server holds after some rounds.

    Args:
        store: The store of any round of the study.
        system: The system of its plan.
        before: The number of the first round that is left out; all rounds are used by default.
    """
    rounds = [each for each in store.chain().rounds if before is None or each.round < before]
    found = [store.at(each).collected() for each in rounds]
    collected = system.opened(_public(store, rounds[0]), _shown([opened for _, opened in found]))
    for answers, _ in found:
        collected = collected.joined(answers)
    known = np.flatnonzero(collected.seen_labels() >= 0)
    panel = None if collected.shown is None else collected.shown.users
    split = split_labelled(known, rounds[0].nodes, seed=system.seed, kept=panel)
    return replace(collected, public=collected.public.replace(split=split))


def next_round(store: Store, opens: datetime, closes: datetime) -> Study:
    """Close the newest round, draw up the next one, and put it into the store.

    Args:
        store: The store of any round of the study.
        opens: The first moment at which its reports are taken.
        closes: The first moment at which they are not taken any more.
    """
    chain = store.chain()
    newest = store.at(chain.newest)
    system = system_of(newest.study, store)
    if all(chain.release.asks(question.name) for question in system.questions(newest.study.population)):
        raise NoMoreRounds("All questions of the study's plan are asked: train on the answers.")
    was_closed = newest.is_closed()
    newest.close()  # what is computed from must not change any more
    try:
        return _opened(store, newest.study, system, opens, closes)
    except BaseException:
        if not was_closed:
            newest.reopen()
        raise


def _opened(store: Store, before: Study, system: Inquiry, opens: datetime, closes: datetime) -> Study:
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


def _drawn_up(store: Store, system: Inquiry, number: int) -> tuple[LocalRelease, NDArray[np.int32] | None]:
    """Return the questions of a round with their tables, and whom it asks."""
    collected = gather(store, system, before=number)
    release = system.next_round(collected)
    if release is None:
        raise NoMoreRounds("All questions of the study's plan are asked: train on the answers.")
    chosen = [system.invited(question, collected) for question in release.questions]
    people = None
    for some in chosen:
        if some is not None:
            people = some if people is None else np.intersect1d(people, some)
    return release, None if people is None else people.astype(np.int32)


def train_rounds(
    store: Store,
    *,
    place: Callable[[Graph], Graph] = lambda graph: graph,
    predict_erased: bool = False,
    progress: bool = False,
) -> TrainedModel:
    """Train the system of a study's plan on the answers of all rounds so far.

    Args:
        store: The store of any round of the study.
        place: Moves the public topology to where it is computed on, such as a cluster.
        predict_erased: True to predict also the people whose reports were erased.
        progress: Show a progress bar.
    """
    erased = [each.node for each in store.erasures()]  # asked first: a later erasure is one after the training
    chain = store.chain()
    system = system_of(chain.newest, store)
    collected = gather(store, system)
    placed = replace(collected, public=place(collected.public))
    left_out = [] if predict_erased else [node for node in erased if node >= 0]  # a public record names nobody
    return trained_on(chain, placed, system, erasures=len(erased), left_out=left_out, progress=progress)


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
        release, people = _drawn_up(store, system_of(study, store), study.round)
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


def _public(store: Store, first: Study) -> Graph:
    """Return the operator's public data: schema, topology and labels where they are public."""
    nodes, inputs = first.nodes, first.inputs
    adjacency = sp.csr_array((nodes, nodes), dtype=np.float32)
    if inputs.edges is not None:
        adjacency = Graph.from_edges(store.array(inputs.edges).T.astype(np.int64), nodes).adjacency
    labels = np.full(nodes, -1, dtype=np.int64)
    if inputs.labels is not None:
        labels = store.array(inputs.labels).astype(np.int64)
    return Graph(adjacency, labels=labels, schema=first.declared)


def _shown(parts: Sequence[OpenData]) -> Shown | None:
    """Return what the panels of all rounds show."""
    some = [part for part in parts if len(part.users)]
    if not some:
        return None
    users = np.concatenate([part.users for part in some])
    features = sp.csr_array(np.concatenate([part.features for part in some]))
    return Shown(users, features, np.concatenate([part.labels for part in some]))
