from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from privet.evaluation import Figures, Result
from privet.privacy import Guarantee, Unit
from privet.reporting.certified import certified_figure
from privet.reporting.report import build_report

FACTS = {"withstands_1": 0.9, "withstands_2": 0.8, "certified_accuracy_1": 0.7, "certified_accuracy_2": 0.65}
RESULT = Result(
    system="inquiry", dataset="village", task="t", metric="accuracy (%)", settings={}, seeds=(0, 1),
    figures=Figures((80.0, 81.0)), controls={}, guarantee=Guarantee.local(Unit.FEATURES, 1.0), facts=FACTS,
)  # fmt: skip


def test_the_figure_has_both_curves(tmp_path: Path) -> None:
    figure = certified_figure(RESULT, "certified")
    assert figure is not None
    figure.write(tmp_path / "certified.svg")
    drawn = (tmp_path / "certified.svg").read_text()
    assert "stand and are right (test nodes)" in drawn
    assert "90.0% against 1, 80.0% against 2" in figure.title


def test_the_page_has_the_figure_where_predictions_are_certified() -> None:
    page, figures = build_report([RESULT])
    assert "Against liars" in page
    assert "certified-1-inquiry-village" in [each.name for each in figures]
    other, _ = build_report([replace(RESULT, facts={})])
    assert "Against liars" not in other
