from __future__ import annotations

import pytest

from privet.cli.app import BadOption
from privet.cli.run import budget_field
from privet.systems import GAP, LPGNN, HeterPoisson, Solitude


def test_which_budget_is_swept() -> None:
    assert budget_field(LPGNN, None) == "epsilon_features"
    assert budget_field(Solitude, "edges") == "epsilon_edges"
    assert budget_field(HeterPoisson, None) == "target_epsilon"
    with pytest.raises(BadOption, match="leave --of out"):
        budget_field(GAP, "labels")
    with pytest.raises(BadOption, match="features, labels, edges or person"):
        budget_field(LPGNN, "names")
    with pytest.raises(BadOption, match="no setting epsilon_edges"):
        budget_field(LPGNN, "edges")
