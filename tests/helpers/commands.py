"""The command line in this process: most of a command's time would go into starting another one and importing torch."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from privet import cli

__all__ = ["Ran", "run_privet"]


@dataclass(frozen=True)
class Ran:
    """The end of a command, with the names of subprocess.CompletedProcess."""

    returncode: int
    stdout: str
    stderr: str


def run_privet(*arguments: object, given: str = "", environment: Mapping[str, str] | None = None) -> Ran:
    """Run a command as its user does, without a terminal.

    Args:
        arguments: What follows ``privet``.
        given: What it reads from its input.
        environment: Variables of the environment beside those of this process.
    """
    said, complained = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with ExitStack() as changed:
        changed.enter_context(mock.patch.dict(os.environ, environment or {}))
        changed.enter_context(mock.patch.object(sys, "argv", ["privet", *map(str, arguments)]))
        changed.enter_context(mock.patch.object(sys, "stdin", io.StringIO(given)))
        changed.enter_context(redirect_stdout(said))
        changed.enter_context(redirect_stderr(complained))
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return Ran(code, *(text.buffer.getvalue().decode() for text in (said, complained)))  # type: ignore[attr-defined]
