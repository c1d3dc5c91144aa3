"""Inquiry: ask each person one good question instead of collecting noise."""

from privet.systems.local.inquiry.inquiry import Inquiry

__all__ = ["Inquiry"]
