from __future__ import annotations

import pytest

from privet.cli.render.measurements import print_damage
from privet.evaluation.damage import Damage, DamageCurve
from privet.evaluation.results import Figures


def test_cost_and_gain_of_defences_are_told(capsys: pytest.CaptureFixture) -> None:
    point = Damage(
        0.05,
        Figures((80.0, 82.0)),
        Figures((70.0, 72.0)),
        Figures((79.0, 81.0)),
        Figures((79.5, 81.5)),
        Figures((76.0, 78.0)),
    )
    names = {"system": "solitude", "dataset": "cora", "goal": "accuracy", "kind": "report", "metric": "accuracy"}
    print_damage(DamageCurve(**names, points=(point,), seeds=(0, 1), defence=("bound",)))
    printed = " ".join(capsys.readouterr().out.split())
    assert "bound cost 0.5 points if nobody lies and give back 60% of the loss" in printed
    assert "95% confidence interval" in printed
