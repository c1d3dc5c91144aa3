from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from privet.errors import InvalidData, InvalidParameter
from privet.evaluation import Figures
from privet.reporting import table_plot as plots
from privet.reporting.table_plot import plot_table
from privet.reproduction.measured import Table, TableCell


def row(panel: str, at: float | None, ours: float, control: float, paper: float | None = 80.0, **more) -> TableCell:
    controls = {"structure_only": Figures((control,), "no info", "structure only")}
    place = {"series": "", "tick": ""} | more
    return TableCell(panel, "x", paper, None, panel, at=at, measured=Figures((ours,)), controls=controls, **place)


def table(*cells: TableCell) -> Table:
    return Table(
        name="t", title="A table", statement="", remark="", task="nodes", metric="accuracy (%)", axis="epsilon",
        seeds=1, quick=False, percent=True, cells=cells, version="0.1.0",
    )  # fmt: skip


ROWS = (
    row("cora", 0.1, 80.0, 79.0),
    row("cora", 2.0, 84.0, 20.0, None),
    row("pubmed", 1.0, 70.0, 10.0),
    replace(row("lastfm", 1.0, 0.0, 0.0), measured=None),
)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_every_format_is_written_and_repeats(kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
    for path in paths:
        plot_table(table(*ROWS), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size > 1000
    assert len(list(tmp_path.iterdir())) == 2


def test_the_drawing_says_what_it_shows(tmp_path: Path) -> None:
    plot_table(table(*ROWS), tmp_path / "t.svg")
    text = (tmp_path / "t.svg").read_text()
    for words in ("A table", "cora", "pubmed", "privet", "paper", "accuracy (%)", "epsilon", "no info below: 10"):
        assert words in text
    assert "lastfm" not in text


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"\.svg, \.pdf or \.png file"):
        plot_table(table(*ROWS), tmp_path / "t.jpg")
    with pytest.raises(InvalidData, match="place on an axis"):
        plot_table(table(replace(ROWS[0], at=None)), tmp_path / "t.svg")
    assert list(tmp_path.iterdir()) == []


def test_every_series_is_a_line_and_places_may_have_names(tmp_path: Path) -> None:
    cells = [
        row("cora", at, 80.0 + at, 79.0, series=series, tick=tick)
        for series in ("first line", "second line")
        for at, tick in ((0, "whole"), (1, "half"))
    ]
    plot_table(table(*cells), tmp_path / "t.svg")
    text = (tmp_path / "t.svg").read_text()
    for words in ("first line", "second line", "whole", "half"):
        assert words in text
    assert "privet" not in text.split("</metadata>")[1]


def test_a_series_has_its_own_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = Figure()

    monkeypatch.setattr(plots, "write_figure", lambda draw, *_: draw(figure))
    cells = [row("cora", at, 80.0, 79.0, series=series) for series, at in (("a", 1), ("a", 2), ("b", 3))]
    plot_table(table(*cells), tmp_path / "t.svg")
    drawn = {bars.get_label(): list(bars.lines[0].get_xdata()) for bars in figure.axes[0].containers}
    assert drawn == {"a": [1, 2], "b": [3]}


def test_ticks_of_a_logarithmic_axis_are_plain_numbers(tmp_path: Path) -> None:
    plot_table(table(row("cora", 1.0, 90.0, 89.0, None), row("cora", 2.0, 0.09, 0.08, None)), tmp_path / "t.svg")
    text = (tmp_path / "t.svg").read_text()
    assert "mathdefault" not in text
    assert ">0.1<" in text
