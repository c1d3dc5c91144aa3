"""Links, files, commands and options that README and docs name exist; tests/journeys/test_documents.py runs them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from privet.cli import app
from privet.mechanisms import Mechanism
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.release import Ask
from privet.systems import CentralSystem, LocalSystem

ROOT = Path(__file__).parents[1]
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
DOCUMENTS = [ROOT / "README.md", *PAGES]
LINKING = [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)$", re.MULTILINE)
FILE = re.compile(r"`((?:privet|tests|benchmarks|examples|deploy)/[\w./-]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("document", LINKING, ids=name_of)
def test_links_between_documents_exist(document: Path) -> None:
    for target in LINK.findall(document.read_text()):
        assert target.startswith("https://") or (document.parent / target).exists(), target


def test_files_that_a_page_shows_exist() -> None:
    shown = [(page, name) for page in DOCUMENTS for name in INCLUDE.findall(page.read_text())]
    assert len(shown) >= 4
    for page, name in shown:
        assert (page.parent / name).is_file(), f"{page.name} shows {name}"


@pytest.mark.parametrize("document", LINKING, ids=name_of)
def test_files_that_a_page_names_exist(document: Path) -> None:
    for name in FILE.findall(document.read_text()):
        assert (ROOT / name).exists(), f"{document.name} names {name}"


def all_commands(place: Any, words: str = "privet") -> set[str]:
    """Every command with the groups it is in, as it is typed."""
    if not hasattr(place, "commands"):
        return {words}
    return {command for name, each in place.commands.items() for command in all_commands(each, f"{words} {name}")}


def test_the_reference_lists_every_command() -> None:
    written = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    missing = {each for each in all_commands(get_command(app)) if not re.search(rf"`{each}[ `]", written)}
    assert not missing


@pytest.mark.parametrize("kind", [Mechanism, CoordinateMechanism, Ask, LocalSystem, CentralSystem])
def test_the_guide_names_what_a_plugin_must_have(kind: type[Any]) -> None:
    written = (ROOT / "docs" / "how-to" / "extend.md").read_text()
    missing = [name for name in kind.__abstractmethods__ if not re.search(rf"`{name}[`(]", written)]
    assert kind.__abstractmethods__
    assert not missing


def written_commands(document: Path) -> set[str]:
    """Every `privet` command of a page, run or not: in blocks of any kind, and in the text."""
    text = document.read_text().replace("\\\n", " ")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    inline = [span.replace("\n", " ") for span in re.findall(r"`(privet [^`]+)`", text)]
    return {line.partition(" #")[0] for line in [*lines, *inline] if line.startswith("privet ")}


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if written_commands(d)], ids=name_of)
def test_commands_and_options_that_a_page_names_exist(document: Path) -> None:
    for written in written_commands(document):
        place: Any = get_command(app)
        for word in re.findall(r"[^\s\"]+", written)[1:]:
            if not word.startswith("-"):
                place = getattr(place, "commands", {}).get(word, place)
            elif word not in ("--help", "-"):
                known = {name for parameter in place.params for name in (*parameter.opts, *parameter.secondary_opts)}
                assert word.partition("=")[0] in known, f"{word} of: {written}"
        whole = not hasattr(place, "commands") or "--" in written or written == "privet study"
        assert whole, f"no such command: {written}"
