"""A mechanism, a system and a backbone for privet, from outside of privet."""

from privet_three_point.mechanism import ThreePoint

__all__ = ["ThreePoint"]
