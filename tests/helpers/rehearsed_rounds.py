"""Studies in rounds for tests of the operator's side: classes and a panel first, then a question about features."""

from datetime import UTC, datetime, timedelta

import numpy as np

from privet.collection.operator.declaration import declare
from privet.collection.operator.folder import StudyFolder
from privet.collection.study.manifest import Study
from privet.data import social_graph
from privet.mechanisms import OfferedResponse
from privet.release import Question
from privet.release.asks.resemblance import Resemblance
from privet.release.blobs import array_digest, blob_of

NODES, CLASSES, DIMENSION = 200, 4, 8
PANEL = np.arange(0, NODES, 5)
ASKED = np.setdiff1d(np.arange(120), PANEL)  # for their class


def people():
    """The people with their private data."""
    return social_graph(NODES, classes=CLASSES, features=DIMENSION, seed=0)


def first_round(path, graph, days=(-2, 9), **changes):
    """The directory of a study whose first round asks 96 people for their class and 40 to show everything."""
    from privet.systems.local.inquiry import Inquiry

    now = datetime.now(UTC)
    opens, closes = ((now + timedelta(days=each)).isoformat() for each in days)
    document = {
        "title": "Habits and friends",
        "purpose": "To be tested.",
        "operator": "privet developers",
        "eligible": "Simulated people.",
        "nodes": NODES,
        "delete_after": 90,
        "opens": opens,
        "closes": closes,
    }
    system = Inquiry(epsilon_features=2.0, epsilon_labels=2.0, panel=0.2, seed=0)
    made = declare(document | changes, graph.schema, system, graph=graph, panel=PANEL, people=ASKED)
    return StudyFolder.create(path, made.study, public=made.public, asks=made.asks)


def offers():
    """Offers to people of whom 50 choose among two classes and 30 among three."""
    table = np.full((NODES, CLASSES), -1, dtype=np.int16)
    others = np.setdiff1d(np.arange(NODES), PANEL)
    table[others[:50], :2] = [0, 2]
    table[others[50:80], :3] = [0, 1, 3]
    return table


def add_second_round(store):
    """Open a second round with made-up tables, and return its store; the first one is closed."""
    first = store.study
    scorer = np.ones((DIMENSION + 1, CLASSES), dtype=np.int32)
    question = Question(Resemblance(scorer=scorer, offers=offers()), OfferedResponse(epsilon=2.0, most=CLASSES))
    whom = question.ask.people().astype(np.int32)
    document = first.model_dump(mode="json", by_alias=True) | {
        "earlier": [first.id],
        "release": [question.to_dict()],
        "people": array_digest(whom),
        "panel": None,
    }
    store.close()
    store.publish_asks(question.ask)
    store.publish(blob_of(whom))
    return store.at(Study.read(document))
