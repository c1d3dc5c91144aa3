"""``privet study links``: what each participant is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.study.group import Folder, study


@study.command()
def links(
    folder: Folder,
    url: Annotated[
        str, typer.Option(help="Where participants reach the collector, such as https://study.example.org.")
    ],
    out: Annotated[Path, typer.Option(help="The CSV file to write: node, link.")] = Path("links.csv"),
) -> None:
    """Write every participant's personal link, with the token that is valid now. The file is a secret."""
    from privet.collection.operator.links import write_links

    count = write_links(folder, url, out)
    typer.echo(f"Wrote {count:,} links to {out}; each is one person's secret.")
