"""Conformance checks for mechanisms and systems, for this repository's tests and for those of other packages.

Each check is a plain function that raises AssertionError with a sentence; no test framework is needed.
"""

from privet.testing.integers import check_stated_integers
from privet.testing.mechanisms import check_mechanism
from privet.testing.systems import check_central_system, check_local_system

__all__ = ["check_central_system", "check_local_system", "check_mechanism", "check_stated_integers"]
