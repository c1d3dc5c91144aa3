from __future__ import annotations

import numpy as np
import pytest

from privet.errors import InvalidParameter
from privet.mechanisms import HDS, Piecewise, SeededBits


@pytest.mark.parametrize("kind", [HDS, Piecewise])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_second_moments_are_those_of_the_distribution(kind: type, steps: int) -> None:
    mechanism = kind(epsilon=1.0, dimension=1, low=0.0, high=1.0, steps=steps)
    for position in (0.0, 0.2, 1.0):
        symbols = mechanism._symbol_distribution(position)
        expected = float(sum(chance * symbol**2 for symbol, (chance, _) in symbols.items()))
        assert mechanism._second_moment(np.array(position)) == pytest.approx(expected, rel=1e-12)
        mean = float(sum(chance * symbol for symbol, (chance, _) in symbols.items()))
        assert mean == pytest.approx(mechanism.slope * (2 * position - 1), abs=1e-9)


def test_all_cells_can_be_reported_and_no_others() -> None:
    mechanism = HDS(epsilon=1.0, dimension=1, low=0.0, high=1.0, steps=3)
    reports = mechanism.perturb(np.full((5000, 1), 0.4), SeededBits(0))
    assert sorted(set(reports.symbols.ravel().tolist())) == list(range(1 - mechanism.cells, mechanism.cells, 2))
    assert mechanism.in_alphabet(reports.symbols).all()


@pytest.mark.parametrize("steps", [0, -3, 1 << 20, 2.5])
def test_a_bad_grid_is_refused(steps: object) -> None:
    with pytest.raises(InvalidParameter, match="steps must be an integer from 1 to 16384"):
        HDS(epsilon=1.0, dimension=1, low=0.0, high=1.0, steps=steps)  # type: ignore[arg-type]
