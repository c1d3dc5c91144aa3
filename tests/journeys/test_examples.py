"""Every script in examples/ runs as a user would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(script: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


@pytest.mark.parametrize("name", ["study", "study_in_rounds"])
def test_a_whole_study_runs(name: str, tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the collection extra is not installed")
    script = EXAMPLES[0].parent / name / "run.py"
    result = subprocess.run(
        [sys.executable, str(script), "--people", "300"], capture_output=True, text=True, timeout=900, check=False,
        cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "standard deviations from its simulation" in result.stdout
