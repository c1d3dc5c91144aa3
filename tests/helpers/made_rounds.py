"""A study of three rounds with tables that are made up, and a server that hands them out, honest or not."""

import hashlib
import json
from dataclasses import dataclass, field

import numpy as np
from simulated_studies import make_study

from privet.collection.study.chain import Chain
from privet.collection.study.directory import Directory
from privet.collection.study.manifest import Study
from privet.data import Schema
from privet.mechanisms import Counts, OfferedResponse
from privet.release import Question
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.resemblance import Resemblance
from privet.release.blobs import array_digest, blob_of
from privet.release.tree import HashTree

NODES, CLASSES, ME = 30, 3, 7
SCHEMA = Schema.numeric(4, low=0.0, high=10.0, classes=CLASSES, private_edges=True)
DIRECTORY = Directory(tuple(f"Person {node}" for node in range(NODES)))
LABEL = {"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0}
FEATURES = {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0}


def first_round(**changes):
    """Round 1: the class of everybody below 20, and a panel of two."""
    values = {"nodes": NODES, "schema": SCHEMA, "release": [LABEL], "directory": DIRECTORY.digest}
    values |= {"plan": PLAN}
    values |= {"panel": array_digest(PANEL), "people": array_digest(ASKED)}
    return make_study(**values | changes)


def later_round(before, *questions, **changes):
    """The round after ``before``, with these questions."""
    document = json.loads(before.canonical()) | {
        "earlier": [*before.earlier, before.id],
        "release": [question.to_dict() for question in questions],
        "people": None,
        "panel": None,
    }
    return Study.read(document | changes)


PANEL, ASKED = np.array([2, 5], dtype=np.int32), np.setdiff1d(np.arange(20), [2, 5]).astype(np.int32)
RNG = np.random.default_rng(0)
SCORER = RNG.integers(-50, 50, (SCHEMA.dimension + 1, CLASSES)).astype(np.int32)
OFFERS = np.tile(np.array([0, 2, -1], dtype=np.int16), (NODES, 1))
OFFERS[3] = [1, -1, -1]  # not asked
OFFERS[4] = [0, 1, 2]
TABLE = np.where(np.arange(NODES) >= 20, np.arange(NODES) % CLASSES, -1).astype(np.int32)
RANKS = np.where(np.arange(NODES) >= 20, 0, 1).astype(np.int32)
AGAIN_TABLE = np.where(np.arange(NODES) < 5, 1, -1).astype(np.int32)
AGAIN_RANKS = np.where((np.arange(NODES) >= 5) & (np.arange(NODES) < 20), 1, 0).astype(np.int32)


def resemblance(**changes):
    """The question about features, with its tables."""
    ask = Resemblance(**{"scorer": SCORER, "offers": OFFERS, **changes})
    return Question(ask, OfferedResponse(epsilon=1.0, most=CLASSES))


def friends(kind=Friends, table=TABLE, ranks=RANKS):
    """A question about friends, with its tables."""
    return Question(kind(table=table, ranks=ranks), Counts(epsilon=1.0, classes=CLASSES, cap=8))


def friends_again(table=AGAIN_TABLE, ranks=AGAIN_RANKS):
    """The second question about friends."""
    return friends(FriendsAgain, table, ranks)


PLAN = {
    "system": "inquiry",
    "settings": {"seed": 0},
    "questions": [LABEL, FEATURES, *(each.declared() for each in (friends(), friends_again(), resemblance()))],
}


@dataclass
class Server:
    """What a collector hands out; tests change ``blobs`` and ``rows`` to make it lie."""

    blobs: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    invited: dict | None = None

    @classmethod
    def of(cls, *rounds, questions=()):
        server = cls()
        contents = [each.canonical() for each in rounds] + [blob_of(each) for each in (PANEL, ASKED)]
        contents.append(DIRECTORY.lines)
        for question in questions:
            for name in question.ask.attachments():
                array = question.ask.attachment(name)
                contents.append(blob_of(array))
                if name in question.ask.per_person():
                    server.tables[question.name, name] = array
        server.blobs = {hashlib.sha256(content).hexdigest(): content for content in contents}
        return server

    def blob(self, digest):
        return self.blobs[digest]

    def invitation(self, study_id, node=ME):
        rows = {}
        for (question, name), array in self.tables.items():
            rows.setdefault(question, {})[name] = {
                "row": array[node].tolist(),
                "salt": HashTree(array).salt(node),
                "proof": HashTree(array).proof(node),
            }
        return json.dumps({"study": study_id, "node": node, "rows": rows} | (self.invited or {})).encode()


def chain_of_three():
    """A whole chain: classes and panel; friends; resemblance. With a server that has everything."""
    first = first_round()
    second = later_round(first, friends())
    third = later_round(second, resemblance())
    return Chain((first, second, third)), Server.of(first, second, third, questions=[friends(), resemblance()])
