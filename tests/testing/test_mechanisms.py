"""The checks can be used without a test framework; tests/mechanisms/test_conformance.py runs them on all mechanisms."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from privet.mechanisms import Bits, MultiBit, Reports
from privet.testing import check_mechanism
from privet.testing.mechanisms import check_bytes, check_parameters, check_repeatable, require

VALUES = np.array([[0.5, -0.4], [0.1, 0.2], [-1.0, 1.0]])


@dataclass(frozen=True, kw_only=True)
class Renamed(MultiBit):
    """Describes itself as another mechanism."""

    def to_dict(self):
        return {**super().to_dict(), "mechanism": "hds"}


@dataclass(frozen=True, kw_only=True)
class Overwriting(MultiBit):
    """Clips the caller's own array."""

    def perturb(self, values, bits: Bits) -> Reports:
        reports = super().perturb(values, bits)
        values[0, 0] = 0.0
        return reports


@dataclass(frozen=True, kw_only=True)
class Wide(MultiBit):
    """Sends symbols that it would not accept."""

    def perturb(self, values, bits: Bits) -> Reports:
        reports = super().perturb(values, bits)
        return Reports(reports.dimension, reports.symbols.astype(np.int16), reports.indices)


def test_a_sound_mechanism_passes() -> None:
    check_mechanism(MultiBit(epsilon=1.0, dimension=2, low=-1.0, high=1.0), VALUES, tight=True)


def test_broken_mechanisms_are_refused() -> None:
    fields = {"epsilon": 1.0, "dimension": 2, "low": -1.0, "high": 1.0}
    with pytest.raises(AssertionError, match="calls itself hds"):
        check_parameters(Renamed(**fields))
    with pytest.raises(AssertionError, match=r"called again|changes the values"):
        check_repeatable(Overwriting(**fields), VALUES.copy())
    with pytest.raises(Exception, match="int8 symbols"):
        check_bytes(Wide(**fields), VALUES)


def test_requirements_hold_without_assertions_and_without_pytest() -> None:
    program = (
        "import sys; import privet.testing; from privet.testing.mechanisms import require; "
        "assert 'pytest' not in sys.modules\n"
        "if 'pytest' in sys.modules: raise SystemExit(3)\n"
        "try: require(False, 'said so')\n"
        "except AssertionError as error: raise SystemExit(str(error) != 'said so')\n"
        "raise SystemExit(2)"
    )
    assert subprocess.run([sys.executable, "-O", "-c", program], check=False).returncode == 0
    require(True, "nothing")
