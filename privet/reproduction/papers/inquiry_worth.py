"""What one answer to Inquiry's feature question is worth, before anybody is asked."""

from __future__ import annotations

from privet.reproduction.cells import Cell, PublishedTable
from privet.reproduction.figures.answer_worth import PRIORS, measure_worth
from privet.reproduction.measures import OWN, Measure, of_kinds

__all__ = ["TABLES"]

_COLUMNS = of_kinds(measure_worth, OWN, {})
WORTH = Measure("worth", "bits about the class", lambda system: _COLUMNS, factor=1.0)
_PANELS = {"flat": "eight classes, equally likely", "sharp": "two of them have 85 %"}


def _worth() -> PublishedTable:
    cells = [
        Cell(
            "eight-classes",
            f"{prior} prior, {options} options, eps {eps:g}",
            {"epsilon_features": eps},
            None,
            at=eps,
            panel=_PANELS[prior],
            series=f"{options} options",
            protocol={"prior": prior, "options": options},
        )
        for prior in PRIORS
        for options in (2, 3, 4, 8)
        for eps in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
    ]
    return PublishedTable(
        "inquiry-worth",
        "What an answer tells about the class, by the number of classes that are offered",
        "inquiry",
        tuple(cells),
        measure=WORTH,
        remark=(
            "The true answer is right with probability 0.9 if the class is offered. Exact, no data. A few options are "
            "best where few classes are likely and epsilon is small; otherwise all of them."
        ),
    )


TABLES = (_worth(),)
