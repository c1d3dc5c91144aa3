"""Studies, answers and collectors that several tests share."""

import os
import secrets

import numpy as np
import pytest
import scipy.sparse as sp

from privet.collection.study import Study
from privet.data import Schema
from privet.mechanisms import SeededBits
from privet.release import PrivateData


def asked(features, labels=None, neighbours=None):
    """The questions of a study as its manifest writes them."""
    release = [{"ask": "features", **features}]
    release += [] if labels is None else [{"ask": "label", "mechanism": "randomized-response", **labels}]
    release += [] if neighbours is None else [{"ask": "neighbours", "mechanism": "adjacency-response", **neighbours}]
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


def simulated(study, seed, count=5):
    """The answers of some people with random private data."""
    rng = np.random.default_rng(seed)
    nodes = rng.choice(study.nodes, count, replace=False)
    others = sp.random_array((count, study.nodes), density=0.01, rng=rng).tolil()
    others[np.arange(count), nodes] = 0
    features = rng.integers(0, 2, (count, study.declared.dimension))
    labels = rng.integers(0, max(study.declared.classes, 1), count)
    private = PrivateData(nodes, features, labels, sp.csr_array((others.tocsr() > 0).astype(float)))
    return study.release.perturb(private, SeededBits(seed))


def store_place(kind, directory):
    """A file, or the URL of the PostgreSQL that ``PRIVET_POSTGRES`` names."""
    if kind == "sqlite":
        return directory / "reports.sqlite"
    if not os.environ.get("PRIVET_POSTGRES"):
        pytest.skip("PRIVET_POSTGRES names no database")
    return os.environ["PRIVET_POSTGRES"]
