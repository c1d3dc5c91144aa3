"""Inquiry's own tables: the worth of answers over no private data, by what they protect.

Inquiry is not a published system. Where papers have their figure, the method's first prototype has its own here.
"""

from __future__ import annotations

from typing import Any

from privet.data import Schema
from privet.reproduction.papers.inquiry import friends, person
from privet.reproduction.papers.inquiry.measures import PRIORS, measure_worth
from privet.reproduction.published import (
    Cell,
    Measure,
    PublishedTable,
    no_edges,
    of_kinds,
)

__all__ = ["TABLES"]

_FEATURE_BUDGETS = (1.0, 2.0, 4.0)
_EDGE_BUDGETS = (0.5, 1.0, 2.0, 4.0)
_FEW_LABELS = (0.1, 0.1)
_BLINK = {"cora": {1.0: 71.2, 2.0: 71.3, 4.0: 81.0}, "citeseer": {1.0: 73.7, 2.0: 73.7, 4.0: 75.8}}
"""Blink's accuracy by its epsilon of a list bit."""
_COLUMNS = of_kinds(measure_worth, {})
WORTH = Measure("worth", "bits about the class", lambda system: _COLUMNS, factor=1.0)
_PANELS = {"flat": "eight classes, equally likely", "sharp": "two of them have 85 %"}


def _features() -> PublishedTable:
    many = {
        "acm": (83.4, 86.7, 90.1),
        "blogcatalog": (78.4, 82.9, 88.0),
        "flickr": (61.9, 65.8, 74.0),
        "citeseer": (68.4, 70.5, 71.2),
        "pubmed": (84.1, 84.8, 85.3),
    }
    few = {"acm": (75.4, 81.9, 88.0), "blogcatalog": (67.6, 71.6, 80.6), "citeseer": (57.9, 60.8, 66.6)}
    cells = [
        Cell(
            dataset,
            f"eps {eps:g}",
            {"epsilon_features": eps, "panel": 0.1},
            prototype,
            at=eps,
            panel=f"{dataset}, 50/25/25",
        )
        for dataset, figures in many.items()
        for eps, prototype in zip(_FEATURE_BUDGETS, figures, strict=True)
    ]
    cells += [
        Cell(
            dataset,
            f"10 % labelled, eps {eps:g}",
            {"epsilon_features": eps, "panel": 0.05},
            prototype,
            at=eps,
            panel=f"{dataset}, 10/10/80",
            protocol={"split": list(_FEW_LABELS)},
        )
        for dataset, figures in few.items()
        for eps, prototype in zip(_FEATURE_BUDGETS, figures, strict=True)
    ]
    return PublishedTable(
        "inquiry-features",
        "Inquiry, the feature question: public graph, private features",
        "inquiry",
        tuple(cells),
        remark=(
            "A panel of 10 % of people (5 % where 10 % are labelled) shows its features. Where 10 % are labelled, "
            "another 10 % are validation nodes and 80 % are test nodes; otherwise it is 50/25/25."
        ),
        printed="prototype",
    )


def _edges() -> PublishedTable:
    public = {"cora": (77.0, 80.8, 84.5, 86.8), "citeseer": (74.2, 75.8, 76.0, 77.6)}
    private = {"cora": (None, 53.7, 70.9, 80.4), "citeseer": (None, 42.8, 56.2, 64.9)}
    cells = [
        Cell(
            dataset,
            f"public features, eps {eps:g}",
            {"epsilon_edges": eps, "public_features": True},
            prototype,
            at=eps,
            panel=f"{dataset}, public features",
            series="Inquiry",
            references={"Blink": _BLINK[dataset][eps]} if eps in _BLINK[dataset] else {},
        )
        for dataset, figures in public.items()
        for eps, prototype in zip(_EDGE_BUDGETS, figures, strict=True)
    ]
    for dataset, figures in private.items():
        cells += [_lists(dataset, eps, prototype) for eps, prototype in zip(_EDGE_BUDGETS, figures, strict=True)]
        cells += [_solitude(dataset, eps) for eps in _EDGE_BUDGETS[1:]]
    cells.append(_lists("facebook", 2.0, 87.8))
    return PublishedTable(
        "inquiry-edges",
        "Inquiry, the friend question: private lists, epsilon of a list bit",
        "inquiry",
        tuple(cells),
        remark=(
            "A relationship costs twice the epsilon of a list bit, which is in the true eps. Blink's published figures "
            "stand at its epsilon of a list bit. Solitude is ours, one-sided; it also asks for features, at another "
            "epsilon of 1, which is in its true eps. As published it has 77.8 on Cora and 58.0 on Citeseer at 16 a "
            "relationship. In Facebook's prototype both ends of a pair counted."
        ),
        beside=("structure", "dealt_answers", "noise_free", "majority"),
        printed="prototype",
    )


def _lists(dataset: str, eps: float, prototype: float | None) -> Cell:
    settings: dict[str, Any] = {"epsilon_edges": eps}
    panel = f"{dataset}, no features"
    return Cell(dataset, f"no features, eps {eps:g}", settings, prototype, at=eps, panel=panel, series="Inquiry")


def _solitude(dataset: str, eps: float) -> Cell:
    return Cell(
        dataset,
        f"Solitude, eps_a {eps:g}",
        {"epsilon_features": 1.0, "epsilon_edges": eps},
        None,
        at=eps,
        panel=f"{dataset}, no features",
        series="Solitude",
        controls=False,
        system="solitude",
    )


def _worth() -> PublishedTable:
    """The worth of one answer to the feature question, before anybody is asked."""
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
        made=lambda: no_edges(1, Schema.numeric(1, 0.0, 1.0, classes=8)),
        remark=(
            "The true answer is right with probability 0.9 if the class is offered. Exact, no data. A few options are "
            "best where few classes are likely and epsilon is small; otherwise all of them."
        ),
    )


TABLES = (_features(), _edges(), *friends.TABLES, *person.TABLES, _worth())
