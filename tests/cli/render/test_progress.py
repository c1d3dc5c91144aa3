from __future__ import annotations

import pytest

from privet.cli.render.screen import figure_progress


def test_nothing_is_shown_where_nobody_watches(capsys: pytest.CaptureFixture) -> None:
    with figure_progress(2) as advance:
        advance("one")
        advance("two")
    assert capsys.readouterr() == ("", "")
