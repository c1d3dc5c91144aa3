from __future__ import annotations

import pytest

from privet.errors import InvalidParameter
from privet.privacy.accounting.delta import default_delta


def test_it_is_the_paper_s() -> None:
    assert default_delta(22_470) == 22_470**-1.1


@pytest.mark.parametrize("num_nodes", [1, 2, 15])
def test_a_tiny_graph_must_be_given_one(num_nodes: int) -> None:
    with pytest.raises(InvalidParameter, match=f"The 'delta' parameter of here must be given for .* {num_nodes} nodes"):
        default_delta(num_nodes, "here")
