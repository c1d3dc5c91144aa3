"""What README and docs say is run: Python blocks in order, and every `privet` command."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BREAKING = {"privet audit sampled-response --claim published"}  # exit code 1 is what the text announces


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = [line for document in DOCUMENTS for block in blocks(document, "console") for line in block.splitlines()]
    return sorted({line[2:] for line in lines if line.startswith("$ privet")})


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "python")], ids=lambda d: d.name)
def test_python_blocks_run(document: Path, capsys: pytest.CaptureFixture) -> None:
    names: dict[str, object] = {}
    for block in blocks(document, "python"):
        exec(compile(block, document.name, "exec"), names)


@pytest.mark.parametrize("command", commands())
def test_commands_run(command: str) -> None:
    arguments = [sys.executable, "-m", "privet.cli", *shlex.split(command)[1:]]
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == (1 if command in BREAKING else 0), result.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_between_documents_exist(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        assert target.startswith("https://") or (document.parent / target).exists(), target
