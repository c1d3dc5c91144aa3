"""``privet study``: a collection study, from the operator's side."""

from __future__ import annotations

from importlib import import_module

for _name in ("new", "people", "running", "keeping"):
    import_module(f"privet.cli.study.{_name}")  # registers its commands, in this order
