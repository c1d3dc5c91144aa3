"""Files that commands write: checked before the work, never half-written."""

from __future__ import annotations

from pathlib import Path

from privet.cli.app import BadOption

__all__ = ["check_writable"]


def check_writable(*paths: Path | None, plot: Path | None = None) -> None:
    """Refuse paths that cannot be written before an hour is spent on what goes into them; None is left out.

    Args:
        *paths: Files.
        plot: The file of a drawing, whose ending must be one that can be drawn.
    """
    from privet.data import files

    for path in (*paths, plot):
        if path is None:
            continue
        if path.is_dir():
            raise BadOption(f"{path} is a directory; name a file, such as result.json.")
        if not path.parent.is_dir():
            raise BadOption(f"{path} cannot be written: its directory must be an existing directory.")
        files.check_writable(path)
    if plot is not None:
        from privet.reporting.drawing import check_format

        check_format(plot)
