"""Who is served well and who is not: recall and support of each class on the test nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_class", "collect_classes", "is_class_figure"]

_RECALL, _SUPPORT = "recall_", "support_"


def by_class(
    predicted: NDArray[np.int64], labels: NDArray[np.int64], nodes: NDArray[np.bool_], classes: int
) -> dict[str, float]:
    """``recall_c``, the share of class c's nodes that are predicted as c, and ``support_c``, how many there are.

    A class that none of the nodes has gets a support of 0 and no recall.

    >>> by_class(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([True, True, False]), 2)
    {'support_0': 2.0, 'recall_0': 0.5, 'support_1': 0.0}
    """
    nodes = nodes & (labels >= 0)
    truth, right = labels[nodes], predicted[nodes] == labels[nodes]
    support = np.bincount(truth, minlength=classes)
    hits = np.bincount(truth[right], minlength=classes)
    figures: dict[str, float] = {}
    for each in range(classes):
        figures[f"{_SUPPORT}{each}"] = float(support[each])
        if support[each]:
            figures[f"{_RECALL}{each}"] = float(hits[each] / support[each])
    return figures


def is_class_figure(name: str) -> bool:
    """Whether a measurement's figure is one of :func:`by_class`."""
    return name.startswith((_RECALL, _SUPPORT))


def collect_classes(found: Mapping[str, Sequence[Mapping[str, float]]]) -> list[dict[str, Any]]:
    """Means over the seeds, class by class: recall (per cent) of the system and of each control, and support.

    ``found`` has one list of measurements for each kind of figure, the system itself first. Seeds whose test nodes lack
    a class do not count for its recall.
    """
    kinds = list(found)
    if not kinds:
        return []
    own = found[kinds[0]]
    classes = sorted({int(name.removeprefix(_SUPPORT)) for one in own for name in one if name.startswith(_SUPPORT)})
    rows = []
    for each in classes:
        recalls = {kind: _values(found[kind], f"{_RECALL}{each}") for kind in kinds}
        mine = recalls[kinds[0]]
        rows.append(
            {
                "class": each,
                "support": float(np.mean(_values(own, f"{_SUPPORT}{each}"))),
                "recall": _mean(mine),
                "std": float(100 * np.std(mine, ddof=1)) if len(mine) > 1 else 0.0,
                "controls": {kind: _mean(recalls[kind]) for kind in kinds[1:]},
            }
        )
    return rows


def _values(found: Sequence[Mapping[str, float]], name: str) -> list[float]:
    return [one[name] for one in found if name in one]


def _mean(values: Sequence[float]) -> float | None:
    return float(100 * np.mean(values)) if values else None
