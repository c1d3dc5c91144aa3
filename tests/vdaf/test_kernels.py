"""Compiled code; what it computes is tested with fields and polynomials."""

from __future__ import annotations

from typing import Any

from privet.vdaf.kernels import compiled


def test_code_that_cannot_be_kept_on_disk_is_compiled_all_the_same() -> None:
    """A service may have no directory to write to; code without a file has none either."""
    scope: dict[str, Any] = {}
    exec("def twice(x):\n    return 2 * x\n", scope)
    assert compiled(scope["twice"])(4) == 8
