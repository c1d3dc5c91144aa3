"""The group of commands, and the argument that most of them have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app

__all__ = ["Folder", "study"]

study = typer.Typer(help="Run a collection study, from its declaration to its export.", no_args_is_help=True)
app.add_typer(study, name="study")

Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="The study's directory.")]
