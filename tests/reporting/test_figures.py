from __future__ import annotations

from pathlib import Path

import pytest

from privet.data import Graph
from privet.evaluation import sweep
from privet.reporting.figures import accuracy_figure, deciding, tradeoff_figure
from privet.systems import LPGNN


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_curve_repeats_and_says_what_its_intervals_are(seeds: int, graph: Graph, tmp_path: Path) -> None:
    curve = sweep(LPGNN(hops=1, max_epochs=3), graph, (0.5, 2.0), seeds=seeds, dataset="tiny")
    for name in ("one", "two"):
        tradeoff_figure(curve.points, "curve").write(tmp_path / f"{name}.svg")
    drawn = (tmp_path / "one.svg").read_text()
    assert drawn == (tmp_path / "two.svg").read_text()
    assert ("one seed, no intervals" in drawn) == (seeds == 1)
    assert "lpgnn on tiny" in drawn
    point = curve.points[0]
    asking = {key: figures.mean for key, figures in point.controls.items() if figures.question}
    assert asking[deciding(point)] == max(asking.values())  # the strongest control without private data
    assert set(asking) == {"structure_only", "structure"}
    accuracy_figure(point, "accuracy").write(tmp_path / "accuracy.pdf")
    assert (tmp_path / "accuracy.pdf").stat().st_size > 1000
