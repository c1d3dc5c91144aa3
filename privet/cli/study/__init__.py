"""``privet study``: a collection study, from the operator's side."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app

__all__ = ["Folder", "study"]

study = typer.Typer(help="Run a collection study, from its declaration to its export.", no_args_is_help=True)
app.add_typer(study, name="study")

Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="The study's directory.")]

for _name in ("new", "running", "results", "keeping"):
    import_module(f"privet.cli.study.{_name}")  # registers its commands, in this order
