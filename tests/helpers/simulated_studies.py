"""Studies, answers and collectors that several tests share."""

import os
import secrets

import numpy as np
import pytest
import scipy.sparse as sp

from privet.collection.answers import Answers
from privet.collection.study import Study
from privet.data import Schema
from privet.mechanisms import SeededBits


def make_study(**changes):
    """A small study with labels; every call has another title, so that stores can be shared."""
    values = {
        "title": f"Test {secrets.token_hex(4)}",
        "purpose": "To be tested.",
        "operator": "privet developers",
        "eligible": "Simulated people.",
        "nodes": 500,
        "schema": Schema.numeric(6, low=0.0, high=10.0, classes=3),
        "features": {"mechanism": "multi-bit", "epsilon": 1.0},
        "labels": {"epsilon": 1.0},
        "opens": "2020-01-01T00:00:00Z",
        "closes": "2029-12-31T00:00:00Z",
    }
    return Study.read(values | changes)


def simulated(study, seed, count=5):
    bits, rng = SeededBits(seed), np.random.default_rng(seed)
    nodes = rng.choice(study.nodes, count, replace=False)
    features = study.feature_mechanism.perturb(rng.integers(0, 2, (count, study.declared.dimension)), bits)
    labels = lists = None
    if study.label_mechanism is not None:
        labels = study.label_mechanism.perturb(rng.integers(0, study.declared.classes, count), bits)
    if study.neighbour_mechanism is not None:
        others = sp.random_array((count, study.nodes), density=0.01, rng=rng).tolil()
        others[np.arange(count), nodes] = 0
        lists = study.neighbour_mechanism.perturb((others.tocsr() > 0).astype(float), bits, users=nodes)
    return Answers(nodes, features, labels, lists)


def store_place(kind, directory):
    """A file, or the URL of the PostgreSQL that ``PRIVET_POSTGRES`` names."""
    if kind == "sqlite":
        return directory / "reports.sqlite"
    if not os.environ.get("PRIVET_POSTGRES"):
        pytest.skip("PRIVET_POSTGRES names no database")
    return os.environ["PRIVET_POSTGRES"]
