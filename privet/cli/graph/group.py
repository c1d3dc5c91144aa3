"""The group of commands."""

from __future__ import annotations

import typer

from privet.cli.app import app

__all__ = ["graph"]

graph = typer.Typer(help="Keep a graph on disk, in partitions that workers can share.", no_args_is_help=True)
app.add_typer(graph, name="graph")
