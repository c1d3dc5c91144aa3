"""``privet study next``: close a round, and open the one that follows from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from privet.cli.study.group import Folder, study


@study.command(name="next")
def next_(
    folder: Folder, days: Annotated[float, typer.Option(min=0.001, max=3650, help="How long it stays open.")] = 30.0
) -> None:
    """Close the newest round and draw up the next one from what is public by now."""
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.operator.rounds import next_round
    from privet.privacy.rounding import at_most

    store = StudyFolder.open(folder).store()
    try:
        start = datetime.now(UTC)
        made = next_round(store, start, start + timedelta(days=days))
        form = store.at(made).form
    finally:
        store.dispose()
    out = Console(highlight=False, soft_wrap=True)
    asked = ", ".join(question.name for question in made.release.questions)
    out.print(f"Round {made.round} of [bold]{escape(made.title)}[/] is open: study {made.id}")
    price = at_most(made.price.epsilon)
    out.print(f"It asks {form.count:,} of {made.nodes:,} people: {asked}. It costs each at most {price}.")
    out.print(f"Its links:  privet study links {escape(str(folder))} --url https://HOST --out round-{made.round}.csv")
