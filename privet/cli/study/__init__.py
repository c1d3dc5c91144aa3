"""``privet study``: a collection study, from the operator's side."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app

__all__ = ["Folder", "reports", "study"]

study = typer.Typer(help="Run a collection study, from its declaration to its export.", no_args_is_help=True)
app.add_typer(study, name="study")

Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="The study's directory.")]


def reports(count: int) -> str:
    """Return a number of reports in words."""
    return f"{count:,} report{'' if count == 1 else 's'}"


for _name in ("new", "running", "results", "keeping"):
    import_module(f"privet.cli.study.{_name}")  # registers its commands, in this order
