from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from privet.errors import InvalidParameter
from privet.evaluation.ceiling import CEILING
from privet.reporting.drawing import ON_PAGES, OURS, check_format, style, write_figure
from privet.systems import SYSTEMS
from privet.systems.local.inquiry import Inquiry


def test_formats_are_checked_before_the_work(tmp_path: Path) -> None:
    for kind in ("svg", "pdf", "png"):
        check_format(Path(f"figure.{kind}"))
    with pytest.raises(InvalidParameter, match=r"\.svg, \.pdf or \.png file"):
        write_figure(lambda figure: pytest.fail("it was drawn"), 2.0, 2.0, tmp_path / "figure.jpg")
    assert list(tmp_path.iterdir()) == []


def test_controls_of_one_figure_differ_in_colour() -> None:
    """Every registered system: its own colour and those of its controls and of the ceiling are all different."""
    for name, kind in SYSTEMS.items():
        settings = {"noise_multiplier": 1.0} if kind.model == "central" else {}
        shown = [control.key for control in (*kind(**settings).controls(), CEILING)]
        colours = [OURS, *(style(key).colour for key in shown)]
        assert len(set(colours)) == len(colours), (name, shown)


def test_a_control_has_one_colour_wherever_it_stands() -> None:
    keys = {control.key for control in Inquiry().controls()} & {"structure", "majority", "features_only"}
    assert len(keys) == 3
    assert style("a_plug_in_s_own") == style("a_plug_in_s_own")
    assert style("a_plug_in_s_own").colour in {each.light for each in ON_PAGES}


def test_colours_can_be_read_on_their_ground() -> None:
    """A contrast of 4.2 at least: on white, and the lighter ones on the page's dark ground."""
    for colour in ON_PAGES:
        assert contrast(colour.light, "#ffffff") >= 4.2, colour
        assert contrast(colour.dark, "#14171c") >= 4.5, colour
    assert all(one.light != other.light and one.dark != other.dark for one, other in combinations(ON_PAGES, 2))


def contrast(one: str, other: str) -> float:
    """The ratio of relative luminances, as WCAG defines it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
