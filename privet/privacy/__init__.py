"""Guarantees with their units, and how they compose."""

from privet.privacy.guarantee import Guarantee, Unit, compose, joint

__all__ = ["Guarantee", "Unit", "compose", "joint"]
