from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from privet.evaluation import Figures, Result
from privet.privacy import Guarantee, Unit
from privet.reporting.figures import asked_figure, certified_figure, shares_asked
from privet.reporting.report import build_report

FACTS = {
    "asked": 0.6, "panel": 0.1, "pilot": 0.05, "asked_2": 0.2, "asked_5": 0.1, "asked_7": 0.05, "counted_once": 0.3,
    "counted_twice": 0.2, "labels": 0.5, "calibrators": 0.1, "weight_prior": 1.0,
}  # fmt: skip
RESULT = Result(
    system="inquiry", dataset="village", task="t", metric="accuracy (%)", settings={}, seeds=(0, 1),
    figures=Figures((80.0, 81.0)), controls={}, guarantee=Guarantee.local(Unit.FEATURES, 1.0), facts=FACTS,
)  # fmt: skip


def test_every_bar_is_everybody() -> None:
    rows = shares_asked(FACTS)
    assert list(rows) == ["class", "friends", "features"]
    assert all(sum(parts.values()) == pytest.approx(1) for parts in rows.values())
    assert rows["features"]["5 or more"] == pytest.approx(0.15)
    assert rows["features"]["not asked"] == pytest.approx(0.5)
    assert shares_asked({"asked": 0.0}) == {}


def test_the_figure_names_every_group_and_its_share(tmp_path: Path) -> None:
    figure = asked_figure(RESULT, "asked")
    assert figure is not None
    figure.write(tmp_path / "asked.svg")
    drawn = (tmp_path / "asked.svg").read_text()
    for words in ("features: panel (10%)", "features: 2 options (20%)", "friends: counts twice (20%)", "not asked"):
        assert words in drawn
    assert "class: reports it 50%, not asked 50%" in figure.title


def test_the_page_has_the_figure_where_the_system_chooses_whom_to_ask() -> None:
    page, figures = build_report([RESULT])
    assert "Who is asked what" in page
    assert "60 % of people answered" in page
    assert [each.name for each in figures][-1] == "asked-1-inquiry-village"
    other, _ = build_report([replace(RESULT, facts={})])
    assert "Who is asked what" not in other
    assert asked_figure(replace(RESULT, facts={}), "asked") is None


STANDING = {"withstands_1": 0.9, "withstands_2": 0.8, "certified_accuracy_1": 0.7, "certified_accuracy_2": 0.65}
CERTIFIED = Result(
    system="inquiry", dataset="village", task="t", metric="accuracy (%)", settings={}, seeds=(0, 1),
    figures=Figures((80.0, 81.0)), controls={}, guarantee=Guarantee.local(Unit.FEATURES, 1.0), facts=STANDING,
)  # fmt: skip


def test_the_figure_has_both_curves(tmp_path: Path) -> None:
    figure = certified_figure(CERTIFIED, "certified")
    assert figure is not None
    figure.write(tmp_path / "certified.svg")
    drawn = (tmp_path / "certified.svg").read_text()
    assert "stand and are right (test nodes)" in drawn
    assert "90.0% against 1, 80.0% against 2" in figure.title


def test_the_page_has_the_figure_where_predictions_are_certified() -> None:
    page, figures = build_report([CERTIFIED])
    assert "Against liars" in page
    assert "certified-1-inquiry-village" in [each.name for each in figures]
    other, _ = build_report([replace(CERTIFIED, facts={})])
    assert "Against liars" not in other
