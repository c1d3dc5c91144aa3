"""``privet study``: a collection study, from the operator's side; one file a command."""

from __future__ import annotations

from importlib import import_module

for _name in (
    *("new", "links", "serve", "status", "next", "close", "export", "verify", "revoke", "rotate", "forget", "expire"),
    *("backup", "restore"),
):
    import_module(f"privet.cli.study.{_name}")  # registers its command, in this order
