"""The cost model's choices at its extremes, and its estimate of fill against a real product."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.errors import InvalidParameter
from privet.graph import Plan, plan
from privet.graph.plan import _filled

FACEBOOK = {"num_nodes": 22_470, "nnz_features": 22_470, "dimension": 4_714, "nnz_operator": 341_646}


def test_sparse_wide_reports_stay_lazy() -> None:
    chosen = plan(**FACEBOOK, hidden=16, hops=4, epochs=500)
    assert chosen.choice == "lazy"
    assert chosen.lazy_seconds < chosen.eager_seconds / 5
    assert chosen.lazy_bytes < chosen.eager_bytes / 100


def test_narrow_features_are_propagated_once() -> None:
    chosen = plan(num_nodes=10_000, nnz_features=80_000, dimension=8, hidden=64, hops=4, nnz_operator=10**6, epochs=100)
    assert (chosen.choice, chosen.dense) == ("eager", True)


def test_many_epochs_of_a_wide_layer_over_a_dense_graph_are_propagated_once() -> None:
    few = plan(num_nodes=10**4, nnz_features=10**7, dimension=1000, hidden=256, hops=16, nnz_operator=10**7, epochs=1)
    many = plan(num_nodes=10**4, nnz_features=10**7, dimension=1000, hidden=256, hops=16, nnz_operator=10**7, epochs=99)
    assert (few.choice, many.choice) == ("lazy", "eager")


def test_a_sparse_result_is_kept_sparse() -> None:
    chosen = plan(
        num_nodes=10**5, nnz_features=10**5, dimension=10**5, hidden=64, hops=1, nnz_operator=10**5, epochs=10**4
    )
    assert (chosen.choice, chosen.dense) == ("eager", False)


def test_no_hops_cost_nothing_extra() -> None:
    chosen = plan(**FACEBOOK, hidden=16, hops=0, epochs=10)
    assert chosen.choice == "lazy"
    assert chosen.lazy_seconds == chosen.eager_seconds


def test_dense_features_are_priced_as_dense() -> None:
    chosen = plan(num_nodes=1000, nnz_features=10**6, dimension=1000, hidden=64, hops=0, nnz_operator=10**4, epochs=1)
    assert chosen.lazy_seconds == chosen.eager_seconds


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_fill_is_estimated_within_a_quarter(hops: int) -> None:
    rng = np.random.default_rng(0)
    nodes, columns = 2000, 3000
    operator = sp.random_array((nodes, nodes), density=8 / nodes, rng=rng, format="csr")
    features = sp.random_array((nodes, columns), density=2 / columns, rng=rng, format="csr")
    product = features
    for _ in range(hops):
        product = operator @ product
    estimate = _filled(hops, nodes, features.nnz, nodes * columns, operator.nnz)
    assert estimate == pytest.approx(product.nnz, rel=0.25)


def test_empty_sizes_and_negative_sizes() -> None:
    assert isinstance(plan(0, 0, 0, 0, 0, 0, 0), Plan)
    with pytest.raises(InvalidParameter, match="hops"):
        plan(1, 1, 1, 1, -1, 1, 1)
