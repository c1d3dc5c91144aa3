"""Accounts of systems: the joint budget of a local one, or the release of a central one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from privet.accounts.account import CentralAccount, LocalAccount, check_known
from privet.data import Schema
from privet.data.population import Population
from privet.errors import InvalidParameter, MissingParameter, PrivetError
from privet.estimation.averages import AverageError, average_error
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.privacy.delta import Delta, chosen_delta
from privet.release import LocalRelease
from privet.release.asks.features import Features
from privet.release.central import CentralRelease
from privet.systems import CentralSystem, LocalSystem

__all__ = ["account_central", "account_local", "account_system", "local_release"]

_PUBLIC: dict[str, Any] = {"dimension": 2, "low": 0.0, "high": 1.0, "classes": 4, "num_nodes": 100}


def account_system(kind: type[LocalSystem | CentralSystem], parameters: Mapping[str, Any]) -> LocalAccount:
    """Return the account of a system of either model."""
    if issubclass(kind, CentralSystem):
        return account_central(kind, **parameters)
    return account_local(kind, parameters)


def account_central(
    kind: type[CentralSystem],
    *,
    noise_multiplier: float | None = None,
    target_epsilon: float | None = None,
    delta: Delta | None = None,
    **parameters: Any,
) -> CentralAccount:
    """Return the account of a central system's training.

    Args:
        kind: The system's class.
        noise_multiplier: The noise's standard deviation over the clipping norm; this or ``target_epsilon``.
        target_epsilon: The epsilon that Gaussian noise is calibrated for.
        delta: The probability that the bound may fail with (default 1 / (10 N); "paper" is N^-1.1).
        **parameters: ``noise`` (default "gaussian") and the parameters of the system's sampling process, by name:
            ``rate``, ``steps``, ``num_nodes`` and its own.
    """
    own = {field.name for field in fields(kind.process_kind)}
    check_known(kind.name, parameters, ["noise_multiplier", "target_epsilon", "delta", "noise", *sorted(own)])
    for name in ("rate", "steps", "num_nodes"):
        if name not in parameters:
            raise MissingParameter(name, kind.name)
    if (noise_multiplier is None) == (target_epsilon is None):
        count = "one of" if target_epsilon is None else "only one of"
        raise InvalidParameter(f"{kind.name} needs {count} 'noise_multiplier' and 'target_epsilon'.")
    process = kind.process_kind(**{name: value for name, value in parameters.items() if name != "noise"})
    noise = parameters.get("noise", "gaussian")
    if target_epsilon is not None:
        if noise != "gaussian":
            raise InvalidParameter("noise", "gaussian, the only noise that is calibrated", noise)
        release = CentralRelease.calibrated(process, target_epsilon, delta)
    else:
        chosen = chosen_delta(delta, process.num_nodes)
        release = CentralRelease(process=process, noise_multiplier=noise_multiplier or 0.0, delta=chosen, noise=noise)
    guarantee = release.guarantee()
    if guarantee is None:
        raise InvalidParameter("noise_multiplier", "above 0: without noise nothing is promised", 0)
    return CentralAccount(
        kind.name,
        guarantee,
        (),
        release,
        process.comparisons(release.noise_multiplier, release.delta, noise),
        process.published_epsilon(release.noise_multiplier, release.delta),
        process.claim,
    )


def account_local(kind: type[LocalSystem], parameters: Mapping[str, Any]) -> LocalAccount:
    """Return the account of a local system over features of a declared range, or else of two categories each.

    Args:
        kind: The system's class.
        parameters: Its fields by name, and the population's ``dimension``, ``low``, ``high``, ``classes`` and
            ``num_nodes``, and ``degree``: the neighbours over whom features are averaged.
    """
    public = {key: value for key, value in parameters.items() if key in _PUBLIC}
    budgets = {key: value for key, value in parameters.items() if key not in (*_PUBLIC, "degree")}
    check_known(kind.name, budgets, [*(field.name for field in fields(kind)), *_PUBLIC, "degree"])
    system = kind(**budgets)
    release = local_release(system, **public)
    average = _average(release, kind.name, parameters["degree"]) if "degree" in parameters else None
    return LocalAccount(kind.name, release.guarantee(), release.lines(), average=average)


def _average(release: LocalRelease, name: str, degree: float) -> AverageError:
    """Return the error of the features' average over so many neighbours."""
    mechanism = release.question(Features.name).mechanism if release.asks(Features.name) else None
    if not isinstance(mechanism, CoordinateMechanism):
        raise InvalidParameter(f"{name} does not average noisy numbers over neighbours. Leave 'degree' out.")
    return average_error(mechanism, degree)


def local_release(system: LocalSystem, **public: Any) -> LocalRelease:
    """Return what a local system asks a population for, whose features have a range, or else two categories each.

    Args:
        **public: The population's ``dimension``, ``low``, ``high``, ``classes`` and ``num_nodes``; each has a default.
    """
    known = {**_PUBLIC, **public}
    numeric = Schema.numeric(known["dimension"], known["low"], known["high"], classes=known["classes"])
    try:
        return system.release(Population(numeric, known["num_nodes"]))
    except PrivetError:
        categorical = Schema.categorical([2] * known["dimension"], classes=known["classes"])
        return system.release(Population(categorical, known["num_nodes"]))
