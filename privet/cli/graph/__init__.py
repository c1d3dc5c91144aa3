"""``privet graph``: graphs on disk, in partitions; one file a command."""

from __future__ import annotations

from importlib import import_module

for _name in ("build", "info"):
    import_module(f"privet.cli.graph.{_name}")  # registers its command, in this order
