"""Advice as a simulation could have given it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from privet.advice.plan import Advice, Way, answer, compared, pooled
from privet.advice.worlds import World
from privet.systems import LPGNN


def advice(gains: list[float], noise: float = 0.1, **changes: Any) -> Advice:
    """Advice with three worlds in which collecting gains so many points."""
    settings = LPGNN(hops=4, dropout=0.5).settings()
    best = Way("lpgnn", "multi-bit", None, {"features": 1.0}, "4", 80.0, 0.0, 0.0, settings)
    places = [
        World(homophily, signal) for signal, homophily in (("weak", "high"), ("medium", "medium"), ("strong", "low"))
    ]
    ours = [[80.0, 80.0 + noise, 80.0 - noise] for _ in gains]
    theirs = [[80.0 - gain] * 3 for gain in gains]
    rows, together = compared(places, ours, theirs, 1.0), pooled(ours, theirs)
    rival = replace(best, system="label propagation", epsilons={}, hops="", behind=1.0, margin=2.0)
    facts: dict[str, Any] = {
        "source": "edges.csv", "nodes": 9000, "edges": 100, "simulated_nodes": 2000, "simulated_degree": 9.0,
        "degree": 10.0, "features": 16, "classes": 4, "protect": "features", "budget": 1.0, "worth": 1.0, "seeds": 5,
        "homophily": {"low": {"follow": 0.5, "edges": 0.4}}, "signal": {"weak": 0.1},
        "candidates": (best, replace(best, behind=0.2, margin=0.9)), "recommended": best,
        "without": {"features": rival}, "comparison": {"features": rows}, "pooled": {"features": together},
        "collect": {"features": answer(rows, together, 1.0)}, "seconds": 1.0, "version": "0.1.0",
    }  # fmt: skip
    return Advice(**facts | changes)
