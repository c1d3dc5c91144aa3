"""Measuring systems: typed results, runs beside controls, sweeps, comparisons and a search for settings."""

from privet.evaluation.compare import Comparison, compare
from privet.evaluation.evaluate import evaluate
from privet.evaluation.results import ClassFigures, Figures, Result, SplitFacts
from privet.evaluation.sweep import Sweep, sweep, tune

__all__ = [
    "ClassFigures",
    "Comparison",
    "Figures",
    "Result",
    "SplitFacts",
    "Sweep",
    "compare",
    "evaluate",
    "sweep",
    "tune",
]
