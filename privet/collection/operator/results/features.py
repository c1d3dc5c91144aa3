"""Features as readings: what reports, or a panel's open answers, say about each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.collection.study.manifest import Study
from privet.data import Categories, Interval
from privet.data.schema import Feature
from privet.estimation.statistics.findings import Scale
from privet.estimation.statistics.readings import Reading, read_answers, read_open
from privet.mechanisms import Mechanism

__all__ = ["ANSWERED", "NOT_ASKED", "SKIPPED", "FeatureReading", "reported_features", "shown_features"]

ANSWERED, SKIPPED, NOT_ASKED = "answered", "prefer not to say", "does not apply"


class FeatureReading(NamedTuple):
    """The answers to one feature, or whether it was answered.

    Attributes:
        column: The number of the feature.
        own: True if it is about answers of their own, such as "prefer not to say", beside a number or several choices.
        scale: The possible answers.
        reading: What people reported.
        base: What they reported about whether they answered; None if everybody did.
    """

    column: int
    own: bool
    scale: Scale
    reading: Reading
    base: Reading | None


def reported_features(
    study: Study, users: NDArray[np.int64], reports: Any, mechanism: Mechanism
) -> Iterator[FeatureReading]:
    """Yield what reports say about each feature.

    Args:
        study: The round.
        users: The ids of those who reported, ascending.
        reports: Their reports.
        mechanism: The mechanism: one for numbers reads categories as their codes, and tells two of them apart.
    """
    domains, columns = study.declared.features, mechanism.estimate(reports).shape[1]
    as_numbers = columns == len(domains)
    widths = tuple(1 if as_numbers or isinstance(each, Interval) else each.count for each in domains)
    if not as_numbers:
        widths = tuple(width + each.extras for width, each in zip(widths, domains, strict=True))
    for column, reading in enumerate(read_answers(users, reports, mechanism, widths)):
        domain = domains[column]
        if as_numbers and isinstance(domain, Categories) and domain.count == 2:
            yield FeatureReading(column, False, _scale(domain), _as_pair(reading), None)
        elif as_numbers and isinstance(domain, Categories):
            names = _names(domain)
            ordered = Scale(high=domain.count - 1.0, ends=(names[0], names[-1]))
            yield FeatureReading(column, False, ordered, reading, None)
        else:
            yield from _with_own(column, domain, reading)


def shown_features(study: Study, users: NDArray[np.int64], features: NDArray[np.float64]) -> Iterator[FeatureReading]:
    """Yield what people showed of each feature as it is."""
    for column, domain in enumerate(study.declared.features):
        values = features[:, column]
        hot = np.eye(domain.count)[values.astype(np.int64)] if isinstance(domain, Categories) else values[:, None]
        yield FeatureReading(column, False, _scale(domain), read_open(users, hot), None)


def _with_own(column: int, domain: Feature, reading: Reading) -> Iterator[FeatureReading]:
    """Yield a feature whose answers of their own are told apart from the others."""
    if isinstance(domain, Categories) or not domain.extras:
        yield FeatureReading(column, False, _scale(domain), reading, None)
        return
    estimates = reading.estimates
    own = estimates[:, -domain.extras :]
    answered = 1 - own.sum(axis=1, keepdims=True)
    base = read_open(reading.users, answered)
    rest = read_open(reading.users, estimates[:, : -domain.extras])
    yield FeatureReading(column, False, _scale(domain), rest, base)
    names = Scale((ANSWERED, *_own_names(domain)), shares=True)
    yield FeatureReading(column, True, names, read_open(reading.users, np.hstack([answered, own])), None)


def _scale(domain: Feature) -> Scale:
    if isinstance(domain, Interval):
        return Scale(low=domain.low, high=domain.high)
    if isinstance(domain, Categories):
        return Scale((*_names(domain), *_own_names(domain)), shares=True)
    return Scale(_names(domain))  # of several choices each is a share by itself


def _names(domain: Any) -> tuple[str, ...]:
    return domain.names or tuple(map(str, range(domain.count)))


def _own_names(domain: Feature) -> tuple[str, ...]:
    return (SKIPPED,) * domain.skip + (NOT_ASKED,) * (domain.needs is not None)


def _as_pair(reading: Reading) -> Reading:
    """Return the shares of two categories, of which a mechanism for numbers tells the second one."""
    return Reading(
        reading.users,
        np.repeat(reading.symbols, 2, axis=1),
        reading.scale[0] * np.array([-1.0, 1.0]),
        np.array([1 - reading.offset[0], reading.offset[0]]),
    )
