"""A progress bar for people: shown on a terminal, silent in files and pipes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(epochs: int) -> Iterator[Callable[[int, float, float], None]]:
    """Give a function of the epoch, its loss and its score that moves the bar.

    Args:
        epochs: The largest number of epochs.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("training", total=epochs)

        def show(epoch: int, loss: float, score: float) -> None:
            progress.update(task, completed=epoch, description=f"loss {loss:.4f}, score {score:.4f}")

        yield show
