"""What README and docs say is run, page by page: Python blocks and `privet` commands, in order, in one new directory.

A text block behind a Python block is what that prints. In a console block `$ privet ...` is run and must end with 0;
lines below it must occur in what it prints, with `...` for anything. A command that ends with `&` goes on in the
background until the page ends, on a free port and not 8000. Commands of README run in a shell, those of other pages in
this process: starting it would take most of their time.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from commands import run_privet

from privet.collection.operator.rehearsal import free_port

ROOT = Path(__file__).parents[2]
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
DOCUMENTS = [ROOT / "README.md", *PAGES]
BREAKING = {  # exit code 1 is what the text announces
    "privet audit sampled-response --claim published",
    "privet audit heterpoisson --noise sml --sigma 6 --rate 0.2 --steps 5 --nodes 2000 --runs 20000",
    "privet audit heterpoisson --noise sml --sequential",
}
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def says(printed: str, line: str) -> bool:
    """Whether a line was printed, up to spaces, with ``...`` for anything."""
    words = " ".join(line.split())
    pattern = ".*".join(re.escape(part) for part in words.split("..."))
    return re.search(pattern, " ".join(printed.split())) is not None


def run(command: str, expected: list[str], environment: dict[str, str], in_shell: bool) -> None:
    result: Any
    if in_shell or re.search(r"[|<>;&$*`]", command):
        result = subprocess.run(
            command, shell=True, capture_output=True, text=True, timeout=900, check=False, env=environment
        )
    else:
        result = run_privet(*shlex.split(command, comments=True)[1:], environment=environment)
    assert result.returncode == (1 if command in BREAKING else 0), f"{command}\n{result.stderr}"
    for line in expected:
        assert says(result.stdout, line), f"{command}\nmust print: {line}\nprinted: {result.stdout}"


@contextmanager
def running(command: str, port: str) -> Iterator[None]:
    """A server in the background that answers, until the block ends."""
    arguments = [sys.executable, "-m", "privet.cli", *shlex.split(command.rstrip("& "))[1:]]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(1200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", int(port))) == 0:
                        break
                assert server.poll() is None, f"{command} ended"
                time.sleep(0.1)
            yield
        finally:
            server.terminate()


def environment_in(directory: Path) -> dict[str, str]:
    """A shell that knows `privet` as this interpreter's, with nothing of the user's own."""
    program = directory / "privet"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m privet.cli "$@"\n')
    program.chmod(0o755)
    path = f"{directory}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "COLUMNS": "80", "XDG_DATA_HOME": str(directory)}


@pytest.mark.parametrize(
    "document", [d for d in DOCUMENTS if BLOCK.search(d.read_text())], ids=lambda d: str(d.relative_to(ROOT))
)
def test_what_a_page_says_runs(
    document: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("page"))
    environment, port, names = environment_in(tmp_path_factory.mktemp("bin")), str(free_port()), {}
    text = document.read_text()
    if re.search(r"^\$ privet .*&$", text, re.MULTILINE):
        text = text.replace("8000", port)
    with ExitStack() as background:
        printed = io.StringIO()
        for language, block in BLOCK.findall(text):
            if language == "python":
                printed = io.StringIO()
                with redirect_stdout(printed):
                    exec(compile(block, document.name, "exec"), names)
                continue
            if language == "text":
                for line in block.splitlines():
                    assert says(printed.getvalue(), line), f"must print: {line}\nprinted: {printed.getvalue()}"
                continue
            for command, expected in commands(block):
                if command.startswith("privet ") and command.endswith("&"):
                    background.enter_context(running(command, port))
                elif command.startswith("privet "):
                    run(command, expected, environment, in_shell=document.name == "README.md")


def test_expected_output_is_looked_for() -> None:
    block = "$ privet account x \\\n    --json\n  epsilon   1 ... of 2\n\n$ make demo\n"
    assert commands(block) == [("privet account x     --json", ["  epsilon   1 ... of 2"]), ("make demo", [])]
    assert says("the epsilon 1\nand more of 2", "epsilon 1 ... of 2")
    assert not says("the epsilon 1\nand more of 3", "epsilon 1 ... of 2")
    with pytest.raises(AssertionError, match="must print: other"):
        run("echo one", ["other"], dict(os.environ), in_shell=True)
    with pytest.raises(AssertionError, match="must print: other"):
        run("privet --version", ["other"], {}, in_shell=False)
