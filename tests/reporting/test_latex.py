from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from some_results import some_result

from privet.errors import InvalidParameter
from privet.reporting.latex import latex_table, write_latex


def test_a_table_has_means_deviations_and_shared_controls(tmp_path: Path) -> None:
    one = some_result(1.0)
    results = [one, replace(one, dataset="town_2"), replace(one, system="inquiry")]
    table = latex_table(results)
    assert r"System & $\varepsilon$ & Unit & village & town\_2 \\" in table
    assert r"lpgnn & 1 & feature vector & $81.0 \pm 1.0$ & $81.0 \pm 1.0$ \\" in table
    assert r"inquiry & 1 & feature vector & $81.0 \pm 1.0$ & -- \\" in table
    assert r"\multicolumn{3}{l}{the structure alone} & $81.0 \pm 1.0$ & $81.0 \pm 1.0$ \\" in table
    assert table.count("{") == table.count("}")
    assert [table.count(rf"\{rule}") for rule in ("toprule", "midrule", "bottomrule")] == [1, 2, 1]
    widths = {len(re.split(r"(?<!\\)&", line)) for line in table.splitlines() if line.startswith(("System", "lpgnn"))}
    assert widths == {5}
    write_latex(results, tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == table


def test_one_seed_has_no_deviation_and_twins_are_told_apart() -> None:
    one = some_result(1.0, values=(80.0,))
    assert "$80.0$" in latex_table([one])
    twins = latex_table([one, replace(one, settings={**one.settings, "backbone": "sage"})])
    assert "lpgnn (backbone none)" in twins
    assert "lpgnn (backbone sage)" in twins


def test_nothing_and_two_metrics_are_one_sentence() -> None:
    with pytest.raises(InvalidParameter, match="at least one result"):
        latex_table([])
    with pytest.raises(InvalidParameter, match=r"accuracy \(%\) and AUC\. Make a table of each"):
        latex_table([some_result(1.0), replace(some_result(2.0), metric="AUC")])
