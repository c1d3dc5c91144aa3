from __future__ import annotations

from pathlib import Path

import pytest

from privet.errors import InvalidData
from privet.evaluation.damage import Damage, DamageCurve
from privet.evaluation.results import Figures


def curve() -> DamageCurve:
    point = Damage(
        0.05,
        honest=Figures((80.0, 82.0)),
        attacked=Figures((70.0, 72.0)),
        defended_honest=Figures((79.5, 81.5)),
        defended=Figures((76.0, 78.0)),
    )
    return DamageCurve(
        system="solitude", dataset="cora", goal="accuracy", kind="report", metric="accuracy", points=(point,),
        defence=("bound",),
    )  # fmt: skip


def test_loss_cost_and_what_is_regained() -> None:
    point = curve().points[0]
    assert (point.loss, point.cost, point.regained) == (10.0, 0.5, 0.6)
    bare = Damage(0.05, Figures((80.0,)), Figures((80.0,)))
    assert (bare.loss, bare.cost, bare.regained) == (0.0, None, None)


def test_files_and_frames(tmp_path: Path) -> None:
    whole = curve()
    whole.save(tmp_path / "damage.json")
    assert DamageCurve.load(tmp_path / "damage.json") == whole
    assert whole.rows()[0]["loss"] == 10.0
    assert "5%: 10" in repr(whole)


@pytest.mark.parametrize("wrong", [{}, [], {"system": "x"}])
def test_other_documents_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidData, match="privet attack"):
        DamageCurve.from_dict(wrong)
    broken = curve().to_dict() | {"damage": [{}]}
    with pytest.raises(InvalidData, match="cannot be read as a result of privet attack"):
        DamageCurve.from_dict(broken)
