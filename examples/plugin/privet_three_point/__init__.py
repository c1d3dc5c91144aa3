"""A mechanism and a system for privet, from outside of privet."""

from privet_three_point.mechanism import ThreePoint

__all__ = ["ThreePoint"]
