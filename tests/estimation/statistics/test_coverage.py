"""Intervals hold the truth as often as they say, for every mechanism and kind of question.

Each figure is estimated in 100 independent studies. Intervals that hold the truth in 94 % of all studies would fail
here with a chance below 1e-4 for another seed, over all figures of this file together (about fifty).
"""

import numpy as np
import pytest
from scipy.stats import binom
from simulated_answers import GROUPS, LINKS, QUESTIONS, Town

from privet.mechanisms import MECHANISMS

TIMES = 100
LEAST = int(binom.ppf(1e-4 / 50, TIMES, 0.94))


@pytest.mark.parametrize("name", QUESTIONS)
def test_shares_and_means(name):
    assert QUESTIONS[name].held(people=150, times=TIMES, seed=4).min() >= LEAST


@pytest.mark.parametrize("name", GROUPS)
def test_tables_by_class(name):
    assert GROUPS[name](300, TIMES, 4).min() >= LEAST


@pytest.mark.parametrize("name", LINKS)
def test_lists_and_mixing(name):
    towns = [Town.draw(80, np.random.default_rng(seed)) for seed in range(TIMES)]
    assert sum(LINKS[name](town, seed) for seed, town in enumerate(towns)).min() >= LEAST


def test_every_mechanism_is_covered():
    covered = {name.partition(",")[0] for name in (*QUESTIONS, *LINKS)}
    assert set(MECHANISMS) <= covered
