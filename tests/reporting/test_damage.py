from __future__ import annotations

from pathlib import Path

from privet.evaluation.damage import Damage, DamageCurve
from privet.evaluation.results import Figures
from privet.reporting.damage import damage_figure


def test_only_what_was_measured_is_drawn(tmp_path: Path) -> None:
    points = tuple(Damage(share, Figures((80.0, 81.0)), Figures((70.0, 75.0))) for share in (0.01, 0.1))
    names = {"system": "lpgnn", "dataset": "cora", "goal": "accuracy", "kind": "report", "metric": "accuracy (%)"}
    figure = damage_figure(DamageCurve(**names, points=points, seeds=(0, 1)), "damage")
    figure.write(tmp_path / "damage.svg")
    drawn = (tmp_path / "damage.svg").read_text()
    assert "liars" in drawn
    assert "random reports" not in drawn
    assert "people who lie (%)" in drawn
