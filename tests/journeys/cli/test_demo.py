from __future__ import annotations

from pathlib import Path

import pytest
from commands import run_privet

from privet.cli import demo
from privet.cli.app import BadOption
from privet.cli.demo import run_demo
from privet.errors import InvalidParameter


def test_the_demo_tells_its_story_and_leaves_a_report(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run_demo(nodes=150, seed=1, out=tmp_path / "demo", seeds=1, people=40)
    printed = capsys.readouterr().out
    assert printed.startswith("People, their friends")
    assert "…" not in printed
    assert printed.count("Seen:") == 6
    page = (tmp_path / "demo" / "report.html").read_text()
    for name in ("inquiry", "inquiry-2", "lpgnn", "heterpoisson"):
        assert (tmp_path / "demo" / f"{name}.json").exists()
        assert (tmp_path / "demo" / f"{name}.privacy.yaml").exists()
        assert name.removesuffix("-2") in page
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_a_directory_that_cannot_be_written_is_told_of_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOption, match="a directory"):
        run_demo(nodes=300, seed=1, out=tmp_path / "file")
    with pytest.raises(InvalidParameter, match="existing directory"):
        run_demo(nodes=300, seed=1, out=tmp_path / "no" / "where")
    refused = run_privet("demo", "--out", str(tmp_path / "file"))
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_demo_that_is_stopped_while_it_writes_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("privet.reporting.report.write_report", stopped)
    with pytest.raises(KeyboardInterrupt):
        demo._write([], tmp_path / "demo")
    assert list(tmp_path.iterdir()) == []
