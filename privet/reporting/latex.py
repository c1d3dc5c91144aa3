"""Results as a LaTeX table for a paper: mean and standard deviation, with booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from privet.data.files import atomic_file
from privet.errors import InvalidParameter
from privet.evaluation.results import Figures, Result
from privet.privacy.rounding import at_most
from privet.reporting.curves import marks, shared_controls

__all__ = ["latex_table", "write_latex"]

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {each: f"\\{each}" for each in "&%$#_{}"}


def write_latex(results: Sequence[Result], path: Path) -> None:
    """Write the table to a file, all of it or nothing."""
    text = latex_table(results)
    with atomic_file(path) as file:
        file.write_text(text, encoding="utf-8")


def latex_table(results: Sequence[Result]) -> str:
    r"""Return a table with a row for each system and budget and a column for each dataset.

    Below the systems stand the controls that all results of a dataset share or, where there is one system, all of its
    controls. It needs ``\usepackage{booktabs}``.

    Args:
        results: Results in one metric.
    """
    if not results:
        raise InvalidParameter("A table needs at least one result.")
    metrics = list(dict.fromkeys(each.metric for each in results))
    if len(metrics) > 1:
        found = " and ".join(metrics)
        raise InvalidParameter(f"A table has one metric; these results have {found}. Make a table of each.")
    datasets = list(dict.fromkeys(each.dataset for each in results))
    own: dict[tuple[str, ...], dict[str, Figures]] = {}
    for each, mark in zip(results, marks(results), strict=True):
        promise = each.guarantee
        spent = at_most(promise.epsilon) + (f", $\\delta$ {at_most(promise.delta, 2)}" if promise.delta else "")
        row = own.setdefault((_escaped(each.system + mark), spent, _escaped(str(promise.unit))), {})
        row[each.dataset] = each.figures
    controls: dict[str, dict[str, Figures]] = {}
    for dataset in datasets:
        for figures in shared_controls([each for each in results if each.dataset == dataset]).values():
            controls.setdefault(figures.title, {})[dataset] = figures
    lines = [[*key, *_cells(row, datasets)] for key, row in own.items()]
    below = [
        [rf"\multicolumn{{3}}{{l}}{{{_escaped(title)}}}", *_cells(row, datasets)] for title, row in controls.items()
    ]
    rule = [r"\midrule"] if below else []
    head = ["System", r"$\varepsilon$", "Unit", *map(_escaped, datasets)]
    seeds = sorted({len(each.seeds) for each in results})
    spread = "mean and standard deviation" if seeds[-1] > 1 else "one seed"
    told = f"{metrics[0][:1].upper()}{metrics[0][1:]}, {spread}"
    told += f" over {' or '.join(map(str, seeds))} seeds" if seeds[-1] > 1 else ""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(told)}. $\varepsilon$ is the true one.}}",
            r"\label{tab:privet}",
            rf"\begin{{tabular}}{{lll{'r' * len(datasets)}}}",
            r"\toprule",
            *map(_row, [head]),
            r"\midrule",
            *map(_row, lines),
            *rule,
            *map(_row, below),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cells(row: dict[str, Figures], datasets: Sequence[str]) -> list[str]:
    return [_figure(row[dataset]) if dataset in row else "--" for dataset in datasets]


def _figure(figures: Figures) -> str:
    return f"${figures.mean:.1f}$" if figures.std is None else f"${figures.mean:.1f} \\pm {figures.std:.1f}$"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    r"""Write a text so that LaTeX prints it as it is.

    >>> _escaped("pyg:A_B & 5 %")
    'pyg:A\\_B \\& 5 \\%'
    """
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _SPECIAL[found[0]], text)
