"""Attempts to break a guarantee: exact where the domain allows."""

from privet.auditing.local.enumeration import Enumeration, audit

__all__ = ["Enumeration", "audit"]
