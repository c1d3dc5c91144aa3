"""The checks can be used without a test framework; tests/mechanisms/test_conformance.py runs them on all mechanisms."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from privet.mechanisms import Bits, MultiBit, Reports
from privet.testing import check_mechanism, mechanisms
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
    program = "import sys; import privet.testing; raise SystemExit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    optimised = {"__name__": "as python -O compiles it"}  # which would compile torch, too
    source = Path(mechanisms.__file__)
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec", optimize=1), optimised)
    for each in (require, optimised["require"]):
        each(True, "nothing")
        with pytest.raises(AssertionError, match=r"^said so$"):
            each(False, "said so")
