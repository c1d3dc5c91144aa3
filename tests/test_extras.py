"""Extras: a missing library is told with the extra that brings it, and the table agrees with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from privet import extras

ROOT = Path(__file__).parent.parent
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def plain(name: str) -> str:
    return re.split(r"[^\w-]", name.lower().replace("_", "-"))[0]


@pytest.mark.parametrize("extra", ["collection", "learning", "networkx", "scale", "search", "sums"])
def test_every_library_of_an_extra_is_known(extra: str) -> None:
    owners = {module: set(map(plain, names)) for module, names in packages_distributions().items()}
    for requirement in DECLARED[extra]:
        modules = [module for module, names in owners.items() if plain(requirement) in names]
        assert any(extras.extra_of(ModuleNotFoundError(name=module)) for module in modules), requirement


def test_submodules_count_and_other_libraries_do_not() -> None:
    assert extras.extra_of(ModuleNotFoundError(name="torch.nn")) == "learning"
    assert extras.extra_of(ModuleNotFoundError(name="sqlalchemy")) == "collection"
    assert extras.extra_of(ModuleNotFoundError(name="torchish")) is None
    assert extras.extra_of(ModuleNotFoundError()) is None


def test_all_is_every_extra_that_a_user_needs_and_dev_includes_it() -> None:
    assert DECLARED["all"] == ["privet[collection,learning,networkx,scale,search,sums]"]
    assert "privet[all,docs]" in DECLARED["dev"]
    base = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert sorted(map(plain, base)) == ["numpy", "platformdirs", "pydantic", "rich", "scipy", "typer"]
