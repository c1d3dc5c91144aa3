"""Doctests are looked for in modules that have one: importing all the others takes longer than running the doctests."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "privet"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    is_module = collection_path.suffix == ".py" and PACKAGE in collection_path.parents
    return True if is_module and ">>> " not in collection_path.read_text(encoding="utf-8") else None
