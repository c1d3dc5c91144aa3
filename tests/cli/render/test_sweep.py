from __future__ import annotations

import pytest

from privet.cli.render.measurements import print_sweep
from privet.data import Graph
from privet.evaluation import sweep
from privet.systems import LPGNN


def test_intervals_are_shown_where_there_are_several_seeds(graph: Graph, capsys: pytest.CaptureFixture) -> None:
    system = LPGNN(hops=1, max_epochs=3)
    print_sweep(sweep(system, graph, (0.5, 2.0), seeds=2))
    printed = capsys.readouterr().out
    assert "95% confidence interval" in printed
    assert "no info" in printed
    print_sweep(sweep(system, graph, (0.5,), seeds=1))
    printed = capsys.readouterr().out
    assert "One seed" in printed
    assert "+-" not in printed
