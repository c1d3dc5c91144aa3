"""Solitude's tables and figures (Lin, Li and Wang 2022)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from privet.reproduction.published import Cell, PublishedTable

__all__ = ["TABLES"]

_CITATION_BUDGETS = (7.0, 7.3, 7.5, 7.7, 7.9, 8.0)
_BUDGETS = {"cora": _CITATION_BUDGETS, "citeseer": _CITATION_BUDGETS, "lastfm": (7.7, 7.9, 8.0, 8.3, 8.5, 8.7)}
_SIDES = (
    "Two-sided: the published calibration, and both endpoints report a pair. One-sided: the Bayesian calibration, and "
    "an honest server has one report of a pair. True eps: features and one relationship, which costs 2 eps_a."
)


def _mode(one_sided: bool) -> str:
    return f"{'one' if one_sided else 'two'}-sided"


def _settings(eps_a: float, backbone: str, one_sided: bool, **changed: Any) -> dict[str, Any]:
    return {
        "epsilon_features": 1.0,
        "epsilon_edges": eps_a,
        "backbone": backbone,
        "one_sided": one_sided,
    } | changed


def _condition(one_sided: bool) -> str | None:
    return None if one_sided else "two_sided"


def _table_2() -> PublishedTable:
    """The base network, GraphSAGE, straight on the noisy graph: why a calibration is needed."""
    plain: dict[str, Any] = {"calibration": "none", "feature_hops": 0, "label_hops": 0, "average_beliefs": False}
    printed = {
        "cora": [(50.9, 3.8), (54.9, 3.7), (57.2, 2.5), (61.4, 2.6), (63.7, 2.4)],
        "citeseer": [(35.0, 1.8), (39.1, 1.3), (42.3, 1.5), (44.5, 1.2), (45.7, 1.8)],
    }
    cells = [
        Cell(
            dataset,
            f"eps_a {eps:g}, {_mode(one_sided)}",
            _settings(eps, "sage", one_sided, symmetrise="union" if one_sided else "directed", **plain),
            mean,
            std,
            _condition(one_sided),
            at=eps,
            panel=f"{dataset}, {_mode(one_sided)}",
        )
        for dataset, figures in printed.items()
        for one_sided in (False, True)
        for eps, (mean, std) in zip(_CITATION_BUDGETS, figures, strict=False)
    ]
    return PublishedTable(
        "solitude-2",
        "Solitude, table 2: GraphSAGE on the noisy graph, without any denoising",
        "solitude",
        tuple(cells),
        remark="Two-sided: both ends report a pair, as in the paper; one-sided: one. A relationship costs 2 eps_a.",
        axis="eps_a",
        beside=("structure_only", "structure", "features_only", "non_private"),
    )


def _table_3() -> PublishedTable:
    printed = {
        ("cora", "gcn"): ([68.4, 72.6, 75.2, 76.1, 77.3, 77.8], [2.3, 1.4, 1.2, 0.5, 0.9, 0.5]),
        ("cora", "sage"): ([66.4, 72.4, 75.8, 76.7, 77.9, 79.0], [1.7, 1.2, 0.9, 1.1, 0.6, 0.6]),
        ("citeseer", "gcn"): ([49.8, 53.4, 55.1, 56.4, 58.2, 58.0], [1.4, 1.0, 0.8, 1.5, 0.7, 2.5]),
        ("citeseer", "sage"): ([50.1, 52.7, 54.0, 55.6, 56.3, 57.0], [1.3, 1.0, 1.0, 0.8, 1.0, 1.4]),
        ("lastfm", "gcn"): ([60.9, 68.9, 68.0, 75.1, 77.5, 78.9], [2.6, 2.1, 4.7, 1.7, 1.9, 1.3]),
        ("lastfm", "sage"): ([65.5, 69.4, 71.6, 77.2, 77.2, 79.0], [7.1, 5.4, 2.4, 1.7, 1.4, 1.5]),
    }
    cells = [
        Cell(
            dataset,
            f"{backbone}, eps_a {eps:g}, {_mode(one_sided)}",
            _settings(eps, backbone, one_sided),
            mean,
            std,
            _condition(one_sided),
            at=eps,
            panel=f"{dataset}, {backbone}, {_mode(one_sided)}",
        )
        for (dataset, backbone), (means, stds) in printed.items()
        for one_sided in (False, True)
        for eps, mean, std in zip(_BUDGETS[dataset], means, stds, strict=True)
    ]
    title = "Solitude, table 3: private features and topology"
    return PublishedTable("solitude-3", title, "solitude", tuple(cells), remark=_SIDES, axis="eps_a")


def _both() -> Iterator[tuple[str, str, bool]]:
    for dataset in _BUDGETS:
        for backbone in ("gcn", "sage"):
            for one_sided in (False, True):
                yield dataset, backbone, one_sided


def _figure_4() -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"{backbone}, eps_x {eps_x:g}, eps_a {eps_a:g}, {_mode(one_sided)}",
            _settings(eps_a, backbone, one_sided, epsilon_features=eps_x),
            condition=_condition(one_sided),
            at=eps_a,
            panel=f"{dataset}, {backbone}, {_mode(one_sided)}",
            series=f"eps_x {eps_x:g}",
        )
        for dataset, backbone, one_sided in _both()
        for eps_x in (0.5, 1.0, 2.0)
        for eps_a in _BUDGETS[dataset]
    ]
    return PublishedTable(
        "solitude-fig4",
        "Solitude, figure 4: both budgets",
        "solitude",
        tuple(cells),
        remark=_SIDES,
        statement="Accuracy rises with both budgets: with eps_a, and for a fixed eps_a with the features' eps_x.",
        axis="eps_a",
        beside=("structure_only", "structure"),
    )


def _figure_5() -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"{backbone}, {rate:.0%} labelled, {_mode(one_sided)}",
            _settings(8.0, backbone, one_sided),
            condition=_condition(one_sided),
            at=rate,
            panel=f"{dataset}, {backbone}",
            series=_mode(one_sided),
            protocol={"label_rate": rate},
        )
        for dataset, backbone, one_sided in _both()
        for rate in (0.1, 0.2, 0.3, 0.4, 0.5)
    ]
    return PublishedTable(
        "solitude-fig5",
        "Solitude, figure 5: share of labelled nodes, eps_x 1 and eps_a 8",
        "solitude",
        tuple(cells),
        remark=_SIDES + " The paper does not say at which budgets; ours are eps_x 1 and eps_a 8.",
        statement="Accuracy consistently increases with the share of labelled nodes on all datasets.",
        axis="label rate",
        beside=("structure_only", "structure", "features_only"),
    )


TABLES = (_table_2(), _table_3(), _figure_4(), _figure_5())
