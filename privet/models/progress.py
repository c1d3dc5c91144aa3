"""Progress bars for people: shown in terminals and notebooks, silent in files and pipes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Progress", "counting", "progress_bar"]

Progress = bool | Callable[[str], None]
"""True shows a bar, False shows nothing; a function is called with a few words after each part."""


@contextmanager
def progress_bar(epochs: int) -> Iterator[Callable[[int, float, float], None]]:
    """Give a function of the epoch, its loss and its score that moves the bar.

    Args:
        epochs: The largest number of epochs.
    """
    with _bar(epochs, "epoch") as bar:

        def show(epoch: int, loss: float, score: float) -> None:
            bar.update(epoch - bar.n)
            bar.set_description_str(f"loss {loss:.4f}, score {score:.4f}", refresh=epoch == 1)

        yield show


@contextmanager
def counting(progress: Progress, total: int, unit: str) -> Iterator[Callable[[str], None]]:
    """Give a function to call with a few words after each part of some work.

    Args:
        progress: Whether to show a bar, or the function itself.
        total: The number of parts.
        unit: The name of one part.
    """
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield lambda text: None
    else:
        with _bar(total, unit) as bar:

            def show(text: str) -> None:
                bar.update()
                bar.set_description_str(text)

            yield show


def _bar(total: int, unit: str) -> Any:
    with warnings.catch_warnings():  # without widgets the bar is one of characters, which is all right
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

    return tqdm(total=total, unit=unit, leave=False, disable=not (sys.stderr.isatty() or _in_notebook()))


def _in_notebook() -> bool:
    """Tell whether this program runs inside a notebook's kernel; ipykernel can be imported outside of one, too."""
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
