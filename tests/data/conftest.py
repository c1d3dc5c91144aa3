"""Random graphs for property tests, and the directory of the published ones."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from privet.data import Graph, Schema, Split


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Small undirected graphs with a schema, with or without features (sparse or dense), labels and a split."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes, columns, classes = draw(st.integers(0, 9)), draw(st.integers(0, 4)), draw(st.integers(2, 4))
    density = draw(st.sampled_from([0.0, 0.3, 1.0]))
    pairs = np.triu(rng.random((nodes, nodes)) < density, k=1)
    features = None
    if columns:
        features = rng.normal(size=(nodes, columns)).astype(np.float32)
        features *= rng.random((nodes, columns)) < draw(st.sampled_from([0.1, 1.0]))
        features = sp.csr_array(features) if draw(st.booleans()) else features
    return Graph.from_edges(
        np.array(np.nonzero(pairs)),
        nodes,
        features=features,
        labels=draw(st.none() | st.just(rng.integers(-1, classes, nodes))),
        split=draw(st.none() | st.just(Split(*(rng.integers(4, size=nodes) == np.arange(3)[:, None])))),
        schema=Schema.numeric(columns, -6.1, 6.3, classes=classes, private_edges=draw(st.booleans())),
    )


st.register_type_strategy(Graph, graphs())


@pytest.fixture(scope="session")
def data_root() -> Path:
    root = Path(os.environ.get("PRIVET_DATA", ""))
    if not os.environ.get("PRIVET_DATA") or not root.is_dir():
        pytest.skip("the published datasets are not here: set PRIVET_DATA to their directory")
    return root
