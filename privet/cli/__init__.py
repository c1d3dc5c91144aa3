"""The commands, thin: heavy imports stand inside each command so that --help answers at once."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import typer

from privet.cli.app import GroupedCommand, app
from privet.cli.errors import as_option
from privet.errors import PrivetError
from privet.extras import extra_of, needs

__all__ = ["app", "main"]

for _name in (
    "demo", "run", "table", "leaderboard", "results", "advise", "guarantees", "study", "participate", "ledger",
    "models", "graph",
):  # fmt: skip
    import_module(f"privet.cli.{_name}")  # registers its commands, in this order
for _group in (app, *(each.typer_instance for each in app.registered_groups if each.typer_instance)):
    for _command in _group.registered_commands:
        _command.cls = GroupedCommand

# Typer raises click's errors, from click itself or from a copy of its own: this is their common base in either case.
_UsageFault: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main() -> None:
    """Run the command line: one sentence and exit code 2 for bad input, 130 for Ctrl-C."""
    # What is being written is put away before a process ends, whoever ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        status = app(standalone_mode=False)
        if status == 130:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
    except PrivetError as error:
        _stop(as_option(error, app, sys.argv[1:]), 2)
    except _UsageFault as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command: its message is the help
            print(error.format_message(), file=sys.stderr)
            sys.exit(2)
        _stop(" ".join(error.format_message().split()), 2)
    except (KeyboardInterrupt, typer.Abort):
        _stop("stopped by Ctrl-C; nothing was left half-written.", 130)
    except ModuleNotFoundError as error:
        extra = extra_of(error)
        if extra is None:
            raise
        _stop(needs(_named(sys.argv[1:]), extra), 2)
    except MemoryError:
        _stop("there is not enough memory for these parameters; try smaller ones.", 2)
    except SystemExit as end:
        # Typer ends with 1 when nobody reads the output any more, which here would mean a broken claim.
        sys.exit(141 if isinstance(end.__context__, BrokenPipeError) else end.code)
    except OSError as error:
        where = f" ({Path(error.filename).name})" if error.filename else ""
        _stop(f"{error.strerror or error}{where}.", 2)
    sys.exit(status if isinstance(status, int) else 0)


def _named(arguments: list[str]) -> str:
    """Name the command that the arguments begin with: its group, if it has one, and its name."""
    groups = [group.name for group in app.registered_groups]
    words = [word for word in arguments if not word.startswith("-")]
    return " ".join(["privet", *words[: 2 if words[:1] and words[0] in groups else 1]])


def _stop(sentence: str, status: int) -> NoReturn:
    print(f"privet: {sentence}", file=sys.stderr)
    sys.exit(status)
