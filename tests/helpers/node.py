"""Run a checker, a module that exports ``differences(vectors, folder)``, in node against the page's own scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

import privet.collection

WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
PROGRAM = """
import { readFileSync } from "node:fs";
const [checker, vectors, folder] = process.argv.slice(-3);
const { differences } = await import(checker);
console.log(JSON.stringify(await differences(JSON.parse(readFileSync(vectors)), folder)));
"""


def node_differences(checker: Path, vectors: Any, folder: Path) -> Any:
    """Return the sentences of a checker that runs in node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    (folder / "vectors.json").write_text(json.dumps(vectors))
    arguments = [checker.as_uri(), str(folder / "vectors.json"), WEB.as_uri()]
    command = [node, "--experimental-default-type=module", "--input-type=module", "-", *arguments]
    done = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, timeout=PATIENCE)
    if "bad option" in done.stderr:
        pytest.skip("this node cannot load the modules as they are")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
