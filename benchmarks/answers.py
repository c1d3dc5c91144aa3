"""How often the 95 % intervals of a study's results hold the truth, for every mechanism and kind of question.

``python -m benchmarks answers`` prints the share of intervals that held it, and the worst figure of each question.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.simulated_answers import GROUPS, LINKS, QUESTIONS, Town


def run(quick: bool = False) -> dict[str, Any]:
    """Simulate many studies of each kind.

    Args:
        quick: Simulate a tenth of them.
    """
    times = 200 if quick else 2000
    found: dict[str, Any] = {"benchmark": "answers", "studies": times}
    for name, world in QUESTIONS.items():
        found[name] = {people: _shares(world.held(people, times, seed=1), times) for people in (100, 1000)}
    for name, held in GROUPS.items():
        found[name] = {people: _shares(held(people, times, 1), times) for people in (300, 1000)}
    towns = [Town.draw(200, np.random.default_rng(seed)) for seed in range(times // 4)]
    for name, one in LINKS.items():
        held_all = sum(one(town, seed) for seed, town in enumerate(towns))
        found[name] = {200: _shares(np.asarray(held_all), len(towns))}
    return found


def _shares(held: Any, times: int) -> dict[str, float]:
    """Return the share of intervals that held the truth: of all figures, and of the worst one."""
    return {"all": round(float(held.mean()) / times, 3), "worst": round(float(held.min()) / times, 3)}
