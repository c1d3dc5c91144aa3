from __future__ import annotations

import pytest
import torch

from privet.graph.pages import empty, is_large


@pytest.mark.parametrize(("rows", "large"), [(10, False), (1 << 20, True)])
def test_memory_of_either_kind_can_be_written_and_read(rows: int, large: bool) -> None:
    matrix = empty(rows, 8, torch.float32)
    assert matrix.shape == (rows, 8)
    assert is_large(matrix) == large
    matrix.fill_(1.5)
    assert matrix.sum().item() == 1.5 * 8 * rows
    view = matrix[-1]
    del matrix
    assert view.tolist() == [1.5] * 8  # the mapping lives as long as what looks into it
