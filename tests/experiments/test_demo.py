from __future__ import annotations

import pytest

from privet.experiments.demo import run_demo
from privet.mechanisms import MECHANISMS
from privet.systems import SYSTEMS


def test_the_demo_shows_every_mechanism_and_system_and_the_broken_claim(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run_demo(nodes=300, seed=1)
    printed = capsys.readouterr().out
    for name in set(MECHANISMS) - {"square-wave"}:
        assert name in printed
    for name in (*SYSTEMS, "heterpoisson", "smoothed-mlp"):
        assert name in printed
    assert "broken" not in printed
    assert "gives 2.000: it does not hold" in " ".join(printed.split())
