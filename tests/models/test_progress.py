from __future__ import annotations

import pytest

from privet.models.progress import progress_bar


def test_the_bar_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture) -> None:
    with progress_bar(3) as show:
        for epoch in range(3):
            show(epoch + 1, 0.5, 0.25)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_the_bar_shows_loss_and_score_on_a_terminal(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_bar(2) as show:
        show(1, 0.5, 0.25)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "loss 0.5000, score 0.2500" in captured.err
