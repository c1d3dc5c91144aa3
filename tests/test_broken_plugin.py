"""Three plugins whose statements are right and whose programs are not: audit and conformance suite refuse them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from privet.data import social_graph, split_nodes
from privet.testing import check_local_system, check_mechanism

PLUGIN = Path(__file__).parent.parent / "examples" / "broken_plugin"
SEEN = {
    "truthful": "the report 0 was drawn 20,000 times of 20,000, where the stated probability is 0.475.",
    "one-class-in-the-clear": "For the input 2, the report 2 was drawn 20,000 times of 20,000",
    "raw-features": "and it holds feature 0 of person",
}
PROGRAM = """
import json, sys
from commands import run_privet
print(json.dumps({each: vars(run_privet("audit", *each.split())) for each in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the plugin is installed: its module and its entry points."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    (site / "privet_broken.py").write_text((PLUGIN / "privet_broken.py").read_text())
    described = site / "privet_broken-0.1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: privet-broken\nVersion: 0.1.0\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "\n".join(f"{key} = {value}" for key, value in own.items()) for group, own in groups]
    (described / "entry_points.txt").write_text("\n".join(lines))
    ours = [site, PLUGIN.parent.parent, Path(__file__).parent / "helpers"]
    paths = [*map(str, ours), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "300"}


@pytest.fixture(scope="module")
def broken() -> ModuleType:
    spec = importlib.util.spec_from_file_location("privet_broken", PLUGIN / "privet_broken.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["privet_broken"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def audited(environment: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The end of each audit; all run in one process, since most of their time would go into starting others."""
    command = [sys.executable, "-c", PROGRAM, *SEEN, "raw-features --json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("name", SEEN)
def test_the_audit_says_what_it_saw(audited: dict[str, dict[str, Any]], name: str) -> None:
    assert audited[name]["returncode"] == 1, audited[name]["stderr"]
    assert SEEN[name] in audited[name]["stdout"]
    assert "The claim is broken." in audited[name]["stdout"]


def test_the_audit_says_it_in_json_too(audited: dict[str, dict[str, Any]]) -> None:
    found = json.loads(audited["raw-features --json"]["stdout"])
    assert found["questions"]["features"]["holds"]
    assert not found["collection"]["holds"]
    assert SEEN["raw-features"] in found["collection"]["problem"]


@pytest.mark.parametrize("kind", ["Truthful", "OneClassInTheClear"])
def test_the_conformance_suite_refuses_the_mechanisms(broken: ModuleType, kind: str) -> None:
    mechanism = getattr(broken, kind)(epsilon=1.0, classes=4)
    with pytest.raises(AssertionError, match=r"draws with another distribution than it states\. For the input"):
        check_mechanism(mechanism, np.array([0, 1, 3]), truth=[1, 0, 0, 0])


def test_the_conformance_suite_refuses_the_system(broken: ModuleType) -> None:
    graph = social_graph(90, classes=3, features=6, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    with pytest.raises(AssertionError, match="receives private data past the reports"):
        check_local_system(broken.RawFeatures(), graph)
