from __future__ import annotations

import pytest

from privet.cli.render.measurements import print_result
from privet.data import Graph
from privet.evaluation import evaluate
from privet.systems import LPGNN, Solitude


def test_figures_controls_verdict_and_guarantee_are_printed(graph: Graph, capsys: pytest.CaptureFixture) -> None:
    print_result(evaluate(LPGNN(hops=1, max_epochs=3), graph, 2))
    printed = " ".join(capsys.readouterr().out.split())
    assert "label propagation" in printed
    assert "the private data" in printed.lower()
    assert "…" not in printed
    assert "true epsilon at most 1" in printed
    assert "one seed" not in printed


def test_one_seed_and_noise_are_said(graph: Graph, capsys: pytest.CaptureFixture) -> None:
    print_result(evaluate(Solitude(epsilon_edges=5.0, max_epochs=2), graph, 1, controls=False))
    printed = " ".join(capsys.readouterr().out.split())
    assert "reported edges about" in printed
    assert "one seed" in printed
