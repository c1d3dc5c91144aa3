"""Checks that every mechanism must pass: its guarantee by exact enumeration, and its program against its statements.

Statistical checks use fixed seeds; each says with which probability a correct mechanism would fail for another seed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.auditing import Enumeration, audit
from privet.auditing.local.drawing import ALARM, draw
from privet.mechanisms import Bits, Mechanism, NeighbourReports, Reports, SeededBits
from privet.mechanisms.core.shapes import ListShape, SymbolShape
from privet.release.answers import Answer
from privet.release.screening import screen_reports

__all__ = [
    "check_bytes",
    "check_distribution",
    "check_guarantee",
    "check_influence",
    "check_likelihood",
    "check_mechanism",
    "check_moments",
    "check_parameters",
    "check_repeatable",
    "check_screening",
    "check_sparse_input",
    "check_tightness",
    "require",
]


def check_mechanism(
    mechanism: Mechanism,
    values: Any,
    *,
    truth: Any = None,
    estimated: NDArray[np.bool_] | None = None,
    tight: bool = False,
) -> None:
    """Run every check on a mechanism whose domain is small enough to list its reports.

    Args:
        mechanism: An instance with few coordinates and few symbols.
        values: Three or more people's valid inputs, one row each; for a mechanism that is personal, row i is node i's.
        truth: The expectation of the estimate for the first row; the row itself by default.
        estimated: The entries of the estimate that are unbiased; all by default.
        tight: True if the mechanism spends all that it claims, so that a claim 1 % smaller must be refuted.
    """
    value = values[0]
    found = check_guarantee(mechanism)
    if tight:
        check_tightness(mechanism, found)
    check_parameters(mechanism)
    check_distribution(mechanism, values)
    check_moments(mechanism, value, truth=truth, estimated=estimated)
    check_likelihood(mechanism, value)
    check_screening(mechanism, value)
    check_repeatable(mechanism, values)
    check_bytes(mechanism, values)
    check_influence(mechanism, values)
    if np.ndim(values) == 2:
        check_sparse_input(mechanism, values)


def check_guarantee(mechanism: Mechanism) -> Enumeration:
    """Compare every report's stated probabilities under adjacent inputs with the promise, in rational arithmetic.

    Returns:
        What was found, for :func:`check_tightness`.
    """
    result = audit(mechanism, draws=0)
    require(result.holds, f"{mechanism.name} promises epsilon {result.claim}, but {result.worst_pair} show more")
    claimed = mechanism.parameters().get("epsilon")
    require(result.claim == claimed, f"{mechanism.name} is declared with epsilon {claimed} and promises {result.claim}")
    return result


def check_tightness(mechanism: Mechanism, found: Enumeration | None = None) -> None:
    """Refute a claim that is 1 % smaller, so that the audit is known to look in the right places.

    Args:
        found: What an audit of its own claim found; where delta is 0 this shows the largest loss of all pairs, and
            nothing needs to be listed again (default: audit the smaller claim).
    """
    claim = mechanism.guarantee()
    if found is not None and not claim.delta:
        tight = found.epsilon > 0.99 * claim.epsilon
    else:
        tight = not audit(mechanism, replace(claim, epsilon=0.99 * claim.epsilon), draws=0).holds
    require(tight, f"{mechanism.name} does not spend the last percent of its epsilon {claim.epsilon}")


def check_distribution(mechanism: Mechanism, values: Any, bits: Bits | None = None, *, alarm: float = ALARM) -> None:
    """Compare drawn reports with the stated distributions, 20,000 for each input, by exact binomial tests.

    Args:
        values: Inputs to try beside those that the mechanism names, one row each.
        bits: The source of randomness (default: a fixed seed).
        alarm: The probability with which a correct mechanism fails, for bits that are not seeded.
    """
    rows = [(row, user) if mechanism.personal else row for user, row in enumerate(values)]
    found = draw(mechanism, rows, alarm=alarm, bits=bits)
    require(found.holds, f"{mechanism.name} draws with another distribution than it states. {found.problem}")


def check_moments(
    mechanism: Mechanism, value: Any, *, truth: Any = None, estimated: NDArray[np.bool_] | None = None
) -> None:
    """Compare mean and variance of 40,000 estimates with what is stated; a correct mechanism fails one in 10^7."""
    times = 40_000
    expected = np.atleast_1d(np.asarray(value if truth is None else truth, dtype=np.float64))
    chosen = np.ones(expected.shape, dtype=np.bool_) if estimated is None else estimated
    found = mechanism.estimate(_repeated(mechanism, value, times, SeededBits(5))).dense()[:, chosen]
    stated = mechanism.variance(_rows(value, 1))[0][chosen]
    error = np.abs(found.mean(axis=0) - expected[chosen])
    require((error <= 5.5 * np.sqrt(stated / times)).all(), f"the estimate of {mechanism.name} is biased by {error}")
    squares = (found - expected[chosen]) ** 2
    gap = np.abs(squares.mean(axis=0) - stated)
    wrong = f"{mechanism.name} states a variance of {stated}; {squares.mean(axis=0)} was measured"
    require((gap <= 5.5 * squares.std(axis=0) / math.sqrt(times) + 1e-9).all(), wrong)


def check_likelihood(mechanism: Mechanism, value: Any) -> None:
    """Compare ``log_likelihood`` with the exact distribution, to nine digits."""
    reports = _repeated(mechanism, value, 20, SeededBits(2))
    exact = mechanism.exact_distribution(value)
    expected = [math.log(float(sum(exact[mechanism.report_key(reports, row)])) / 2) for row in range(20)]
    found = mechanism.log_likelihood(reports, _rows(value, 20))
    require(np.allclose(found, expected, rtol=1e-9, atol=0), f"the log likelihood of {mechanism.name} is another one")


def check_screening(mechanism: Mechanism, value: Any) -> None:
    """Compare what is stated for the screening of reports with the exact distribution; honest reports must pass it.

    Peaks and p-values are checked exactly, for the reports among 2,000 that differ; a correct mechanism fails the
    tests of their shares once in 10^6.
    """
    reports = _repeated(mechanism, value, 2000, SeededBits(4))
    rows = np.array(list({mechanism.report_key(reports, row): row for row in range(len(reports))}.values()))
    different, exact = reports.take(rows), mechanism.exact_distribution(value)
    chances = np.array([float(exact[mechanism.report_key(reports, int(row))][0]) for row in rows])
    peaks = mechanism.log_peaks(different)
    below = peaks is not None and (peaks < np.log(chances) - 1e-9).any()
    require(not below, f"{mechanism.name} states a bound below a report's probability")
    alone = mechanism.p_values(different)
    for level in np.unique(alone):
        found = chances[alone <= level].sum()
        require(found <= level * (1 + 1e-9), f"p-values of {mechanism.name} up to {level} have probability {found}")
    tests, _ = screen_reports(mechanism.name, mechanism, Answer(np.arange(len(reports)), reports), len(reports))
    for test in tests:
        require(test.p_value > 1e-6, f"honest reports of {mechanism.name} fail the screening: {test.finding}")


def check_parameters(mechanism: Mechanism) -> None:
    """Make the mechanism again from its own description, as a manifest does."""
    parameters = mechanism.to_dict()
    name = parameters.pop("mechanism")
    require(name == mechanism.name, f"{mechanism.name} calls itself {name} in its description")
    require(type(mechanism)(**parameters) == mechanism, f"the description of {mechanism.name} makes another mechanism")


def check_repeatable(mechanism: Mechanism, values: Any) -> None:
    """Perturb twice from the same bits: reports, parameters, promise and input stay the same."""
    kept, before, promised = np.array(values, copy=True), mechanism.to_dict(), mechanism.guarantee()
    first = _perturb(mechanism, values, SeededBits(3))
    mechanism.estimate(first)
    _perturb(mechanism, values, SeededBits(9))
    again = _perturb(mechanism, values, SeededBits(3))
    require(again.to_bytes() == first.to_bytes(), f"{mechanism.name} reports otherwise when it is called again")
    same = mechanism.to_dict() == before and mechanism.guarantee() == promised
    require(same, f"{mechanism.name} changes its parameters or its promise when it is called")
    require(bool((kept == values).all()), f"{mechanism.name} changes the values that it is given")


def check_bytes(mechanism: Mechanism, values: Any) -> None:
    """Pack reports and read them again; rows can be taken alone, and the shape's columns make the same reports."""
    reports = _perturb(mechanism, values, SeededBits(1))
    again = type(reports).from_bytes(reports.to_bytes())
    require(again == mechanism.validate(reports), f"reports of {mechanism.name} are others after a round trip")
    alone = reports.take(np.array([2, 0]))
    same = mechanism.report_key(alone, 0) == mechanism.report_key(reports, 2)
    require(same, f"a row of {mechanism.name} taken alone is another report")
    shape = mechanism.shape
    joined = shape.join(shape.split(reports), np.arange(len(reports)))
    require(joined == reports, f"the columns of {mechanism.name} make other reports")


