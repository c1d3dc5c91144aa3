"""Lanes of sub-graphs are tried with two chunks, as they are where features are many, and not with 48.

For tests of something else: nearly all time of a small training goes into those tries. What lanes themselves promise is
tested with all of them, in ``tests/models/subgraphs/test_gradients.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from privet.models.subgraphs import gradients

__all__ = ["few_tries"]


@pytest.fixture(scope="module")
def few_tries() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradients, "_TRIES", 2)
        yield
