"""Inquiry, privet's own system."""

from privet.reproduction.papers.inquiry.tables import TABLES

__all__ = ["TABLES"]
