"""Audits of systems: canaries for a central one, exact enumeration of every question for a local one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from privet.accounts.account import check_known
from privet.auditing.central.audited_claim import PAPER_RUN
from privet.auditing.central.canary import CanaryAudit, audit_process
from privet.auditing.central.one_run import OneRunAudit, audit_in_one_run
from privet.auditing.central.sequential import SequentialAudit, audit_sequentially
from privet.auditing.local.local_audit import LocalAudit, audit_local
from privet.errors import InvalidParameter
from privet.privacy.accounting.processes import Process
from privet.systems import SYSTEMS, CentralSystem, LocalSystem

__all__ = ["SystemAudit", "audit_system", "auditable_systems"]

_GAME = ("noise_multiplier", "noise", "delta", "runs", "seed")
_MANY = ("canaries", "one_run", "sequential")


@dataclass(frozen=True)
class SystemAudit:
    """The outcome of a canary game against a system.

    Attributes:
        system: The system's name.
        found: The outcome.
    """

    system: str
    found: CanaryAudit | OneRunAudit | SequentialAudit

    @property
    def broken(self) -> bool:
        """True if the claim is refuted."""
        return self.found.broken

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"system": self.system, **self.found.to_dict()}


def audit_system(
    kind: type[LocalSystem | CentralSystem], claim: str = "own", **parameters: Any
) -> SystemAudit | LocalAudit:
    """Play the canary game against a central system, or list all reports of a local one.

    Args:
        kind: The system's class; a central one's sampling process must have a canary game.
        claim: "own" (default), the only claim about a central system; others for the questions of a local system, see
            :func:`~privet.auditing.local.local_audit.audit_local`.
        **parameters: Budgets of a local system by name. For a central one those of the process (default: the paper's
            Facebook run) and of :func:`~privet.auditing.central.canary.audit_process`; with ``one_run`` of
            :func:`~privet.auditing.central.one_run.audit_in_one_run`, and with ``sequential`` of
            :func:`~privet.auditing.central.sequential.audit_sequentially`; both take ``canaries``.
    """
    if issubclass(kind, LocalSystem):
        return audit_local(kind, claim, **parameters)
    if kind.name not in auditable_systems():
        raise InvalidParameter("name", f"one of {', '.join(auditable_systems())}", kind.name)
    if claim != "own":
        expected = "own: canaries test the accountant's claim, or the paper's where 'noise' is sml"
        raise InvalidParameter("claim", expected, claim)
    if parameters.get("one_run") and parameters.get("sequential"):
        raise InvalidParameter("'one_run' and 'sequential' are two different audits; choose one of them.")
    own = [field.name for field in fields(kind.process_kind)]
    check_known(kind.name, parameters, [*_GAME, *_MANY, *own])
    process = _process(kind, {name: value for name, value in parameters.items() if name in own})
    game = {name: value for name, value in parameters.items() if name in _GAME}
    many = {name: value for name, value in parameters.items() if name == "canaries"}
    if parameters.get("sequential"):
        return SystemAudit(kind.name, audit_sequentially(process, **game, **many))
    if parameters.get("one_run"):
        return SystemAudit(kind.name, audit_in_one_run(process, **game, **many))
    if many:
        raise InvalidParameter("canaries", "given with 'one_run' or 'sequential' only", many["canaries"])
    return SystemAudit(kind.name, audit_process(process, **game))


def auditable_systems() -> list[str]:
    """Return the names of the central systems whose sampling process has a canary game."""
    return [
        name
        for name, kind in SYSTEMS.items()
        if issubclass(kind, CentralSystem) and _process(kind, {}).canary_multiplier is not None
    ]


def _process(kind: type[CentralSystem], own: Mapping[str, Any]) -> Process:
    shared = {name: getattr(PAPER_RUN, name) for name in ("rate", "steps", "num_nodes")}
    return kind.process_kind(**{**shared, **own})
