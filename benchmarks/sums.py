"""A survey by local answers, by two servers, and by a trusted holder: the error of the shares who say yes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from benchmarks._common import Target, judged
from privet.mechanisms import MultiBit, SeededBits
from privet.release import PrivateData, Sum
from privet.release.tallies import Several
from privet.release.two_servers import play_sum

PEOPLE, QUESTIONS, EPSILON = 2000, 10, 1.0
TARGETS = {"local_over_two_servers": Target(10, 10)}


def run(quick: bool = False) -> dict[str, Any]:
    """Root mean square errors of a share, in percentage points, over repeated surveys of the same people."""
    repeats = 100 if quick else 2000
    rng = np.random.default_rng(0)
    answers = (rng.random((PEOPLE, QUESTIONS)) < rng.random(QUESTIONS)).astype(float)
    people, true = PrivateData(np.arange(PEOPLE), features=answers), answers.mean(axis=0)
    wanted = Sum.calibrated(Several(QUESTIONS, ones=QUESTIONS), EPSILON, PEOPLE)
    local = {
        asked: MultiBit(epsilon=EPSILON, dimension=QUESTIONS, low=0.0, high=1.0, sample=asked)
        for asked in (1, QUESTIONS)
    }
    errors: dict[str, list[np.ndarray]] = {"two_servers": [], "central": [], "local_1_asked": [], "local_all_asked": []}
    bits = SeededBits(1)
    for _ in range(repeats):
        errors["two_servers"].append(wanted.simulated(people, bits) / PEOPLE - true)
        errors["central"].append(wanted.draw(bits) * 2.0**-wanted.shift / PEOPLE)
        for asked, mechanism in local.items():
            name = "local_1_asked" if asked == 1 else "local_all_asked"
            estimate = mechanism.estimate(mechanism.perturb(answers, bits)).dense()
            errors[name].append(estimate.mean(axis=0) - true)
    found = {name: 100 * math.sqrt(float(np.mean(np.square(each)))) for name, each in errors.items()}
    sums, reports = play_sum(wanted, people, (SeededBits(2), SeededBits(3)), least=PEOPLE)  # the real messages, once
    figures = {"local_over_two_servers": min(found["local_1_asked"], found["local_all_asked"]) / found["two_servers"]}
    return {
        "benchmark": "sums",
        "people": PEOPLE,
        "questions": QUESTIONS,
        "epsilon": EPSILON,
        "delta": wanted.guarantee().delta,
        "error_points": found,
        "error_points_of_one_run_with_messages": 100 * float(np.sqrt(np.mean((sums / reports - true) ** 2))),
        **figures,
        **judged(figures, TARGETS, quick),
    }


if __name__ == "__main__":
    print(json.dumps(run()))
