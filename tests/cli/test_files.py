from __future__ import annotations

from pathlib import Path

import pytest

from privet.cli.app import check_writable
from privet.errors import InvalidParameter


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    check_writable(None, tmp_path / "result.json")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidParameter, match="is a directory"):
        check_writable(None, tmp_path)
    with pytest.raises(InvalidParameter, match="existing directory"):
        check_writable(tmp_path / "no" / "result.json")


def test_the_ending_of_a_drawing_is_checked_too(tmp_path: Path) -> None:
    check_writable(tmp_path / "result.txt", plot=tmp_path / "figure.svg")
    with pytest.raises(InvalidParameter, match=r"A figure is a \.svg, \.pdf or \.png file, not figure\.txt"):
        check_writable(plot=tmp_path / "figure.txt")
    with pytest.raises(InvalidParameter, match="existing directory"):
        check_writable(plot=tmp_path / "no" / "figure.svg")
