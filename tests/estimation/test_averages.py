"""The papers' bounds on averages hold in simulation, are of the right size, and are told by privet account."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.accounts.account import account
from privet.errors import InvalidParameter
from privet.estimation.averages import average_error, raw_output_error
from privet.mechanisms import HDS, Laplace, MultiBit, Piecewise, SeededBits
from privet.mechanisms.core.coordinates import CoordinateMechanism

TRIALS, FEATURES, NEIGHBOURS = 400, 6, 15
KINDS = [MultiBit, HDS, Laplace, Piecewise]


def made(kind: type[CoordinateMechanism], epsilon: float = 2.0) -> CoordinateMechanism:
    return kind(epsilon=epsilon, dimension=FEATURES, low=-1.0, high=3.0)


def errors(mechanism: CoordinateMechanism, weights: np.ndarray, raw: bool = False) -> np.ndarray:
    """Return the errors of averages over neighbours who hold the worst values, in units of the range."""
    worst = np.asarray(mechanism.worst_values())
    values = np.tile(worst[:1], (TRIALS * len(weights), 1))
    reports = mechanism.perturb(values, SeededBits(7))
    estimate = (mechanism.raw_output if raw else mechanism.estimate)(reports).dense()
    averages = (estimate - values).reshape(TRIALS, len(weights), FEATURES)
    return np.einsum("tnf,n->tf", averages, weights) / 4.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_deviation_is_that_of_simulated_averages(kind: type[CoordinateMechanism]) -> None:
    """2,400 errors: a true ratio of 1 leaves [0.88, 1.12] with probability below 1e-6 unless tails are very heavy."""
    expected = average_error(made(kind), NEIGHBOURS).deviation
    found = errors(made(kind), np.full(NEIGHBOURS, 1 / NEIGHBOURS))
    assert math.sqrt(float((found**2).mean())) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_no_feature_exceeds_the_bound(kind: type[CoordinateMechanism], epsilon: float) -> None:
    """At a failure of 0.5 at most 200 of 400 may exceed it, and a tenth of the bound is exceeded nearly always.

    Of Laplace a three-hundredth: its B is where its noise is cut off, 45 scales away.
    """
    weights = np.random.default_rng(0).dirichlet(np.ones(NEIGHBOURS))
    bound = average_error(made(kind, epsilon), weights=weights, failure=0.5).bound
    largest = np.abs(errors(made(kind, epsilon), weights)).max(axis=1)
    assert (largest > bound).mean() <= 0.5
    assert (largest > bound / (300 if kind is Laplace else 10)).mean() > 0.9


def test_it_has_the_order_of_proposition_3_6() -> None:
    """sqrt(d log(d / delta)) / (epsilon sqrt(n)) for small epsilon and many neighbours."""

    def bound(epsilon: float, features: int, neighbours: float, failure: float = 0.05) -> float:
        mechanism = MultiBit(epsilon=epsilon, dimension=features, low=0.0, high=1.0)
        return average_error(mechanism, neighbours, failure=failure).bound

    many = 1e8
    assert bound(0.1, 100, 4 * many) == pytest.approx(bound(0.1, 100, many) / 2, rel=0.01)
    assert bound(0.05, 100, many) == pytest.approx(2 * bound(0.1, 100, many), rel=0.01)
    order = math.sqrt(4 * math.log(2 * 400 / 0.05) / math.log(2 * 100 / 0.05))
    assert bound(0.1, 400, many) == pytest.approx(order * bound(0.1, 100, many), rel=0.01)


def test_theorem_3_3_bounds_a_bias() -> None:
    """Of raw output at epsilon 1 and 20 of 1,433 features nearly the whole bound is bias, and no neighbours help."""
    mechanism = HDS(epsilon=1.0, dimension=1433, low=0.0, high=1.0, sample=20)
    few, many = (raw_output_error(mechanism, n).bound for n in (20, 2e6))
    assert many > 0.49
    assert few < 2 * many
    assert mechanism.shrinkage < 0.02
    weights = np.full(NEIGHBOURS, 1 / NEIGHBOURS)
    assert (np.abs(errors(made(HDS), weights, raw=True)) <= raw_output_error(made(HDS), NEIGHBOURS).bound).mean() > 0.95


def test_an_account_tells_it() -> None:
    told = account("lpgnn", {"epsilon_features": 1.0, "dimension": 1433, "degree": 20})
    mechanism = MultiBit(epsilon=1.0, dimension=1433, low=0.0, high=1.0)
    assert told.average == average_error(mechanism, 20)
    assert told.to_dict()["average"]["deviation"] == told.average.deviation
    assert account("lpgnn", {"epsilon_features": 1.0}).average is None


@pytest.mark.parametrize(("name", "degree"), [("inquiry", 20), ("rgnn", 20), ("lpgnn", 0)])
def test_what_has_no_such_average_is_refused(name: str, degree: int) -> None:
    with pytest.raises(InvalidParameter, match=r"'degree'|neighbours"):
        account(name, {"epsilon_features": 1.0, "degree": degree})


@pytest.mark.parametrize("given", [{}, {"neighbours": 3, "weights": [1.0]}, {"neighbours": 3, "failure": 1.0}])
def test_bad_questions_are_refused(given: dict) -> None:
    with pytest.raises(InvalidParameter):
        average_error(made(MultiBit), **given)
