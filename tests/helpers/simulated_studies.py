"""Studies, answers and collectors that several tests share."""

import base64
import os
import secrets

import numpy as np
import pytest
import scipy.sparse as sp
from commands import run_privet

from privet.collection.study.manifest import Study
from privet.data import Schema
from privet.mechanisms import SeededBits
from privet.release import PrivateData


def asked(features, labels=None, neighbours=None):
    """The questions of a study as its manifest writes them."""
    release = [{"ask": "features", **features}]
    release += [] if labels is None else [{"ask": "label", "mechanism": "randomized-response", **labels}]
    if neighbours is not None:
        release.append({"ask": "neighbours", "mechanism": "adjacency-response", "one_sided": True, **neighbours})
    return release


def make_study(**changes):
    """A small study with labels; every call has another title, so that stores can be shared.

    ``features``, ``labels`` and ``neighbours`` are the parameters of these questions.
    """
    questions = {"features": {"mechanism": "multi-bit", "epsilon": 1.0}, "labels": {"epsilon": 1.0}}
    questions |= {name: changes.pop(name) for name in ("features", "labels", "neighbours") if name in changes}
    values = {
        "title": f"Test {secrets.token_hex(4)}",
        "purpose": "To be tested.",
        "operator": "privet developers",
        "eligible": "Simulated people.",
        "nodes": 500,
        "schema": Schema.numeric(6, low=0.0, high=10.0, classes=3),
        "release": asked(**questions),
        "opens": "2020-01-01T00:00:00Z",
        "closes": "2029-12-31T00:00:00Z",
    }
    return Study.read(values | changes)


def two_rounds(**changes):
    """The manifests of a study whose first round asks for the class, and whose second one for features."""
    label, features = ({"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0},
                       {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0})  # fmt: skip
    first = make_study(release=[label], **changes)
    kept = {"title": first.title, "release": [features], "earlier": [first.id]}
    return first, make_study(**{**changes, **kept})


def simulated(study, seed, count=5):
    """The answers of some people with random private data."""
    rng = np.random.default_rng(seed)
    nodes = np.sort(rng.choice(study.nodes, count, replace=False))
    others = sp.random_array((count, study.nodes), density=0.01, rng=rng).tolil()
    others[np.arange(count), nodes] = 0
    features = rng.integers(0, 2, (count, study.declared.dimension))
    labels = rng.integers(0, max(study.declared.classes, 1), count)
    private = PrivateData(nodes, features, labels, sp.csr_array((others.tocsr() > 0).astype(float)))
    return study.release.perturb(private, SeededBits(seed))


# Where reports are kept; PostgreSQL is not part of `make test`.
STORES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.journey)]


def store_place(kind, directory):
    """A file, or the URL of the PostgreSQL that ``PRIVET_POSTGRES`` names."""
    if kind == "sqlite":
        return directory / "reports.sqlite"
    if not os.environ.get("PRIVET_POSTGRES"):
        pytest.skip("PRIVET_POSTGRES names no database")
    return os.environ["PRIVET_POSTGRES"]


PACKED, BATCH = "application/vnd.privet.report", "application/vnd.privet.batch"


class Service:
    """A collector in memory and the requests that tests make of it; ``client`` is set by whoever opens one."""

    def __init__(self, study, store, private_metrics=False, **limits):
        from privet.collection.downloads import DOWNLOADS
        from privet.collection.server.http.app import Limits, create_app
        from privet.collection.study.tokens import Tokens, new_key

        self.study, self.store = study, store
        self.tokens, self.key = Tokens(study, new_key()), secrets.token_hex(8)
        limited = Limits(**{"rate": 0.0, **limits})
        self.app = create_app(
            store, self.tokens, self.key, limited, private_metrics=private_metrics, downloads=DOWNLOADS
        )
        answers = simulated(study, 0, count=200)
        self.bodies = dict(zip(answers.users.tolist(), study.release.wire.pack(answers), strict=True))
        self.nodes = sorted(self.bodies)

    def headers(self, node, kind=PACKED):
        return {"Authorization": f"Bearer {self.tokens.issue(node)}", "Content-Type": kind}

    def send(self, node, body=None):
        content = bytes.fromhex(self.study.id) + (self.bodies[node] if body is None else body)
        return self.client.post("/reports", content=content, headers=self.headers(node))

    def batch(self, nodes, bodies=None, tokens=None, study=None):
        from privet.collection.server.http.intake import pack_batch

        tokens = tokens or [base64.urlsafe_b64decode(self.tokens.issue(node)) for node in nodes]
        content = pack_batch(study or self.study.id, tokens, bodies or [self.bodies[node] for node in nodes])
        return self.client.post("/reports/batch", content=content, headers={"Content-Type": BATCH})


def privet(*arguments, home, status=0, given=None):
    """Run a command as its user does: its output, or what it says on its way to another exit status than 0."""
    result = run_privet(*arguments, given=given or "", environment={"XDG_DATA_HOME": str(home), "COLUMNS": "200"})
    assert result.returncode == status, result.stderr + result.stdout
    return result.stdout if not status else result.stderr


def declaration(home):
    """The file of a small study, which lies in ``home``."""
    (home / "habits.toml").write_text(HABITS)
    return home / "habits.toml"


HABITS = """
title = "Habits"
purpose = "To be tested."
operator = { name = "privet developers", contact = "at home" }
people = { nodes = 20 }
questions = [
    { ask = "Hours of sleep", low = 0, high = 10 },
    { ask = "Cups of coffee", low = 0, high = 10 },
    { ask = "Kilometres on foot", low = 0, high = 10 },
    { ask = "Books in a month", low = 0, high = 10 },
]
class = { answers = ["lark", "owl"] }
budgets = { features = 1, labels = 1 }
"""
