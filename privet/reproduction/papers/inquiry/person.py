"""Tables of the person question: everything on a device for one epsilon, beside what no answer can exceed."""

from __future__ import annotations

from math import exp
from typing import Any

from privet.reproduction.papers.inquiry.measures import STANDING, measure_stability
from privet.reproduction.published import Cell, Measure, PublishedTable, of_kinds

__all__ = ["TABLES", "limit"]

_BUDGETS = (1.0, 2.0, 3.0, 4.0)
_PROTOTYPE: dict[str, tuple[int, tuple[float, ...]]] = {
    "cora": (7, (47, 65, 76)),
    "citeseer": (6, (47, 60, 66)),
    "acm": (3, (75, 86, 89)),
    "blogcatalog": (6, (56, 74, 83)),
    "flickr": (9, (40, 56, 68)),
    "pubmed": (3, (70, 81, 84)),
    "facebook": (4, (67, 82, 89)),
    "amherst": (6, (58, 76, 84)),
    "cornell": (6, (53, 73, 83)),
}
"""The number of classes, and the first prototype's figures at 2, 3 and 4."""
_PUBLIC = ("cora", "citeseer", "amherst", "cornell")
_FEW = ("facebook", "cornell", "amherst", "cora")
_STANDING = Measure("stability", "share (%)", lambda system: of_kinds(measure_stability, STANDING))
_UNITS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
_SPLIT = [0.05, 0.05]


def limit(epsilon: float, classes: int) -> float:
    """Return how often, in per cent, an answer can be right at most if classes are equally likely and nothing is known.

    Args:
        epsilon: The budget of the answer.
        classes: The number of classes.
    """
    return 100 * exp(epsilon) / (exp(epsilon) + classes - 1)


def _person() -> PublishedTable:
    cells = []
    for dataset, (classes, figures) in _PROTOTYPE.items():
        for eps, prototype in zip(_BUDGETS, (None, *figures), strict=True):
            bound = {"limit for equal classes": round(limit(eps, classes), 1)}
            cells.append(_cell(dataset, f"eps {eps:g}", {}, eps, "one question", prototype, references=bound))
            cells.append(_cell(dataset, f"two waves, eps {eps:g}", {"waves": 2}, eps, "two waves", controls=False))
            halves = {"epsilon_person": None, "epsilon_features": eps / 2, "epsilon_edges": eps / 4}
            cells.append(_cell(dataset, f"two questions, eps {eps:g}", halves, eps, "two questions", controls=False))
    return PublishedTable(
        "inquiry-person",
        "Everything on a device for one epsilon: features and friend list in one answer",
        "inquiry",
        tuple(cells),
        axis="epsilon of everything on a device",
        remark=(
            "Half of the people have a public class and a quarter validate; a panel of 10 % of people shows features "
            "and friends; nothing else is known of the others. The limit is e^eps / (e^eps + c - 1): with c equally "
            "likely classes no answer is right more often. Two questions: features at eps / 2, and one relationship at "
            "eps / 2, so the same total for a much smaller unit."
        ),
        beside=("dealt_answers", "noise_free", "features_only", "friends_only", "majority"),
        printed="prototype",
    )


def _public() -> PublishedTable:
    settings = {"reads": "friends", "public_features": True}
    cells = [
        _cell(dataset, f"eps {eps:g}", settings, eps, "friend list") for dataset in _PUBLIC for eps in (1.0, 2.0, 4.0)
    ]
    return PublishedTable(
        "inquiry-list",
        "A whole friend list for one epsilon, with public features",
        "inquiry",
        tuple(cells),
        axis="epsilon of a friend list",
        remark="Features are public, and the prior that they give decides which classes each person is offered.",
        beside=("structure", "dealt_answers", "noise_free", "majority"),
    )


def _waves() -> PublishedTable:
    cells = []
    for dataset in _FEW:
        for eps in (2.0, 3.0, 4.0):
            for waves, words in ((1, "one wave"), (2, "two waves")):
                settings = {"reads": "friends", "waves": waves}
                cells.append(
                    _cell(
                        dataset,
                        f"{words}, eps {eps:g}",
                        settings,
                        eps,
                        words,
                        protocol={"split": _SPLIT},
                        controls=waves == 1,
                    )
                )
    return PublishedTable(
        "inquiry-waves",
        "Two waves where a tenth of the people have a public class: friend lists alone",
        "inquiry",
        tuple(cells),
        axis="epsilon of a friend list",
        remark=(
            "5 % of people are training nodes, 5 % validate and 90 % are test nodes, of both waves. Everybody answers "
            "once; a quarter of the people answer first."
        ),
        beside=("noise_free", "majority"),
    )


def _units() -> PublishedTable:
    cells = []
    for eps in _UNITS:
        counts = {"epsilon_person": None, "epsilon_edges": eps / 2}
        cells.append(_cell("amherst", f"relationship, eps {eps:g}", counts, eps, "a relationship", controls=False))
        cells.append(_cell("amherst", f"list, eps {eps:g}", {"reads": "friends"}, eps, "a friend list", controls=False))
        cells.append(_cell("amherst", f"person, eps {eps:g}", {}, eps, "everything on a device"))
    return PublishedTable(
        "inquiry-units",
        "What epsilon protects, and what it costs: amherst",
        "inquiry",
        tuple(cells),
        axis="epsilon of the unit",
        remark="A relationship's epsilon is that of both ends together.",
        beside=("features_only", "majority"),
    )


def _cell(
    dataset: str,
    condition: str,
    settings: dict[str, Any],
    eps: float,
    series: str,
    prototype: float | None = None,
    **rest: Any,
) -> Cell:
    return Cell(dataset, condition, {"epsilon_person": eps, **settings}, prototype, at=eps, series=series, **rest)


def _false() -> PublishedTable:
    """The true answers that false published classes of friends cannot change."""
    cells = [
        Cell(dataset, words, {"epsilon_person": 4.0, "reads": reads}, None, at=4.0, series=words)
        for reads, words in (("everything", "features and friends"), ("friends", "friends alone"))
        for dataset in _FEW
    ]
    return PublishedTable(
        "inquiry-false",
        "Answers that stand whatever so many friends' published classes are",
        "inquiry",
        tuple(cells),
        measure=_STANDING,
        remark=(
            "The share of unlabelled people whose true answer no such number of false published classes can change, "
            "counted on their own lists: ours is for one false class. A false class is a friend published in a wrong "
            "class, left out, or published without cause."
        ),
        beside=tuple(STANDING),
    )


TABLES = (_person(), _public(), _waves(), _units(), _false())
