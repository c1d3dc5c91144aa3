from __future__ import annotations

from pathlib import Path

import pytest

from privet.errors import InvalidParameter
from privet.reporting.drawing import check_format, write_figure


def test_formats_are_checked_before_the_work(tmp_path: Path) -> None:
    for kind in ("svg", "pdf", "png"):
        check_format(Path(f"figure.{kind}"))
    with pytest.raises(InvalidParameter, match=r"\.svg, \.pdf or \.png file"):
        write_figure(lambda figure: pytest.fail("it was drawn"), 2.0, 2.0, tmp_path / "figure.jpg")
    assert list(tmp_path.iterdir()) == []
