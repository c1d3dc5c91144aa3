from __future__ import annotations

from pathlib import Path

import pytest

from privet.cli.app import BadOption
from privet.cli.demo.command import run_demo
from privet.data import social_graph
from privet.mechanisms import MECHANISMS
from privet.systems import SYSTEMS
from privet.systems.presets import demonstrated


def test_the_demo_shows_every_mechanism_and_system_and_the_broken_claim(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run_demo(nodes=200, seed=1, out=tmp_path / "demo", seeds=1, people=40, canary_runs=300)
    printed = capsys.readouterr().out
    assert "…" not in printed  # every cell of every table can be read in 80 columns
    for name in set(MECHANISMS) - {"square-wave"}:
        assert name in printed
    shown = [name for name in SYSTEMS if demonstrated(name, social_graph(60, seed=0))]
    assert {"lpgnn", "heterpoisson"} < set(shown)
    for name in shown:
        assert name in printed
    assert "broken" not in printed
    assert "gives 2.000: it does not hold" in " ".join(printed.split())
    assert "devices perturbed and reported over HTTP" in printed or "pip install" in printed
    page = (tmp_path / "demo" / "report.html").read_text()
    for name in shown:
        assert name in page
        assert (tmp_path / "demo" / f"{name}.json").exists()
        assert (tmp_path / "demo" / f"{name}.privacy.yaml").exists()


def test_a_directory_that_cannot_be_written_is_told_of_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOption, match="a directory"):
        run_demo(nodes=300, seed=1, out=tmp_path / "file")
    with pytest.raises(BadOption, match="existing directory"):
        run_demo(nodes=300, seed=1, out=tmp_path / "no" / "where")