def check_sparse_input(mechanism: Mechanism, values: Any) -> None:
    """Give the same values dense and in three sparse forms: from the same bits the reports are the same bytes."""
    dense = _perturb(mechanism, values, SeededBits(7)).to_bytes()
    for form in (sp.csr_array, sp.coo_array, sp.csc_matrix):
        found = _perturb(mechanism, form(values), SeededBits(7)).to_bytes()
        require(found == dense, f"{mechanism.name} reports otherwise for a {form.__name__} of the same values")


def check_influence(mechanism: Mechanism, values: Any) -> None:
    """Compare the stated influence, and the strongest reports, with all reports, or with some where there are many."""
    worst = mechanism.worst_values()
    honest = [_perturb(mechanism, each, SeededBits(4)).take(np.array([0])) for each in (values, worst)]
    stated, found = mechanism.influence(), 0.0
    for one in honest:
        every = mechanism.validate(_alternatives(mechanism, one))
        estimates = mechanism.estimate(every).dense()
        found = max(found, float((estimates.max(axis=0) - estimates.min(axis=0)).max()))
        directions = np.random.default_rng(0).normal(size=(16, estimates.shape[1]))
        best = mechanism.strongest(directions, one.take(np.zeros(16, dtype=np.int64)))
        reached = (mechanism.estimate(mechanism.validate(best)).dense() * directions).sum(axis=1)
        furthest = (estimates @ directions.T).max(axis=0)
        short = bool((reached < furthest - 1e-5 * np.abs(furthest) - 1e-6).any())
        require(not short, f"a report of {mechanism.name} moves an estimate further than its strongest")
    require(found <= stated * (1 + 1e-5), f"a liar moves an estimate of {mechanism.name} by {found}, not {stated}")
    require(found >= stated * (1 - 1e-5), f"no liar moves an estimate of {mechanism.name} by {stated}, only by {found}")


