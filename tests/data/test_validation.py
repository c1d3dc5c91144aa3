"""The checks at a graph's door: each fault is named by its place, and no private value is quoted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Categories, Interval, Schema
from privet.data.validation import check_adjacency, check_edges, check_features, check_labels, check_mask
from privet.errors import InvalidData

SECRET = 7.1234
SCHEMA = Schema((Interval(0.0, 1.0), Categories(3)), 2)


@pytest.mark.parametrize(
    ("edges", "told"),
    [
        ([[0, 1, 2]], r"shape \[2, E\]"),
        ([[0.0], [1.0]], "integers"),
        ([[0, 1], [1, 3]], r"target of edge 1 must be a node id from 0 to 2"),
        ([[0, -1], [1, 2]], r"source of edge 1 "),
    ],
)
def test_edges(edges, told):
    with pytest.raises(InvalidData, match=told):
        check_edges(edges, 3)


def test_no_edge_is_a_list_of_edges():
    assert check_edges([], 3).shape == (2, 0)


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (np.eye(2), "SciPy sparse array"),
        (sp.csr_array((2, 3)), "square"),
        (sp.csr_array(([1.0, 1.0], [1, 1], [0, 2, 2]), (2, 2)), "duplicate.*row 0, column 1"),
        (sp.csr_array([[0.0, -1.0], [-1.0, 0.0]]), "above 0.*row 0, column 1"),
        (sp.csr_array([[0.0, 1.0], [0.0, 0.0]]), "no entry mirroring row 0, column 1"),
        (sp.csr_array([[0.0, 1.0], [2.0, 0.0]]), "a different weight mirroring row 0, column 1"),
        (sp.csr_array(([1.0], [5], [0, 1, 1]), (2, 2)), "well-formed"),
    ],
)
def test_adjacency(matrix, told):
    with pytest.raises(InvalidData, match=told):
        check_adjacency(matrix, directed=False)


def test_an_adjacency_may_be_in_any_order_and_is_not_changed():
    matrix = sp.csr_array(([1.0, 2.0], [1, 0], [0, 2, 2]), (2, 2))
    found = check_adjacency(matrix, directed=True)
    assert (found.has_canonical_format, found.dtype, found.indices.tolist()) == (True, np.float32, [0, 1])
    assert matrix.indices.tolist() == [1, 0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("features", "told"),
    [
        ([[0.5, 1.0]], "a row for each of 2 nodes"),
        ([[0.5], [SECRET]], "schema's 2 columns"),
        ([[0.5, 1.0], [np.nan, 2.0]], "row 1, column 0 is not finite"),
        ([[0.5, 1.0], [SECRET, 3.0]], "row 1, column 1 is no category"),
        ([[0.5, 1.0], [SECRET, 0.5]], "codes"),
    ],
)
def test_features(form, features, told):
    with pytest.raises(InvalidData, match=told) as caught:
        check_features(form(features), 2, SCHEMA)
    assert str(SECRET) not in str(caught.value)


def test_features_outside_their_interval_pass_because_devices_clip():
    assert check_features([[9.0, 2.0], [-9.0, 0.0]], 2, SCHEMA).dtype == np.float32
    with pytest.raises(InvalidData, match="numbers"):
        check_features([["a", "b"], ["c", "d"]], 2, SCHEMA)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([0, 1], "each of 3 nodes"),
        ([0.0, 1.0, 1.0], "integers"),
        ([0, 2, 1], "label of node 1"),
        ([0, 1, -2], "node 2"),
    ],
)
def test_labels(labels, told):
    with pytest.raises(InvalidData, match=told):
        check_labels(labels, 3, SCHEMA)


def test_good_labels_and_masks():
    assert check_labels([-1, 0, 1], 3, SCHEMA).dtype == np.int64
    assert check_labels([7, 0, 1], 3, None).tolist() == [7, 0, 1]
    assert check_mask([True, False], "train", 2).tolist() == [True, False]
    with pytest.raises(InvalidData, match=r"train mask .*booleans"):
        check_mask([1, 0], "train")
    with pytest.raises(InvalidData, match=r"test mask .*each of 3 nodes"):
        check_mask([True, False], "test", 3)
