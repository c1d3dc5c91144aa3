from __future__ import annotations

import numpy as np
import pytest
from random_releases import NODES, POPULATIONS, people

from privet.errors import InvalidData
from privet.mechanisms import MultiBit
from privet.release import PrivateData
from privet.release.asks.features import Features

NUMERIC, CATEGORICAL = POPULATIONS["numeric"], POPULATIONS["categorical"]


def person(features: object) -> PrivateData:
    return PrivateData.one(0, NODES, features, None, [])


def test_the_vector_is_given_as_it_is() -> None:
    private = people(NUMERIC, 0)
    assert Features().apply(private, MultiBit.declare(NUMERIC, epsilon=1.0)) is private.features


@pytest.mark.parametrize("features", [None, [1.0], [0.0] * 5, [0.0, 0.0, np.nan, 0.0], [0.0, 0.0, np.inf, 0.0]])
def test_one_number_a_feature_is_demanded(features: object) -> None:
    with pytest.raises(InvalidData, match="4 numbers"):
        Features().check(person(features), NUMERIC)


def test_numbers_beyond_the_range_are_clipped_later() -> None:
    Features().check(person([99.0, -99.0, 0.0, 0.0]), NUMERIC)


@pytest.mark.parametrize("wrong", [3, -1, 0.5])
def test_categories_are_those_that_were_declared(wrong: float) -> None:
    Features().check(person([1, 2, 0, 299]), CATEGORICAL)
    with pytest.raises(InvalidData, match="question 2 must be a category from 0 to 2"):
        Features().check(person([1, wrong, 0, 299]), CATEGORICAL)