def _alternatives(mechanism: Mechanism, one: Any) -> Any:
    """Return all reports that could have come instead of one, or the ends of the alphabet and 2,000 drawn reports."""
    shape = mechanism.shape
    if isinstance(shape, ListShape):
        user = 0 if one.users is None else int(one.users[0])
        others = [each for each in range(shape.num_nodes) if each != user]
        lists = [each for size in range(len(others) + 1) for each in itertools.combinations(others, size)]
        starts = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
        named = np.array([node for each in lists for node in each], dtype=np.int32)
        every = NeighbourReports(shape.num_nodes, starts, named, np.full(len(lists), user))
        return every.take(np.flatnonzero(mechanism.possible(every)))
    columns = mechanism.estimate(one).shape[1]
    ends = np.concatenate([np.eye(columns), -np.eye(columns)])
    strong = mechanism.strongest(ends, one.take(np.zeros(len(ends), dtype=np.int64)))
    drawn = mechanism.uniform(one.take(np.zeros(2000, dtype=np.int64)), SeededBits(5))
    listed = _listed(shape) if shape.dtype.itemsize == 1 else []
    symbols, indices = [strong.symbols, drawn.symbols], [strong.coordinates, drawn.coordinates]
    for subset, alphabet in listed:
        products = np.array(list(itertools.product(alphabet, repeat=shape.width)), dtype=shape.dtype)
        symbols.append(products)
        indices.append(np.repeat(np.array([subset], dtype=np.int32), len(products), axis=0))
    joined = None if shape.width == shape.dimension else np.concatenate(indices)
    reports = Reports(shape.dimension, np.concatenate(symbols), joined)
    fine = mechanism.possible(reports) & _alike(mechanism, reports, one)
    return reports.take(np.flatnonzero(fine))


def _listed(shape: SymbolShape) -> list[tuple[tuple[int, ...], range]]:
    """Return each subset of coordinates with a range of symbols, if they make up to 60,000 reports."""
    subsets = list(itertools.combinations(range(shape.dimension), shape.width))
    size = max((size for size in (256, 16, 6) if len(subsets) * size**shape.width <= 60_000), default=0)
    return [(subset, range(-size // 2, size // 2)) for subset in subsets] if size else []


def _alike(mechanism: Mechanism, reports: Reports, one: Any) -> NDArray[np.bool_]:
    """Tell which reports are alike in what is public: such as have the same ones among their alternatives."""
    drawn = mechanism.uniform(one.take(np.zeros(2000, dtype=np.int64)), SeededBits(6))
    if reports.symbols.shape[1] > 1:
        return np.ones(len(reports), dtype=np.bool_)
    return np.asarray(np.isin(reports.symbols[:, 0], drawn.symbols[:, 0]) | (reports.symbols.itemsize > 1))


def require(condition: bool, sentence: str) -> None:
    """Raise AssertionError with a sentence unless a condition holds, also where Python runs without assertions."""
    if not condition:
        raise AssertionError(sentence)


def _rows(value: Any, times: int) -> NDArray[Any]:
    return np.repeat(np.atleast_2d(value) if np.ndim(value) else np.array([value]), times, axis=0)


def _perturb(mechanism: Mechanism, values: Any, bits: Bits, users: NDArray[np.int64] | None = None) -> Any:
    if not mechanism.personal:
        return mechanism.perturb(values, bits)
    nodes = np.arange(values.shape[0]) if users is None else users
    return mechanism.perturb(values, bits, users=nodes)  # type: ignore[call-arg]


def _repeated(mechanism: Mechanism, value: Any, times: int, bits: Bits) -> Any:
    """Draw many independent reports of one person, node 0."""
    return _perturb(mechanism, _rows(value, times), bits, np.zeros(times, dtype=np.int64))
