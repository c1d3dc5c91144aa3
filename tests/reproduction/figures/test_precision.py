from __future__ import annotations

import math

import numpy as np
import pytest

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.reproduction.figures.precision import BOUND, embedding_bound, macro_precision
from privet.reproduction.papers.heterpoisson import PRECISION
from privet.systems import HeterPoisson

QUICK = HeterPoisson(target_epsilon=4.0, batch_size=40, epochs=1.0, hidden_channels=8, multiplier=0.0)


def test_precision_is_the_mean_over_classes() -> None:
    predicted, labels = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 1, 2])
    assert macro_precision(predicted, labels, 3) == pytest.approx((2 / 4 + 1 + 1) / 3)
    assert macro_precision(predicted, labels, 4) == pytest.approx((2 / 4 + 1 + 1) / 4)  # class 3 is never predicted


def test_theorem_3_gives_the_papers_printed_bounds() -> None:
    assert round(100 * embedding_bound(2.0, 13_752**-1.1, 10), 1) == 45.1  # amazon
    assert round(100 * embedding_bound(2.0, 19_717**-1.1, 3), 1) == 78.7  # pubmed
    assert embedding_bound(0.0, 0.0, 4) == 0.25


@pytest.mark.parametrize("column", PRECISION.columns(QUICK), ids=lambda column: column.key)
def test_every_column_has_a_precision(column, graph: Graph) -> None:
    found = column.measure(column.subject(QUICK), graph.replace(split=None), 1)
    assert 0 < found <= 1
    if column is BOUND:
        assert found == pytest.approx(math.exp(4) / (2 + math.exp(4)), abs=1e-2)


def test_the_bound_needs_an_epsilon(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="target epsilon"):
        BOUND.measure(HeterPoisson(noise_multiplier=1.0), graph, seed=0)
