"""Simulated liars: who lies, what for, and by which reports; written against questions, never against a system."""

from privet.auditing.attacks.coalition import Coalition, fake_accounts, recruit
from privet.auditing.attacks.goals import GOALS, Aim, aim_at
from privet.auditing.attacks.lies import KINDS, Lies

__all__ = ["GOALS", "KINDS", "Aim", "Coalition", "Lies", "aim_at", "fake_accounts", "recruit"]
