from __future__ import annotations

import pytest

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.reproduction.figures.links import LINKS, measure_links
from privet.systems import LPGNN, PrivGE

SYSTEM = PrivGE(epsilon_features=4.0, max_epochs=5, hidden_channels=8)


@pytest.mark.parametrize("column", LINKS.columns(SYSTEM), ids=lambda column: column.key)
def test_every_column_is_measured_and_repeats(column, graph: Graph) -> None:
    one, two = (column.measure(column.subject(SYSTEM), graph.replace(split=None), 1) for _ in range(2))
    assert 0.3 < one <= 1
    assert one == two


def test_other_systems_do_not_predict_links(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="PrivGE"):
        measure_links("private", LPGNN(), graph, seed=0)
