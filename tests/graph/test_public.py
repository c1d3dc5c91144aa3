"""What the package offers."""

from __future__ import annotations

import privet.graph


def test_names_are_sorted_and_exist() -> None:
    assert sorted(privet.graph.__all__) == privet.graph.__all__
    assert all(hasattr(privet.graph, name) for name in privet.graph.__all__)
