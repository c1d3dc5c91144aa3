from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from some_results import limits, some_result

from privet.data import Graph
from privet.evaluation import sweep
from privet.reporting.curves import tradeoff_figure
from privet.reporting.drawing import style
from privet.reporting.figures import accuracy_figure, deciding
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
    assert set(asking) == {"structure_only", "structure", "label_propagation", "majority"}
    accuracy_figure(point, "accuracy").write(tmp_path / "accuracy.pdf")
    assert (tmp_path / "accuracy.pdf").stat().st_size > 1000


def test_axes_stay_within_what_is_possible() -> None:
    """The intervals reach from below 0 to beyond 100; the axis does not."""
    wild = [some_result(epsilon, values=(5.0, 95.0, 60.0)) for epsilon in (1.0, 4.0)]
    assert limits(tradeoff_figure(wild, "curve"), "y") == (0, 100)
    assert limits(accuracy_figure(wild[0], "accuracy"), "x") == (0, 100)
    close = [some_result(epsilon, values=(80.0, 80.4, 80.2)) for epsilon in (1.0, 4.0)]
    low, high = limits(tradeoff_figure(close, "curve"), "y")
    assert 75 < low < 80 < high < 85  # what differs little can still be seen
    other = [replace(each, metric="error") for each in wild]
    assert limits(tradeoff_figure(other, "curve"), "y")[0] < 0  # a metric without a known range


def test_two_seeds_are_dots_and_have_no_intervals() -> None:
    """Student's interval of 80 and 86 is 45 to 121: it would squeeze everything else."""
    figure = tradeoff_figure([some_result(epsilon, values=(80.0, 86.0)) for epsilon in (1.0, 4.0)], "curve")
    low, high = limits(figure, "y")
    assert 79 < low < 80 < 86 < high < 87
    assert "2 seeds, each a dot" in figure.inline("f")


def test_a_control_has_the_same_colour_in_every_figure() -> None:
    result = some_result(1.0, values=(80.0, 81.0, 82.0))
    colour = style("structure").colour
    for figure in (accuracy_figure(result, "a"), tradeoff_figure([result, some_result(2.0)], "t")):
        drawn = figure.inline("f")
        assert "var(--orange)" in drawn
        assert colour not in drawn
