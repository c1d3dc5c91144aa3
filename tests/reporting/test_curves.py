from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from some_results import limits, some_result

from privet.evaluation.damage import Damage, DamageCurve
from privet.evaluation.results import Figures
from privet.privacy import Guarantee, Unit
from privet.reporting.curves import damage_figure, shared_controls, systems_figure
from privet.reporting.report import build_report

LPGNN = [some_result(epsilon) for epsilon in (0.5, 4.0)]
INQUIRY = replace(some_result(1.0, values=(90.0, 91.0, 92.0)), system="inquiry")


def test_several_systems_share_one_figure_and_their_common_controls() -> None:
    shared = Figures((30.0, 31.0, 32.0), "most", "the most frequent class")
    results = [replace(each, controls={**each.controls, "majority": shared}) for each in (*LPGNN, INQUIRY)]
    assert list(shared_controls(results)) == ["majority"]  # the structure's figures differ
    figure = systems_figure(results, "systems")
    words = figure.inline("f")
    for told in ("lpgnn", "inquiry", "most is below: 31", "feature vector", "3 seeds"):
        assert told in words, told
    low, high = limits(figure, "y")
    assert 0 <= low < high <= 100


def test_units_that_differ_are_named() -> None:
    central = replace(INQUIRY, system="gap", guarantee=Guarantee.local(Unit.LABEL, 2.0))
    words = systems_figure([*LPGNN, central], "systems").inline("f")
    assert "of the unit in the legend" in words
    assert "gap (label, local)" in words


def test_a_report_draws_systems_together_only_where_there_are_several() -> None:
    page, figures = build_report([*LPGNN, INQUIRY])
    assert "Several systems on village" in page
    assert any(each.name.startswith("systems-") for each in figures)
    alone, figures = build_report(LPGNN)
    assert "Several systems" not in alone
    assert not any(each.name.startswith("systems-") for each in figures)


def test_only_what_was_measured_is_drawn(tmp_path: Path) -> None:
    points = tuple(Damage(share, Figures((80.0, 81.0)), Figures((70.0, 75.0))) for share in (0.01, 0.1))
    names = {"system": "lpgnn", "dataset": "cora", "goal": "accuracy", "kind": "report", "metric": "accuracy (%)"}
    figure = damage_figure(DamageCurve(**names, points=points, seeds=(0, 1)), "damage")
    figure.write(tmp_path / "damage.svg")
    drawn = (tmp_path / "damage.svg").read_text()
    assert "liars" in drawn
    assert "random reports" not in drawn
    assert "people who lie (%)" in drawn
