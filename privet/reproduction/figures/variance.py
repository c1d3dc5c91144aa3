"""Worst-case variance of what the server makes of one feature: PrivGE's figure 1. Exact; no data, no randomness."""

from __future__ import annotations

import numpy as np

from privet.data import Graph, Schema
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Laplace, MultiBit, Piecewise, SquareWave
from privet.reproduction.measures import Measurement
from privet.systems import LocalSystem, PrivGE

__all__ = ["VARIANCE_KINDS", "measure_variance", "worst_variance"]

VARIANCE_KINDS = ("private", "square_wave_unbiased", "piecewise", "multi_bit", "laplace")


def measure_variance(kind: str, system: LocalSystem, graph: Graph, seed: int) -> Measurement:
    """The largest variance over all values of a feature, at the system's budget; the seed is not used."""
    if not isinstance(system, PrivGE):
        raise InvalidParameter("system", "privge", system.name)
    if graph.schema is None or graph.schema.dimension != 1:
        raise InvalidData("graph given to measure_variance", "with a schema of one feature", graph.schema)
    return {"test": worst_variance(kind, graph.schema, system.epsilon_features)}


def worst_variance(kind: str, schema: Schema, epsilon: float) -> float:
    """max_x Var[x' | x]: of the unbiased estimate, and for ``private`` of the square wave's raw output.

    The raw output shrinks values towards the middle of the range by slope / steps, and its deviation with them.
    """
    values = np.linspace(schema.low, schema.high, 401)
    match kind:
        case "private" | "square_wave_unbiased":
            wave = SquareWave.declare(schema, epsilon=epsilon)
            shrunk = wave.slope / wave.steps if kind == "private" else 1.0
            return float(wave.variance(values).max()) * shrunk**2
        case "piecewise":
            return float(Piecewise.declare(schema, epsilon=epsilon).variance(values).max())
        case "multi_bit":
            return float(MultiBit.declare(schema, epsilon=epsilon, sample=1).variance(values).max())
        case "laplace":
            return float(Laplace.declare(schema, epsilon=epsilon).variance(values).max())
    raise InvalidParameter("kind", "one of " + ", ".join(VARIANCE_KINDS), kind)
