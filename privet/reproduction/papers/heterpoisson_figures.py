"""HeterPoisson's figures (Xiang, Wang and Wang 2024)."""

from __future__ import annotations

from privet.reproduction.cells import Cell, PublishedTable

__all__ = ["HETERPOISSON_FIGURES"]

_EPSILONS = (2.0, 4.0, 8.0, 16.0)


def _figure_1() -> PublishedTable:
    cells = [
        Cell(
            "random-graph",
            f"{backbone}, {share:.0%} of the nodes",
            {"noise_multiplier": 0.0, "backbone": backbone},
            None,
            at=share,
            series=backbone,
            protocol={"share": share},
        )
        for backbone in ("gcn", "gin", "sage")
        for share in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    return PublishedTable(
        "heterpoisson-fig1",
        "HeterPoisson, figure 1: how far a new node moves the gradient, by its number of out-edges",
        "heterpoisson",
        tuple(cells),
        task="impact",
        remark=(
            "A random graph of 100 nodes, 10 classes and 32 features, edges with probability 0.1 (the paper does not "
            "say), a network of two layers. No privacy: this is what has to be hidden. No data needed."
        ),
        statement="The more out-edges the node has, the larger its impact.",
        axis="out-edges / nodes",
    )


def _figure_5() -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"eps {eps:g}",
            {"target_epsilon": eps, "backbone": "gcn"},
            None,
            condition="paper",
            available=dataset != "reddit",
            at=eps,
            series="Gaussian noise",
        )
        for dataset in ("amazon", "pubmed", "reddit")
        for eps in _EPSILONS
    ]
    return PublishedTable(
        "heterpoisson-fig5",
        "HeterPoisson, figure 5: Gaussian against SML noise, the paper's sampler (M = 1)",
        "heterpoisson",
        tuple(cells),
        task="node-level-noise",
        remark=(
            "Ours is Gaussian noise at a true epsilon, SML noise at the same epsilon by the paper's claim, which does "
            "not hold."
        ),
        statement=(
            "SML noise is far better than Gaussian noise in all tasks (by an accountant that cannot use the latter)."
        ),
    )


def _figure_6() -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"eps {eps:g}",
            {"target_epsilon": eps, "backbone": "gcn"},
            None,
            condition="paper",
            available=dataset != "reddit",
            at=eps,
            series="removed",
        )
        for dataset in ("facebook", "twitch", "amazon", "pubmed", "reddit")
        for eps in _EPSILONS
    ]
    return PublishedTable(
        "heterpoisson-fig6",
        "HeterPoisson, figure 6: centres are removed from the sub-graphs of others, or kept (M = 1)",
        "heterpoisson",
        tuple(cells),
        task="node-level-overlap",
        remark="Either way Gaussian noise for the same true epsilon.",
        statement="Removing them is better, since less noise is needed, above all in the most private case.",
    )


def _figure_7() -> PublishedTable:
    cells = [
        Cell(
            dataset,
            f"M {picks}, {neighbours} test neighbours",
            {
                "target_epsilon": 2.0,
                "backbone": "gcn",
                "multiplier": float(picks),
                "test_neighbours": neighbours,
            },
            None,
            available=dataset != "reddit",
            at=picks,
            series=f"{neighbours} test neighbours",
        )
        for dataset in ("amazon", "pubmed", "reddit")
        for neighbours in (13, 4, 1)
        for picks in (0, 1, 2, 3, 4)
    ]
    return PublishedTable(
        "heterpoisson-fig7",
        "HeterPoisson, figure 7: how many neighbours to sample in training (M) and in a test, at epsilon 2",
        "heterpoisson",
        tuple(cells),
        task="node-level",
        statement=(
            "At epsilon 2 small M is best, without privacy large M. More test neighbours tend to help, but on PubMed 1 "
            "to 4 are best."
        ),
        axis="M",
        kinds=("private", "non_private"),
    )


def _figure_8() -> PublishedTable:
    cells = [
        Cell(
            "facebook-size",
            f"{what}, eps {eps:g}",
            {"target_epsilon": eps},
            None,
            condition="paper",
            at=eps,
            panel={"audit": "audited epsilon", "attack": "attack accuracy (%)"}[what],
            series="Gaussian noise",
            protocol={"what": what},
        )
        for what in ("audit", "attack")
        for eps in _EPSILONS
    ]
    return PublishedTable(
        "heterpoisson-fig8",
        "HeterPoisson, figure 8: audit and membership attack with gradient canaries",
        "heterpoisson",
        tuple(cells),
        task="canaries",
        remark=(
            "Audits give an epsilon that is necessary with 95 % confidence: one above the claim breaks it. Gaussian "
            "noise at its true epsilon; SML noise at the paper's claimed one, audited by the whole vector and, as the "
            "paper did, by its projection on the canary. M = 1, Facebook's size; no data needed. The paper's audit of "
            "NDP (8c, 8d) is not repeated."
        ),
        statement=(
            "The audited epsilon is close to the claimed one at 2, with a wider gap for larger ones, and never above "
            "it; the attack is close to guessing at epsilon 2 and better at larger ones."
        ),
    )


HETERPOISSON_FIGURES = (_figure_1(), _figure_5(), _figure_6(), _figure_7(), _figure_8())
