"""Tables of "Revisiting Locally Differentially Private Graph Neural Networks" (IEEE S&P 2027).

It compares the local systems with the same networks on no features at all, which match or beat them up to epsilon 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.reproduction.published import NOT_TO_BE_HAD, Cell, PublishedTable

__all__ = ["TABLES"]

_BUDGETS = (1.0, 2.0, 4.0, 10.0)
_BESIDE = ("structure", "structure_only", "panel_only", "dealt_answers", "noise_free", "non_private")
_STATEMENT = "Without any features the networks match or beat LPGNN, PrivGE and UPGNet at every epsilon up to 10."
_OURS = "Inquiry's panel shows the features of 10 % of people."


def _lpgnn(
    dataset: str,
    eps: float,
    printed: float,
    references: Mapping[str, float],
    *,
    backbone: str | None = None,
) -> Cell:
    settings: dict[str, Any] = {"epsilon_features": eps} | ({} if backbone is None else {"backbone": backbone})
    series = "LPGNN" if backbone is None else f"LPGNN, {backbone}"
    return Cell(
        dataset,
        f"{series}, eps {eps:g}",
        settings,
        printed,
        at=eps,
        series=series,
        system="lpgnn",
        references=dict(references),
    )


def _inquiry(dataset: str, eps: float, references: Mapping[str, float]) -> Cell:
    settings: dict[str, Any] = {"epsilon_features": eps, "panel": 0.1}
    label = f"Inquiry, eps {eps:g}"
    return Cell(dataset, label, settings, None, at=eps, series="Inquiry", references=dict(references))


def _table_1() -> PublishedTable:
    printed = {
        "cora": (81.7, 84.9, 85.1, 88.5),
        "citeseer": (67.5, 68.0, 69.0, 75.4),
        "facebook": (92.8, 93.6, 93.8, 94.4),
        "lastfm": (87.4, 88.0, 88.3, 89.4),
    }
    cells: list[Cell] = []
    for dataset, (at_1, at_10, feature_free, raw) in printed.items():
        references = {"feature-free (paper)": feature_free, "raw (paper)": raw}
        if dataset not in NOT_TO_BE_HAD:
            cells += [_inquiry(dataset, eps, references) for eps in _BUDGETS]
        for eps, figure in ((1.0, at_1), (10.0, at_10)):
            cells.append(_lpgnn(dataset, eps, figure, references))
    return PublishedTable(
        "revisit-1",
        "Revisiting locally private GNNs, table 1: LPGNN and Inquiry beside no features",
        "inquiry",
        tuple(cells),
        statement=_STATEMENT,
        remark=f"The paper's figures are of GAT; our LPGNN has the settings of the table lpgnn-3. {_OURS}",
        beside=_BESIDE,
    )


def _table_6() -> PublishedTable:
    references = {"feature-free (paper)": 57.8, "UPGNet at 10 (paper)": 57.6, "raw (paper)": 90.4}
    printed = (("gcn", 1.0, 47.8), ("gcn", 10.0, 46.6), ("sage", 10.0, 51.7))
    cells = [_inquiry("flickr", eps, references) for eps in _BUDGETS]
    cells += [_lpgnn("flickr", eps, figure, references, backbone=backbone) for backbone, eps, figure in printed]
    return PublishedTable(
        "revisit-6",
        "Revisiting locally private GNNs, table 6: flickr, whose features tell most",
        "inquiry",
        tuple(cells),
        statement=_STATEMENT,
        remark=f"The paper's feature-free and raw figures are of GraphSAGE. {_OURS}",
        beside=_BESIDE,
    )


TABLES = (_table_1(), _table_6())
