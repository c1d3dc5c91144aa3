"""Variants by name, and the package alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from privet.errors import InvalidParameter
from privet.vdaf import VARIANTS, variant

ALONE = """
import sys
import privet.vdaf, privet.vdaf.hpke
loaded = {name.split(".")[1] for name in sys.modules if name.startswith("privet.")}
print(*sorted(loaded), "torch" in sys.modules)
"""
WITHOUT = """
import sys
sys.modules["numba"] = None
import privet.vdaf
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("Prio3Median", {}, f"circuit must be one of {', '.join(VARIANTS)}, not Prio3Median."),
        ("Prio3Sum", {"length": 3}, "Prio3Sum has no parameter 'length'; it has max_measurement, shares."),
        ("Prio3Histogram", {"length": 3}, "Prio3Histogram needs chunk_length."),
    ],
)
def test_what_is_no_variant_is_refused(name: str, parameters: dict[str, int], sentence: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        variant(name, **parameters)
    assert str(caught.value) == sentence


def test_the_package_is_imported_alone() -> None:
    assert run(ALONE).stdout.split() == ["errors", "extras", "vdaf", "False"]


def test_a_missing_library_is_told_with_its_extra() -> None:
    assert "privet.vdaf needs the extra 'sums': pip install 'privet[sums]'." in run(WITHOUT).stderr
