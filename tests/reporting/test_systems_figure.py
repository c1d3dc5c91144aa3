from __future__ import annotations

from dataclasses import replace

from some_results import limits, some_result

from privet.evaluation import Figures
from privet.privacy import Guarantee, Unit
from privet.reporting.report import build_report
from privet.reporting.systems_figure import shared_controls, systems_figure

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
